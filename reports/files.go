package reports

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// face is one file that shows a result.
type face struct {
	name  string
	write func(io.Writer, *Result) error
}

// faces lists the files in the order in which they are written: the result itself comes first, so that it is there
// even if the disk is full after it.
func faces() []face {
	return []face{
		{"result.json", func(w io.Writer, r *Result) error { return r.WriteJSON(w) }},
		{"junit.xml", JUnit},
		{"summary.md", Markdown},
		{"badge.svg", Badge},
		{"cucumber.json", Cucumber},
		{"index.html", HTML},
		{"result.har", HAR},
	}
}

// Faces returns the names of the files that [Write] can write.
func Faces() []string {
	var all []string
	for _, f := range faces() {
		all = append(all, f.name)
	}
	return all
}

// Write writes the named faces of r into the folder dir, all of them if none is named. Each file appears whole or
// not at all: a reader never sees half a report. The folder is made if it is not there.
func Write(dir string, r *Result, names ...string) error {
	for _, name := range names {
		if !slices.Contains(Faces(), name) {
			return fmt.Errorf("there is no report %q; the reports are %s", name, strings.Join(Faces(), ", "))
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder for the reports: %w", err)
	}
	for _, f := range faces() {
		if len(names) > 0 && !slices.Contains(names, f.name) {
			continue
		}
		if err := writeFile(filepath.Join(dir, f.name), r, f.write); err != nil {
			return fmt.Errorf("writing the report %s: %w", filepath.Join(dir, f.name), err)
		}
	}
	return nil
}

// writeFile writes beside the file and moves it into place.
func writeFile(path string, r *Result, write func(io.Writer, *Result) error) (err error) {
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
	if err := write(buffered, r); err != nil {
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
