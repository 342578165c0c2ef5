// Package outfile writes the files of this program, and reads those that a user names. A file appears whole or not at
// all, never through a link at its last component, and in place of nothing but a regular file: the folder of the reports
// may come from a checkout that nobody has read.
package outfile

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Modes of files: reports may be read by others, what holds credentials only by its owner.
const (
	Public  os.FileMode = 0o644
	Private os.FileMode = 0o600
)

// Refused is the error of a file that is there and must not be replaced.
type Refused struct {
	Path    string
	Problem string // what the file is
}

func (r *Refused) Error() string {
	return fmt.Sprintf("%s %s, and is not replaced; move it, or name another place", r.Path, r.Problem)
}

// Write writes the file through write: into a temporary file in the same folder, which is made if it does not exist,
// and renames it. Where write or the disk fails, the old file stays as it was and the temporary one is removed.
func Write(path string, mode os.FileMode, write func(io.Writer) error) error {
	if err := Check(path); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := temporary(path)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 64<<10)
	// The first error tells. A temporary file is private until its mode is set.
	err = cmp.Or(write(buffered), buffered.Flush(), file.Chmod(mode), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // of no use any more
	}
	return err
}

func temporary(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
}

// Text is Write for what is in memory.
func Text(path string, mode os.FileMode, text []byte) error {
	return Write(path, mode, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// Create writes a file that must not be there. The error of one that is there is fs.ErrExist.
func Create(path string, mode os.FileMode, text []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// Check refuses a file that [Write] and [Append] would refuse.
func Check(path string) error { _, err := replaceable(path); return err }

// Ready finds out, before anything else is done, whether [Write] can write the file: its folder is there and takes new
// files.
func Ready(path string) error {
	if err := Check(path); err != nil {
		return err
	}
	file, err := temporary(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// Read returns what is in a file of at most so many bytes: one that a user names may be any. The error is an
// *fs.PathError.
func Read(path string, most int) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	content, err := io.ReadAll(io.LimitReader(file, int64(most)+1))
	if err == nil && len(content) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d bytes", most)}
	}
	return content, err
}

// Append opens a regular file to add to it, and makes it if it does not exist.
func Append(path string) (*os.File, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	// What was put in its place since is a link, which is not followed, or no regular file, which must not be waited
	// for.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY|careful, Public)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(&Refused{path, "was replaced while it was opened"}, file.Close())
	}
	return file, nil
}

// Mark recognises a file of ours: one that has this text in its first kilobyte.
type Mark string

// Of tells whether a file has the mark. One that is empty has nothing to lose.
func (m Mark) Of(path string) error {
	info, err := replaceable(path)
	if err != nil || info == nil || info.Size() == 0 {
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

// Folder checks that the named files of a folder may be written. The first of them tells by its mark whose the folder
// is: without it, none of the others may be there.
func Folder(dir string, mark Mark, first string, others ...string) error {
	if err := mark.Of(filepath.Join(dir, first)); err != nil {
		return err
	}
	index, err := os.Lstat(filepath.Join(dir, first))
	ours := err == nil && index.Size() > 0
	for _, name := range others {
		info, err := replaceable(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		if info != nil && info.Size() > 0 && !ours {
			return &Refused{filepath.Join(dir, name), "is not known to be written by agentconform (" + first + " is not there)"}
		}
	}
	return nil
}

// replaceable refuses what is there and is no regular file. info is nil where nothing is there.
func replaceable(path string) (info fs.FileInfo, err error) {
	info, err = os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // creating its folder tells of the latter
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &Refused{path, "is not a regular file"}
	}
	return info, nil
}
