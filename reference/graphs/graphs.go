// Package graphs holds the sources that the reference deploys: the conformance graph with its authentication
// handler, the next revision of it, and a broken one.
//
// What the conformance graph must do on any server is in CONTRACT.md in this folder.
package graphs

import (
	"embed"
	"fmt"
	"io/fs"
	"testing/fstest"
)

// Conformance is the folder of the conformance graph: agent.json, and alternative.json with the same graphs.
const Conformance = "conformance"

// FS holds the sources, one a folder: conformance; conformance_next, what differs from it in the next revision, which answers
// with another prefix; broken, with a syntax error in its graph.
//
//go:embed conformance conformance_next broken
var FS embed.FS

// GraphFile is the file of a source that has its graph.
const GraphFile = "graph.star"

// Changed returns the source in the folder, with its graph changed; nil changes nothing.
func Changed(folder string, change func(graph string) string) (fs.FS, error) {
	source, err := fs.Sub(FS, folder)
	if err != nil || change == nil {
		return source, err
	}
	graph, err := fs.ReadFile(source, GraphFile)
	if err != nil {
		return nil, fmt.Errorf("read the folder %s of the graphs: %w", folder, err)
	}
	return changed{source, fstest.MapFS{GraphFile: {Data: []byte(change(string(graph)))}}}, nil
}

// changed is a source with another graph.
type changed struct {
	fs.FS
	graph fs.FS
}

// Open opens a file.
func (c changed) Open(name string) (fs.File, error) {
	if name == GraphFile {
		return c.graph.Open(name)
	}
	return c.FS.Open(name)
}
