// Package graphs holds the sources that the reference deploys: the conformance graph with its authentication
// handler, the next revision of it, and a broken one.
//
// What the conformance graph must do on any server is in CONTRACT.md in this folder.
package graphs

import (
	"embed"
	"io/fs"
	"testing/fstest"
)

// FS holds the sources, one a folder: conformance; conformance_next, what differs from it in the next revision, which answers
// with another prefix; broken, with a syntax error in its graph.
//
//go:embed conformance conformance_next broken
var FS embed.FS

// graphFile is the file of a source that has its graph.
const graphFile = "graph.star"

// Conformance returns the source of the conformance graph, with changes of that.
func Conformance(changes ...func(graph string) string) (fs.FS, error) {
	source, err := fs.Sub(FS, "conformance")
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(source, graphFile)
	graph := string(text)
	for _, change := range changes {
		graph = change(graph)
	}
	return changed{source, fstest.MapFS{graphFile: {Data: []byte(graph)}}}, err
}

// changed is a source with another graph.
type changed struct {
	fs.FS
	graph fs.FS
}

// Open opens a file.
func (c changed) Open(name string) (fs.File, error) {
	if name == graphFile {
		return c.graph.Open(name)
	}
	return c.FS.Open(name)
}
