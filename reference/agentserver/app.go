package agentserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentconform/agentconform/reference/agentserver/graphconfig"
	"github.com/agentconform/agentconform/reference/script"
)

// App is what a source defines: graphs, and perhaps an authentication handler. It is immutable and may serve any number of
// servers at once.
type App struct {
	graphs  map[string]graph
	handler *handler
	env     map[string]string // of the environment file
}

type graph struct {
	fn      starlark.Callable
	withCtx bool // takes ctx as its third parameter
}

// handler is the object that the configuration names under auth.path.
type handler struct {
	ref          graphconfig.Ref
	authenticate starlark.Callable
	on           map[string]starlark.Callable // by "threads.read", "threads" or "*"
}

// LoadError is a mistake in a source: the configuration file, a script, or an object in it. It names file, line and column,
// and the remedy.
type LoadError struct {
	What string // "graph \"x\"" or "the authentication handler"; empty: the configuration itself
	Err  error
}

func (e *LoadError) Error() string {
	if e.What == "" {
		return e.Err.Error()
	}
	return e.What + ": " + e.Err.Error()
}

func (e *LoadError) Unwrap() error { return e.Err }

// Load reads the graph configuration file of a source and loads what it names (interface, section 5, item 3).
func Load(ctx context.Context, tree fs.FS, configPath string) (*App, error) {
	config, err := graphconfig.Read(tree, configPath)
	if err != nil {
		return nil, &LoadError{Err: err}
	}
	loader := script.NewLoader(tree, config.Folders, hostNames(), script.Options{})
	app := &App{graphs: map[string]graph{}, env: config.Env}
	for _, name := range config.Names() {
		what := fmt.Sprintf("graph %q", name)
		v, err := object(ctx, loader, config.Graphs[name], what)
		if err != nil {
			return nil, err
		}
		if app.graphs[name], err = asGraph(v); err != nil {
			return nil, &LoadError{what, fmt.Errorf("%s: %s: %w", config.Graphs[name].Pos, config.Graphs[name], err)}
		}
	}
	if config.Auth == nil {
		return app, nil
	}
	const what = "the authentication handler"
	v, err := object(ctx, loader, *config.Auth, what)
	if err != nil {
		return nil, err
	}
	if app.handler, err = asHandler(v); err != nil {
		return nil, &LoadError{what, fmt.Errorf("%s: %s: %w", config.Auth.Pos, *config.Auth, err)}
	}
	app.handler.ref = *config.Auth
	return app, nil
}

// Graphs lists the names of the graphs.
func (a *App) Graphs() []string { return slices.Sorted(maps.Keys(a.graphs)) }

// object loads the file of a reference and finds the object. An error in the file has its own place; that the file or the
// object is missing is a mistake of the configuration, so its place is given.
func object(ctx context.Context, loader *script.Loader, ref graphconfig.Ref, what string) (starlark.Value, error) {
	m, err := loader.Load(ctx, ref.File)
	if err == nil {
		var v starlark.Value
		if v, err = m.Object(ref.Object); err == nil {
			return v, nil
		}
	}
	if located, ok := errors.AsType[*script.Error](err); ok && located.Line == 0 {
		err = fmt.Errorf("%s: %w: correct %q, or the file", ref.Pos, err, ref)
	}
	return nil, &LoadError{what, err}
}

func asGraph(v starlark.Value) (graph, error) {
	fn, ok := v.(*starlark.Function)
	if !ok {
		return graph{}, fmt.Errorf("the object is a %s: a graph is a function, def agent(messages, config, ctx)", v.Type())
	}
	switch required := requiredParams(fn); {
	case fn.NumKwonlyParams() > 0 || required > 3 || fn.NumParams() < 2:
		return graph{}, errors.New("a graph takes two or three parameters: def agent(messages, config, ctx)")
	case fn.NumParams() == 2:
		return graph{fn: fn}, nil
	}
	return graph{fn: fn, withCtx: true}, nil
}

func requiredParams(fn *starlark.Function) int {
	n := 0
	for i := range fn.NumParams() {
		if fn.ParamDefault(i) == nil {
			n++
		}
	}
	if fn.HasVarargs() {
		n--
	}
	if fn.HasKwargs() {
		n--
	}
	return n
}

// actions are what authorization handlers of threads can be registered for.
var actions = []string{"create", "read", "update", "delete", "search", "create_run"}

func asHandler(v starlark.Value) (*handler, error) {
	if fn, ok := v.(*starlark.Function); ok {
		return &handler{authenticate: fn}, nil
	}
	const shape = `the handler is a function authenticate(request), or a dict {"authenticate": function, "on": {"threads.read": function, ...}}`
	d, ok := v.(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf("the object is a %s: %s", v.Type(), shape)
	}
	fn, _, err := d.Get(starlark.String("authenticate"))
	if err != nil {
		return nil, err
	}
	h := &handler{on: map[string]starlark.Callable{}}
	if h.authenticate, ok = fn.(*starlark.Function); !ok {
		return nil, fmt.Errorf(`there is no function under "authenticate": %s`, shape)
	}
	on, found, err := d.Get(starlark.String("on"))
	if err != nil || !found {
		return h, err
	}
	handlers, ok := on.(*starlark.Dict)
	if !ok {
		return nil, fmt.Errorf(`"on" is a %s: %s`, on.Type(), shape)
	}
	for _, item := range handlers.Items() {
		name, _ := starlark.AsString(item[0])
		if !knownHandler(name) {
			return nil, fmt.Errorf(`"on" has the key %s: the keys are "*", "threads", and "threads." with one of %s`,
				item[0], strings.Join(actions, ", "))
		}
		fn, ok := item[1].(*starlark.Function)
		if !ok {
			return nil, fmt.Errorf("%q is a %s: it must be a function f(ctx, value)", name, item[1].Type())
		}
		h.on[name] = fn
	}
	return h, nil
}

func knownHandler(name string) bool {
	action, narrow := strings.CutPrefix(name, "threads.")
	return name == "*" || name == "threads" || narrow && slices.Contains(actions, action)
}
