package source

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"io/fs"
)

// Archive is a tree of files as one value that can be stored, and opened again as a file system (a zip file).
type Archive []byte

// Bounds of what is built: a graph's files are small, and a stranger's repository must not fill the memory.
const (
	largestFile = 8 << 20
	largestTree = 32 << 20
	mostFiles   = 5000
)

// Open returns the files.
func (a Archive) Open() (fs.FS, error) {
	tree, err := zip.NewReader(bytes.NewReader(a), int64(len(a)))
	if err != nil {
		return nil, fmt.Errorf("open the snapshot of the source: %w", err)
	}
	return tree, nil
}

// archiver makes an archive.
type archiver struct {
	buffer bytes.Buffer
	zip    *zip.Writer
	files  int
	size   int64
}

func newArchiver() *archiver {
	a := &archiver{}
	a.zip = zip.NewWriter(&a.buffer)
	return a
}

// add adds a file. Names that lead out of the tree are refused, as are trees beyond the bounds.
func (a *archiver) add(name string, content io.Reader) error {
	if !fs.ValidPath(name) {
		return fmt.Errorf("the source holds a file with the name %q, which leads out of the tree", name)
	}
	if a.files++; a.files > mostFiles {
		return fmt.Errorf("the source holds more than %d files; build from a smaller one", mostFiles)
	}
	w, err := a.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
	if err != nil {
		return fmt.Errorf("snapshot the file %s: %w", name, err)
	}
	n, err := io.Copy(w, io.LimitReader(content, largestFile+1))
	if err != nil {
		return fmt.Errorf("snapshot the file %s: %w", name, err)
	}
	if a.size += n; n > largestFile || a.size > largestTree {
		return fmt.Errorf("the source is too large at the file %s; the bounds are %d MiB a file and %d MiB in all",
			name, largestFile>>20, largestTree>>20)
	}
	return nil
}

func (a *archiver) finish() (Archive, error) {
	if err := a.zip.Close(); err != nil {
		return nil, fmt.Errorf("snapshot the source: %w", err)
	}
	return a.buffer.Bytes(), nil
}
