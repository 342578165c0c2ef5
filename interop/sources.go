// Package interop holds the conformance graph in the languages of servers that others wrote, as sources that a builder can deploy.
// The files are those that this folder's scripts serve.
package interop

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing/fstest"
)

// The languages.
const (
	Python     = "python"
	JavaScript = "javascript"
)

// ConfigPath is the graph configuration file of each source, and AlternativeConfigPath a second one with the same graph.
const (
	ConfigPath            = "langgraph.json"
	AlternativeConfigPath = "alternative.json"
)

//go:embed python/graph.py python/auth.py python/langgraph.json
//go:embed javascript/graph.mjs javascript/auth.mjs javascript/langgraph.json javascript/package.json
var files embed.FS

// The parts of the files that variants of a source change. Each is once in its file.
const (
	prefix      = `"You said: "`
	nextPrefix  = `"Next: you said: "`
	missingFile = "./missing"
)

var graphFiles = map[string]string{Python: "graph.py", JavaScript: "graph.mjs"}

// Sources returns the source in the language, in folders as reference/graphs has them: conformance, and the files of
// conformance_next and broken that differ from it. The next one answers with another prefix. The broken one has a syntax error,
// and its configuration names a file that does not exist: builders that do not load the graph notice that.
func Sources(language string) (fs.FS, error) {
	graphFile := graphFiles[language]
	if graphFile == "" {
		return nil, fmt.Errorf("no conformance graph in the language %q", language)
	}
	all := fstest.MapFS{}
	add := func(folder, name string, content string) {
		all[folder+"/"+name] = &fstest.MapFile{Data: []byte(content)}
	}
	entries, err := files.ReadDir(language)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		content, err := files.ReadFile(path.Join(language, e.Name()))
		if err != nil {
			return nil, err
		}
		text := string(content)
		add("conformance", e.Name(), text)
		switch e.Name() {
		case ConfigPath:
			add("conformance", AlternativeConfigPath, text)
			broken := strings.Replace(text, "./"+graphFile, missingFile+path.Ext(graphFile), 1)
			add("broken", ConfigPath, broken)
			add("broken", AlternativeConfigPath, broken)
		case graphFile:
			add("conformance_next", graphFile, strings.Replace(text, prefix, nextPrefix, 1))
			add("broken", graphFile, "def (\n"+text)
		}
	}
	return all, nil
}
