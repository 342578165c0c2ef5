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

// The folders of FS, each of them a source.
const (
	Conformance     = "conformance"      // agent.json, and alternative.json with the same graphs
	ConformanceNext = "conformance_next" // what differs from it in the next revision: it answers with another prefix
	Broken          = "broken"           // a syntax error in its graph
)

// FS holds the sources.
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
	files := fstest.MapFS{}
	err = fs.WalkDir(source, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(source, name)
		if name == GraphFile {
			content = []byte(change(string(content)))
		}
		files[name] = &fstest.MapFile{Data: content}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the folder %s of the graphs: %w", folder, err)
	}
	return files, nil
}
