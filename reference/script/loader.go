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

// maxSource is the maximum size of a file, in bytes.
const maxSource = 256 << 10

// Loader loads the files of a tree, each of them once. It is not safe for concurrent use. The values that it loads are
// frozen, so that several sessions can use them concurrently.
type Loader struct {
	tree    fs.FS
	folders []string
	names   starlark.StringDict
	modules map[string]starlark.StringDict // nil while the file is being loaded
}

// NewLoader returns a loader for the files of a tree. load("x.star", ...) searches the folder of the file that contains it,
// and then the given folders. The host values are defined in every file.
func NewLoader(tree fs.FS, folders []string, host starlark.StringDict) *Loader {
	names := starlark.StringDict{"json": starlarkjson.Module, "env": starlark.NewBuiltin("env", environment)}
	maps.Copy(names, host)
	return &Loader{tree: tree, folders: folders, names: names, modules: map[string]starlark.StringDict{}}
}

// Object returns the value of a global name in a file.
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

// load executes a file, unless it was already executed, and returns its global names.
func (l *Loader) load(ctx context.Context, file string) (globals starlark.StringDict, err error) {
	if globals, started := l.modules[file]; started {
		if globals == nil {
			return nil, fmt.Errorf("%s: the file loads itself", file)
		}
		return globals, nil
	}
	l.modules[file] = nil
	source, err := fs.ReadFile(l.tree, file)
	if err != nil {
		return nil, fmt.Errorf("reading a script: %w", err)
	}
	if len(source) > maxSource {
		return nil, fmt.Errorf("%s: the script is too long: the maximum is %d KiB", file, maxSource>>10)
	}
	s := NewSession(ctx, file, Options{}) // without an environment, because several deployments share a loaded file
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

// find returns the path of the file in a load statement.
func (l *Loader) find(from, name string) string {
	sibling := path.Join(path.Dir(from), name)
	if _, err := fs.Stat(l.tree, sibling); err == nil {
		return sibling
	}
	for _, folder := range l.folders {
		if _, err := fs.Stat(l.tree, path.Join(folder, name)); err == nil {
			return path.Join(folder, name)
		}
	}
	return sibling
}
