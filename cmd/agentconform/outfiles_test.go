package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ownWriters are the places that write files without reports/outfile, each with its reason.
var ownWriters = map[string]string{
	"reports/outfile/outfile.go":                "it is what the others use",
	"reports/journal.go":                        "a new file with a random name, which is removed at once",
	"reference/fixtures/set.go":                 "in the data folder of the reference, which only its owner can read",
	"reference/fixtures/repository.go":          "in the data folder of the reference, which only its owner can read",
	"reference/server.go":                       "the temporary data folder of the reference, with a random name",
	"reference/hostile/run/judge.go":            "a tool of this repository, which writes into a folder that its caller names",
	"reference/hostile/run/measure.go":          "a tool of this repository, which writes into a folder that its caller names",
	"reference/hostile/run/report.go":           "a tool of this repository, which writes into a folder that its caller names",
	"reports/internal/reporttest/reporttest.go": "for tests only: updates golden files",
	"interop/independent/serve/main.go":         "for tests only",
}

// TestFilesAreWrittenByOneFunction lists all code that makes files with package os.
func TestFilesAreWrittenByOneFunction(t *testing.T) {
	t.Parallel()
	writers := map[string]bool{"Create": true, "WriteFile": true, "OpenFile": true, "CreateTemp": true, "MkdirTemp": true,
		"Truncate": true, "Rename": true, "Link": true, "Symlink": true, "Chmod": true, "Chown": true, "OpenRoot": true, "CopyFS": true}
	root, found := filepath.Join("..", ".."), map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, isSelector := n.(*ast.SelectorExpr)
			if !isSelector || !writers[call.Sel.Name] {
				return true
			}
			if of, isName := call.X.(*ast.Ident); isName && of.Name == "os" {
				found[filepath.ToSlash(name)] = true
				assert.NotEmpty(t, ownWriters[filepath.ToSlash(name)], "%s uses os.%s: write with reports/outfile, or give the reason here", name, call.Sel.Name)
			}
			return true
		})
		return nil
	}))
	for name := range ownWriters {
		assert.True(t, found[name], "%s writes no file: remove it from this list", name)
	}
}
