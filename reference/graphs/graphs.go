// Package graphs contains the sources that the reference deploys: the conformance graph with its authentication handler
// (interface, section 5), its next revision, and a broken one.
//
// Start reading with CONTRACT.md, which specifies the conformance graph for all servers, and conformance/graph.star.
package graphs

import (
	"embed"
	"io/fs"
	"testing/fstest"
)

// FS contains a folder for each source. conformance is complete. conformance_next and broken contain only the files that
// differ: the next revision answers with another prefix, and the broken graph has a syntax error. With alternative.json,
// the second graph configuration file, the graph answers with a third prefix.
//
//go:embed conformance conformance_next broken
var FS embed.FS

// graphFile is the path of the graph in a source.
const graphFile = "graph.star"

// Conformance returns the source of the conformance graph, after the changes of its text.
func Conformance(changes ...func(graph string) string) (fs.FS, error) {
	source, err := fs.Sub(FS, "conformance")
	if err != nil {
		return nil, err
	}
	text, err := fs.ReadFile(source, graphFile)
	if err != nil {
		return nil, err
	}
	graph := string(text)
	for _, change := range changes {
		graph = change(graph)
	}
	return changed{source, fstest.MapFS{graphFile: {Data: []byte(graph)}}}, nil
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
