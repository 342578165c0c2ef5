// Package atomicfile writes files that appear whole or not at all, so that a reader never sees half a report.
package atomicfile

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
)

// Write writes the file through write: into a temporary file in the same folder, which is then renamed. Where write or the
// disk fails, the old file stays as it was and the temporary one is removed.
func Write(path string, write func(io.Writer) error) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // already closed, or of no use any more
			_ = os.Remove(file.Name())
		}
	}()
	buffered := bufio.NewWriterSize(file, 64<<10)
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := file.Chmod(0o644); err != nil { // others may read a report; a temporary file is private
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
