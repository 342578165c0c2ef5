package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a reader is asked to take in at once, in steps/ and reports/, without tests.
const (
	mostLines   = 2500 // of a package
	mostFiles   = 25   // of a folder
	mostFields  = 15   // of a type that holds state
	mostMethods = 40
)

// structure is a struct type with what is declared of it. Types are named "steps/target.Target", those of other modules "sync.Mutex".
type structure struct {
	fields  int // an embedded type is one
	methods int
	holds   []string // types of its fields, behind their pointers; "chan" for channels
}

// sizes are the sizes of the packages below some folders.
type sizes struct {
	lines, files map[string]int // by folder
	types        map[string]*structure
}

// measure reads the Go files below the folders, without tests.
func measure(tree fs.FS, folders ...string) (*sizes, error) {
	s := &sizes{map[string]int{}, map[string]int{}, map[string]*structure{}}
	for _, folder := range folders {
		err := fs.WalkDir(tree, folder, func(name string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
				return err
			}
			text, err := fs.ReadFile(tree, name)
			if err != nil {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			at := path.Dir(name)
			s.lines[at] += strings.Count(string(text), "\n")
			s.files[at]++
			s.add(at, file)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// of is the structure with the name, new where nothing was read of it.
func (s *sizes) of(name string) *structure {
	if s.types[name] == nil {
		s.types[name] = &structure{}
	}
	return s.types[name]
}

func (s *sizes) add(folder string, file *ast.File) {
	imports := map[string]string{} // full names, by the name in the file
	for _, spec := range file.Imports {
		full, _ := strconv.Unquote(spec.Path.Value)
		full = strings.TrimPrefix(full, module)
		name := path.Base(full)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = full
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				s.of(typeName(folder, nil, n.Recv.List[0].Type)).methods++
			}
		case *ast.TypeSpec:
			if of, is := n.Type.(*ast.StructType); is {
				t := s.of(folder + "." + n.Name.Name)
				for _, field := range of.Fields.List {
					t.fields += max(len(field.Names), 1)
					t.holds = append(t.holds, typeName(folder, imports, field.Type))
				}
			}
		}
		return true
	})
}

// typeName is the name of a type, or of the one that it points to; "" where it has none.
func typeName(folder string, imports map[string]string, of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return typeName(folder, imports, of.X)
	case *ast.IndexExpr: // a generic type
		return typeName(folder, imports, of.X)
	case *ast.IndexListExpr:
		return typeName(folder, imports, of.X)
	case *ast.ChanType:
		return "chan"
	case *ast.Ident:
		return folder + "." + of.Name
	case *ast.SelectorExpr:
		return imports[fmt.Sprint(of.X)] + "." + of.Sel.Name
	}
	return ""
}

// holdsState tells whether a type holds a lock, an atomic value or a channel, itself or in what its fields are or point to.
func (s *sizes) holdsState(name string, seen map[string]bool) bool {
	if name == "chan" || strings.HasPrefix(name, "sync.") || strings.HasPrefix(name, "sync/atomic.") {
		return true
	}
	t := s.types[name]
	if t == nil || seen[name] {
		return false
	}
	seen[name] = true
	return slices.ContainsFunc(t.holds, func(held string) bool { return s.holdsState(held, seen) })
}

// tooLarge names what is larger than it may be.
func (s *sizes) tooLarge() (all []string) {
	for _, folder := range slices.Sorted(maps.Keys(s.lines)) {
		if n := s.lines[folder]; n > mostLines {
			all = append(all, fmt.Sprintf("%s has %d lines without tests, more than %d: move a part that has a purpose of its own to another package", folder, n, mostLines))
		}
		if n := s.files[folder]; n > mostFiles {
			all = append(all, fmt.Sprintf("%s has %d files without tests, more than %d: move a part that has a purpose of its own to another package", folder, n, mostFiles))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.types)) {
		t := s.types[name]
		if t.methods == 0 || !s.holdsState(name, map[string]bool{}) {
			continue // without methods it is data, such as the options of a function
		}
		if t.fields > mostFields {
			all = append(all, fmt.Sprintf("%s holds state and has %d fields, more than %d: group those that belong together", name, t.fields, mostFields))
		}
		if t.methods > mostMethods {
			all = append(all, fmt.Sprintf("%s holds state and has %d methods, more than %d: move those that belong together to a type of their own", name, t.methods, mostMethods))
		}
	}
	return all
}

// TestSizesOfPackagesAndTypes holds steps/ and reports/ to the sizes.
func TestSizesOfPackagesAndTypes(t *testing.T) {
	s, err := measure(os.DirFS("../.."), "steps", "reports")
	require.NoError(t, err)
	assert.Greater(t, len(s.lines), 40)
	assert.Empty(t, s.tooLarge())
}

// TestWhatIsTooLargeIsNamed measures a tree in which each size is exceeded once, and once only where it does not count.
func TestWhatIsTooLargeIsNamed(t *testing.T) {
	tree := fstest.MapFS{
		"a/long.go":      {Data: []byte("package a\n" + strings.Repeat("\n", mostLines))},
		"a/long_test.go": {Data: []byte("package a\n" + strings.Repeat("\n", mostLines))},
	}
	for i := range mostFiles + 1 {
		tree[fmt.Sprintf("a/many/%d.go", i)] = &fstest.MapFile{Data: []byte("package many\n")}
	}
	fields := func(n int) string { return strings.Repeat("_ int\n", n) }
	tree["b/b.go"] = &fstest.MapFile{Data: []byte(`package b
import ("sync"; run "` + module + `a/many")
type (
	Data struct {` + fields(20) + `}
	Options struct { run *run.State;` + fields(20) + `}
	Locked struct { mu sync.Mutex;` + fields(mostFields) + `}
	Inside struct { *inner;` + fields(mostFields) + `}
	inner struct { made many[int] }
	many[T any] struct { done chan T }
	Elsewhere struct { run *run.State; again *Elsewhere;` + fields(mostFields-1) + `}
	Enough struct { mu sync.Mutex;` + fields(mostFields-1) + `}
)
func (d Data) M() {}
func (l Locked) M() {}
func (i Inside) M() {}
func (e Elsewhere) M() {}
` + strings.Repeat("func (e *Enough) M() {}\n", mostMethods) + strings.Repeat("func (m many[T]) M() {}\n", mostMethods+1))}
	tree["a/many/0.go"] = &fstest.MapFile{Data: []byte("package many\nimport \"sync/atomic\"\ntype State struct { n atomic.Bool }\n")}
	s, err := measure(tree, "a", "b")
	require.NoError(t, err)
	var about []string
	for _, said := range s.tooLarge() {
		about = append(about, strings.Join(strings.Fields(said)[:1], " ")+" "+said[strings.LastIndex(said, "more than"):strings.LastIndex(said, ":")])
	}
	assert.Equal(t, []string{"a more than 2500", "a/many more than 25", "b.Elsewhere more than 15", "b.Inside more than 15", "b.Locked more than 15", "b.many more than 40"}, about)
}
