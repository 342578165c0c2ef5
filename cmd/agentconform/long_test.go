package main

import (
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWhatTheRaceDetectorLeavesOutRunsWithoutIt: make unit runs all tests with -race and -short, and those whose names end in
// _Long again with neither. A test that leaves something out in short mode, or is not built with -race, must be one of them.
func TestWhatTheRaceDetectorLeavesOutRunsWithoutIt(t *testing.T) {
	checked := 0
	require.NoError(t, filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == "TestMain" || f.Recv != nil {
				continue
			}
			if strings.HasSuffix(f.Name.Name, "_Long") {
				checked++
				continue
			}
			assert.False(t, notWithRace(file), "%s: %s is not built with -race: its name must end in _Long", path, f.Name.Name)
			assert.False(t, asksForShort(f), "%s: %s leaves something out in short mode: its name must end in _Long", path, f.Name.Name)
		}
		return nil
	}))
	assert.Greater(t, checked, 20)
}

func notWithRace(file *ast.File) bool {
	for _, group := range file.Comments {
		for _, c := range group.List {
			if expression, err := constraint.Parse(c.Text); err == nil && c.Pos() < file.Package {
				return !expression.Eval(func(string) bool { return true })
			}
		}
	}
	return false
}

func asksForShort(f *ast.FuncDecl) (asks bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Short" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "testing" {
				asks = true
			}
		}
		return true
	})
	return asks
}
