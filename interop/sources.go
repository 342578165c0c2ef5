// Package interop contains the conformance graph in the languages of other servers, as sources that a builder can deploy.
// The scripts in this folder serve the same files. Start reading with [Sources]; reference/graphs/CONTRACT.md specifies
// the graph.
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

// ConfigPath is the path of the graph configuration file in each source. AlternativeConfigPath is the path of a second one,
// whose graph answers with another prefix.
const (
	ConfigPath            = "langgraph.json"
	AlternativeConfigPath = "alternative.json"
)

//go:embed python/graph.py python/auth.py python/langgraph.json
//go:embed javascript/graph.mjs javascript/auth.mjs javascript/langgraph.json javascript/package.json
var files embed.FS

// kit has what a server needs in addition, and a configuration for it.
//
//go:embed python/requirements.txt javascript/server.mjs agentconform.yaml
var kit embed.FS

// The parts of the files that variants of a source replace. Each occurs once in its file.
const (
	prefix      = `"You said: "`
	nextPrefix  = `"Next: you said: "`
	otherPrefix = `"Alternative: you said: "`
	missingFile = "./missing"

	alternativePrefix = "alternative_" // of the name of the graph file that AlternativeConfigPath names
)

// graphFiles contains the names of the graph files by language.
var graphFiles = map[string]string{Python: "graph.py", JavaScript: "graph.mjs"}

// Kit returns the files of a language for a folder from which an agent server is started, by name: the graph, its
// authentication handler, the lists of packages, and a configuration of agentconform.
func Kit(language string) (map[string][]byte, error) {
	if graphFiles[language] == "" {
		return nil, fmt.Errorf("unknown language %q: use %s or %s", language, Python, JavaScript)
	}
	all := map[string][]byte{}
	for _, fsys := range []embed.FS{files, kit} {
		entries, err := fsys.ReadDir(language)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			all[e.Name()], err = fsys.ReadFile(path.Join(language, e.Name()))
			if err != nil {
				return nil, err
			}
		}
	}
	configuration, err := kit.ReadFile("agentconform.yaml")
	if err != nil {
		return nil, err
	}
	all["agentconform.yaml"] = configuration
	return all, nil
}

// Sources returns the sources in a language, in the same folders as reference/graphs: conformance is complete, and
// conformance_next and broken contain only the files that differ. The next revision answers with another prefix. The broken
// graph has a syntax error, and its configuration names a missing file for builders that do not load the graph.
func Sources(language string) (fs.FS, error) {
	graphFile := graphFiles[language]
	if graphFile == "" {
		return nil, fmt.Errorf("unknown language %q: use %s or %s", language, Python, JavaScript)
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
			add("conformance", AlternativeConfigPath, strings.Replace(text, graphFile, alternativePrefix+graphFile, 1))
			broken := strings.Replace(text, "./"+graphFile, missingFile+path.Ext(graphFile), 1)
			add("broken", ConfigPath, broken)
			add("broken", AlternativeConfigPath, broken)
		case graphFile:
			add("conformance", alternativePrefix+graphFile, strings.Replace(text, prefix, otherPrefix, 1))
			add("conformance_next", graphFile, strings.Replace(text, prefix, nextPrefix, 1))
			add("broken", graphFile, "def (\n"+text)
			add("broken", alternativePrefix+graphFile, "def (\n"+text)
		}
	}
	return all, nil
}
