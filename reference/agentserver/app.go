package agentserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentconform/agentconform/reference/script"
)

// App contains the graphs of a source and its authentication handler, if it has one. It is immutable, and several servers
// can share it.
type App struct {
	graphs  map[string]graph
	handler *handler
	env     map[string]string // of the environment file
}

// graph is the function of a graph.
type graph struct {
	fn      starlark.Callable
	withCtx bool // the function has a third parameter, ctx
}

// handler is the object at auth.path in the configuration.
type handler struct {
	ref          string
	authenticate starlark.Callable
	on           map[string]starlark.Callable // by "threads.read", "threads" or "*"
}

// Load reads the graph configuration file of a source and loads its graphs and its handler (interface, section 5, item 3).
// Paths in the file are relative to its folder.
func Load(ctx context.Context, tree fs.FS, configPath string) (*App, error) {
	text, err := fs.ReadFile(tree, configPath)
	if err != nil {
		return nil, fmt.Errorf("reading the graph configuration file (use its path in the source): %w", err)
	}
	var config struct {
		Graphs map[string]string `json:"graphs"` // name -> "<file_path>:<object_name>"
		Auth   *struct {
			Path string `json:"path"`
		} `json:"auth"`
		Dependencies []string `json:"dependencies"`
		Env          string   `json:"env"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", configPath, err)
	}
	if len(config.Graphs) == 0 {
		return nil, fmt.Errorf(`%s: graphs is empty: add "graphs": {"<name>": "<file_path>:<object_name>"}`, configPath)
	}
	app := &App{graphs: map[string]graph{}}
	folder := path.Dir(configPath)
	var folders []string
	for _, dependency := range config.Dependencies {
		at := path.Join(folder, dependency)
		if info, err := fs.Stat(tree, at); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("%s: the dependency %q is not a folder of the source; packages cannot be installed: "+
				"copy its files into the source and use their folder", configPath, dependency)
		}
		folders = append(folders, at)
	}
	if config.Env != "" {
		app.env, err = readEnv(tree, path.Join(folder, config.Env))
		if err != nil {
			return nil, err
		}
	}
	loader := script.NewLoader(tree, folders, hostNames())
	object := func(key, ref string) (starlark.Value, error) {
		at := strings.LastIndexByte(ref, ':')
		if at <= 0 || at == len(ref)-1 {
			return nil, fmt.Errorf(`%s: %s: %q does not name an object of a file: write "<file_path>:<object_name>"`,
				configPath, key, ref)
		}
		v, err := loader.Object(ctx, path.Join(folder, ref[:at]), ref[at+1:])
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", configPath, key, err)
		}
		return v, nil
	}
	for _, name := range slices.Sorted(maps.Keys(config.Graphs)) {
		v, err := object("graphs."+name, config.Graphs[name])
		if err != nil {
			return nil, err
		}
		app.graphs[name], err = asGraph(v)
		if err != nil {
			return nil, fmt.Errorf("%s: graphs.%s: %w", configPath, name, err)
		}
	}
	if config.Auth == nil {
		return app, nil
	}
	v, err := object("auth.path", config.Auth.Path)
	if err != nil {
		return nil, err
	}
	app.handler, err = asHandler(v)
	if err != nil {
		return nil, fmt.Errorf("%s: auth.path: %w", configPath, err)
	}
	app.handler.ref = config.Auth.Path
	return app, nil
}

// settingLine matches a line of an environment file.
var settingLine = regexp.MustCompile(`^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$`)

// readEnv reads an environment file with lines such as NAME=value. Empty lines and lines that start with # are skipped.
// Quotes around a value are removed.
func readEnv(tree fs.FS, file string) (map[string]string, error) {
	text, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, fmt.Errorf(`reading the file of the key "env": %w`, err)
	}
	env := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		setting := settingLine.FindStringSubmatch(line)
		if setting == nil {
			return nil, fmt.Errorf("%s:%d: expected NAME=value, or # before a comment", file, i+1)
		}
		env[setting[1]] = strings.Trim(setting[2], `"'`)
	}
	return env, nil
}

// Graphs returns the names of the graphs.
func (a *App) Graphs() []string { return slices.Sorted(maps.Keys(a.graphs)) }

// asGraph returns an object of a script as a graph.
func asGraph(v starlark.Value) (graph, error) {
	fn, ok := v.(*starlark.Function)
	if !ok {
		return graph{}, fmt.Errorf("the object is a %s: a graph is a function, def agent(messages, config, ctx)", v.Type())
	}
	if n := fn.NumParams(); n != 2 && n != 3 {
		return graph{}, errors.New("a graph has two or three parameters: def agent(messages, config, ctx)")
	}
	return graph{fn: fn, withCtx: fn.NumParams() == 3}, nil
}

// actions are the actions on threads that authorization handlers can handle.
var actions = []string{"create", "read", "update", "delete", "search", "create_run"}

// asHandler returns an object of a script as a handler. The object is a function authenticate(request), or a dict with
// this function and authorization handlers under "on".
func asHandler(v starlark.Value) (*handler, error) {
	if fn, ok := v.(*starlark.Function); ok {
		return &handler{authenticate: fn}, nil
	}
	const shape = "the handler is a function authenticate(request), or a dict " +
		`{"authenticate": function, "on": {"threads.read": function, ...}}`
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf("the object is a %s: %s", v.Type(), shape)
	}
	h := &handler{on: map[string]starlark.Callable{}}
	fn, _, _ := d.Get(starlark.String("authenticate")) // cannot fail: a string is hashable
	h.authenticate, ok = fn.(*starlark.Function)
	if !ok {
		return nil, fmt.Errorf(`there is no function under "authenticate": %s`, shape)
	}
	on, found, _ := d.Get(starlark.String("on"))
	if !found {
		return h, nil
	}
	handlers, ok := on.(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf(`"on" is a %s: %s`, on.Type(), shape)
	}
	for _, item := range handlers.Items() {
		name, _ := starlark.AsString(item[0])
		action, hasAction := strings.CutPrefix(name, "threads.")
		isKnown := name == "*" || name == "threads" || hasAction && slices.Contains(actions, action)
		if !isKnown {
			return nil, fmt.Errorf(`"on" has the key %s: the keys are "*", "threads", and "threads." with one of %s`,
				item[0], strings.Join(actions, ", "))
		}
		h.on[name], ok = item[1].(*starlark.Function)
		if !ok {
			return nil, fmt.Errorf("%q is a %s: it must be a function f(ctx, value)", name, item[1].Type())
		}
	}
	return h, nil
}
