// Package outfile writes the files of this program and reads files that a user names. It writes a file completely or not
// at all, never writes through a link as the last path component, and replaces only regular files. The reason is that the
// folder of the reports may come from a checkout that nobody has reviewed. Start with [Write].
package outfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// Modes of files: everybody may read reports, only the owner may read credentials.
const (
	Public  os.FileMode = 0o644
	Private os.FileMode = 0o600
)

// Refused is the error for an existing file that must not be replaced.
type Refused struct {
	Path    string
	Problem string // "is not a regular file"
}

func (r *Refused) Error() string {
	return fmt.Sprintf("%s %s, and is not replaced; move it, or name another place", r.Path, r.Problem)
}

// Write creates the folder of the file if necessary, writes a temporary file in it, and renames that. If write or the
// disk fails, the old file is unchanged.
func Write(path string, mode os.FileMode, write func(io.Writer) error) error {
	if err := Check(path); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := createTemp(path)
	if err != nil {
		return err
	}
	err = fill(file, mode, write)
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

func createTemp(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
}

// fill writes a private temporary file, sets its mode and closes it.
func fill(file *os.File, mode os.FileMode, write func(io.Writer) error) error {
	buffered := bufio.NewWriterSize(file, 64<<10)
	err := write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = file.Chmod(mode)
	}
	closeErr := file.Close()
	if err == nil {
		err = closeErr
	}
	return err
}

// Text writes a file like [Write].
func Text(path string, mode os.FileMode, text []byte) error {
	return Write(path, mode, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Create writes a new file. The error for an existing file is fs.ErrExist.
func Create(path string, mode os.FileMode, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// Check returns an error if [Write] and [Append] would refuse to replace the file.
func Check(path string) error {
	_, err := existing(path)
	return err
}

// Ready returns an error if [Write] could not write the file: it must not be replaced, or its folder does not exist or
// does not accept new files.
func Ready(path string) error {
	if err := Check(path); err != nil {
		return err
	}
	file, err := createTemp(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// Read returns the content of a file of at most limit bytes. Its errors are of the type *fs.PathError.
func Read(path string, limit int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	content, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err == nil && len(content) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d bytes", limit)}
	}
	return content, err
}

// Append opens a regular file for appending. It creates the file if it does not exist.
func Append(path string) (*os.File, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	// The file may have been replaced since the check: openFlags keep the program from following a link, and from waiting
	// for the reader of a FIFO.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|openFlags, Public)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(&Refused{path, "was replaced while it was opened"}, file.Close())
	}
	return file, nil
}

// Mark is a text in the first kilobyte of each file of a kind that this program writes.
type Mark string

// Of returns an error if the file exists, is not empty and does not have the mark.
func (m Mark) Of(path string) error {
	info, err := existing(path)
	if err != nil || isEmpty(info) {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	head, err := io.ReadAll(io.LimitReader(file, 1<<10))
	if err == nil && !strings.Contains(string(head), string(m)) {
		err = &Refused{path, "was not written by agentconform"}
	}
	return err
}

// Set is the files of one folder, in the order in which they are written. The first file has the mark, which shows that
// this program wrote all of them.
type Set[T any] struct {
	Mark  Mark
	Files []File[T]
}

// File is a file of a [Set], with the function that writes a value into it.
type File[T any] struct {
	Name  string
	Write func(io.Writer, T) error
}

// Check returns an error if a file of the folder has the name of a file of the set and was written by another program.
// Empty files may always be replaced.
func (s Set[T]) Check(dir string) error {
	first := s.Files[0].Name
	if err := s.Mark.Of(filepath.Join(dir, first)); err != nil {
		return err
	}
	index, err := existing(filepath.Join(dir, first))
	if err != nil {
		return err
	}
	for _, f := range s.Files[1:] {
		info, err := existing(filepath.Join(dir, f.Name))
		if err != nil {
			return err
		}
		if isEmpty(index) && !isEmpty(info) {
			return &Refused{filepath.Join(dir, f.Name), "is not known to be written by agentconform (" + first + " does not exist)"}
		}
	}
	return nil
}

// Begin creates the folder and removes the files of an earlier run of this program. Otherwise they would look like the
// files of this run if it is killed. The first file is removed last, because its mark identifies the others.
func (s Set[T]) Begin(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, s.Files[0].Name)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, f := range slices.Backward(s.Files) {
		if err := os.Remove(filepath.Join(dir, f.Name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing an earlier report: %w", err)
		}
	}
	return nil
}

// Write creates the folder if necessary and writes all files: the first one, then the others at the same time, which must
// not change the value. Each file is written completely or not at all.
func (s Set[T]) Write(dir string, value T) error {
	if err := s.Files[0].write(dir, value); err != nil {
		return err
	}
	var others errgroup.Group
	others.SetLimit(runtime.GOMAXPROCS(0))
	for _, f := range s.Files[1:] {
		others.Go(func() error { return f.write(dir, value) })
	}
	return others.Wait()
}

func (f File[T]) write(dir string, value T) error {
	path := filepath.Join(dir, f.Name)
	if err := Write(path, Public, func(w io.Writer) error { return f.Write(w, value) }); err != nil {
		return fmt.Errorf("writing the report %s: %w", path, err)
	}
	return nil
}

// existing describes an existing regular file. It returns nil if there is no file, and an error for anything else.
func existing(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // the caller reports a missing folder
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &Refused{path, "is not a regular file"}
	}
	return info, nil
}

// isEmpty reports whether the file does not exist or has no content.
func isEmpty(info fs.FileInfo) bool { return info == nil || info.Size() == 0 }
