package script

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Loader loads the files of one tree, each of them once. It is not for concurrent use; what it loads is.
type Loader struct {
	tree    fs.FS
	folders []string
	names   starlark.StringDict
	opts    Options
	modules map[string]*Module
	loading []string
}

// Module is a loaded file. It is frozen, so any number of sessions may call its functions at once.
type Module struct {
	path    string
	globals starlark.StringDict
}

// NewLoader returns a loader of the files of tree. A load("x.star", ...) is looked up in the folder of the file that contains it, then in
// the given folders. Host names are visible in every file.
func NewLoader(tree fs.FS, folders []string, host starlark.StringDict, opts Options) *Loader {
	names := starlark.StringDict{"json": starlarkjson.Module, "env": starlark.NewBuiltin("env", environment)}
	maps.Copy(names, host)
	opts.Env = nil // a loaded file serves any deployment
	return &Loader{tree: tree, folders: folders, names: names, opts: opts, modules: map[string]*Module{}}
}

// Load loads the file with the given path in the tree.
func (l *Loader) Load(ctx context.Context, file string) (*Module, error) {
	if m, ok := l.modules[file]; ok {
		return m, nil
	}
	if slices.Contains(l.loading, file) {
		return nil, &Error{File: file, Msg: "the file loads itself: " + strings.Join(append(l.loading, file), " -> ")}
	}
	l.loading = append(l.loading, file)
	defer func() { l.loading = l.loading[:len(l.loading)-1] }()
	prog, err := l.compile(file)
	if err != nil {
		return nil, located(err)
	}
	globals, err := l.run(ctx, file, prog)
	if err != nil {
		return nil, err
	}
	m := &Module{path: file, globals: globals}
	l.modules[file] = m
	return m, nil
}

func (l *Loader) compile(file string) (*starlark.Program, error) {
	src, err := readBounded(l.tree, file)
	if err != nil {
		return nil, err
	}
	options := &syntax.FileOptions{While: true, TopLevelControl: true}
	f, err := options.Parse(file, src, 0)
	if err != nil {
		return nil, err
	}
	return starlark.FileProgram(f, l.names.Has)
}

func readBounded(tree fs.FS, file string) ([]byte, error) {
	if !fs.ValidPath(file) {
		return nil, &Error{File: file, Msg: "the path leaves the tree: name a file inside of it"}
	}
	info, err := fs.Stat(tree, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{File: file, Msg: "file not found", cause: err}
	}
	if err != nil {
		return nil, &Error{File: file, Msg: "the file cannot be read", cause: err}
	}
	if info.IsDir() || info.Size() > maxSource {
		return nil, &Error{File: file, Msg: fmt.Sprintf("a script is a file of at most %d KiB", maxSource>>10)}
	}
	src, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, &Error{File: file, Msg: "the file cannot be read", cause: err}
	}
	return src, nil
}

// run executes the file and freezes what it defines.
func (l *Loader) run(ctx context.Context, file string, prog *starlark.Program) (_ starlark.StringDict, err error) {
	s := NewSession(ctx, file, l.opts)
	defer s.Close()
	defer func() {
		if p := recover(); p != nil {
			err = &Error{File: file, Msg: fmt.Sprintf("the interpreter failed: %v", p)}
		}
	}()
	s.thread.Load = func(_ *starlark.Thread, module string) (starlark.StringDict, error) {
		m, err := l.Load(s.Context(), l.find(file, module))
		if err != nil {
			return nil, err
		}
		return m.globals, nil
	}
	globals, err := prog.Init(s.thread, l.names)
	if err != nil {
		return nil, s.explain(err)
	}
	globals.Freeze()
	return globals, nil
}

// find resolves the name in a load statement.
func (l *Loader) find(from, name string) string {
	beside := path.Join(path.Dir(from), name)
	for _, candidate := range append([]string{beside}, joinAll(l.folders, name)...) {
		if _, err := fs.Stat(l.tree, candidate); err == nil {
			return candidate
		}
	}
	return beside
}

func joinAll(folders []string, name string) []string {
	out := make([]string, len(folders))
	for i, f := range folders {
		out[i] = path.Join(f, name)
	}
	return out
}

// Object returns what the file defines under the given name.
func (m *Module) Object(name string) (starlark.Value, error) {
	if v, ok := m.globals[name]; ok {
		return v, nil
	}
	return nil, &Error{File: m.path, Msg: fmt.Sprintf("no object %q in the file; it defines %s", name, defined(m.globals))}
}

func defined(globals starlark.StringDict) string {
	if len(globals) == 0 {
		return "nothing"
	}
	return shorten(strings.Join(globals.Keys(), ", "), 200)
}
