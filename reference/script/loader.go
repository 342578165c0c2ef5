package script

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"

	starlarkjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// maxSource bounds a file, in bytes.
const maxSource = 256 << 10

// Loader loads the files of one tree, each of them once. It is not for concurrent use; what it loads is frozen, so
// that any number of sessions may call its functions at once.
type Loader struct {
	tree    fs.FS
	folders []string
	names   starlark.StringDict
	modules map[string]starlark.StringDict // nil: the file is being loaded
}

// NewLoader returns a loader of the files of tree. A load("x.star", ...) is looked up in the folder of the file that
// contains it, then in the given folders. Host names are visible in every file.
func NewLoader(tree fs.FS, folders []string, host starlark.StringDict) *Loader {
	names := starlark.StringDict{"json": starlarkjson.Module, "env": starlark.NewBuiltin("env", environment)}
	maps.Copy(names, host)
	return &Loader{tree: tree, folders: folders, names: names, modules: map[string]starlark.StringDict{}}
}

// Object returns what a file of the tree defines under a name.
func (l *Loader) Object(ctx context.Context, file, name string) (starlark.Value, error) {
	globals, err := l.load(ctx, file)
	if err != nil {
		return nil, err
	}
	if v, ok := globals[name]; ok {
		return v, nil
	}
	defined := shorten(strings.Join(globals.Keys(), ", "))
	return nil, fmt.Errorf("%s: no object %q in the file; it defines: %s", file, name, defined)
}

func (l *Loader) load(ctx context.Context, file string) (globals starlark.StringDict, err error) {
	if globals, begun := l.modules[file]; begun {
		if globals == nil {
			return nil, fmt.Errorf("%s: the file loads itself", file)
		}
		return globals, nil
	}
	l.modules[file] = nil
	source, err := fs.ReadFile(l.tree, file)
	if err != nil {
		return nil, fmt.Errorf("read a script: %w", err)
	}
	if len(source) > maxSource {
		return nil, fmt.Errorf("%s: a script has at most %d KiB", file, maxSource>>10)
	}
	s := NewSession(ctx, file, Options{}) // without an environment: a loaded file serves any deployment
	defer s.Close()
	s.thread.Load = func(_ *starlark.Thread, name string) (starlark.StringDict, error) {
		return l.load(s.ctx, l.find(file, name))
	}
	options := &syntax.FileOptions{While: true, TopLevelControl: true}
	err = s.run(func() error {
		globals, err = starlark.ExecFileOptions(options, s.thread, file, source, l.names)
		return err
	})
	if err != nil {
		return nil, err
	}
	l.modules[file] = globals
	return globals, nil
}

// find resolves the name in a load statement.
func (l *Loader) find(from, name string) string {
	beside := path.Join(path.Dir(from), name)
	if _, err := fs.Stat(l.tree, beside); err == nil {
		return beside
	}
	for _, folder := range l.folders {
		if _, err := fs.Stat(l.tree, path.Join(folder, name)); err == nil {
			return path.Join(folder, name)
		}
	}
	return beside
}
