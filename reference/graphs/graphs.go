package graphs

import (
	"embed"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// The folders of FS, each of them a source.
const (
	Conformance     = "conformance"      // agent.json, and alternative.json with the same graphs
	ConformanceNext = "conformance_next" // the same, but it answers with another prefix
	Broken          = "broken"           // a syntax error in its graph
)

// Graph is the name of the conformance graph in the configuration files.
const Graph = "conformance"

// Contract is the contract of the conformance graph, in Markdown.
//
//go:embed CONTRACT.md
var Contract string

//go:embed conformance conformance_next broken
var files embed.FS

// FS holds the sources. The next revision differs from the first in its settings only, so what it does not have itself is
// that of the first.
var FS fs.FS = overlay{files}

type overlay struct{ files embed.FS }

// behind is the path in the first revision of a path in the next one.
func behind(name string) (string, bool) {
	rest, ok := strings.CutPrefix(name, ConformanceNext+"/")
	return Conformance + "/" + rest, ok
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) {
	f, err := o.files.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		if other, ok := behind(name); ok {
			return o.files.Open(other)
		}
	}
	if err != nil || name != ConformanceNext {
		return f, err
	}
	entries, err := o.ReadDir(name)
	return &folder{File: f, entries: entries}, err
}

// ReadDir implements fs.ReadDirFS.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := o.files.ReadDir(name)
	if err != nil || name != ConformanceNext {
		return entries, err
	}
	first, err := o.files.ReadDir(Conformance)
	for _, e := range first {
		if !slices.ContainsFunc(entries, func(own fs.DirEntry) bool { return own.Name() == e.Name() }) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// folder is the open folder of the next revision.
type folder struct {
	fs.File
	entries []fs.DirEntry
}

// ReadDir implements fs.ReadDirFile.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(f.entries)
	} else if len(f.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.entries))
	out := f.entries[:n]
	f.entries = f.entries[n:]
	return out, nil
}
