package script

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.starlark.net/starlark"
)

// Options say what a session may use.
type Options struct {
	Limits Limits
	Env    func(name string) (string, bool) // what env(name) answers; nil: env is refused
	Print  func(text string)                // where print goes; nil: nowhere
}

// Session is one call, or a few that share limits, into loaded scripts. It belongs to one goroutine.
type Session struct {
	thread *starlark.Thread
	ctx    context.Context
	failed error // the limit of steps, when it was met
	stop   func()
}

// environmentKey is the local of a thread that holds Options.Env.
const environmentKey = "environment"

// NewSession opens a session that ends with ctx. Close it.
func NewSession(ctx context.Context, name string, opts Options) *Session {
	limits := opts.Limits.withDefaults()
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Time,
		overLimit("time", "the script may run for %s in one call and was stopped", limits.Time))
	thread := &starlark.Thread{Name: name, Print: func(_ *starlark.Thread, text string) {
		if opts.Print != nil {
			opts.Print(shorten(text, maxErrText))
		}
	}}
	thread.SetLocal(environmentKey, opts.Env)
	thread.SetMaxExecutionSteps(limits.Steps)
	unwatch := context.AfterFunc(ctx, func() { thread.Cancel(context.Cause(ctx).Error()) })
	s := &Session{thread: thread, ctx: ctx, stop: func() { unwatch(); cancel() }}
	thread.OnMaxSteps = func(*starlark.Thread) {
		s.failed = overLimit("steps", "the script may take %d steps in one call and needs more: is there an endless loop?", limits.Steps)
		thread.Cancel(s.failed.Error())
	}
	return s
}

// Close ends the session.
func (s *Session) Close() { s.stop() }

// Context ends when the session may not go on: host functions that wait watch it.
func (s *Session) Context() context.Context { return s.ctx }

// Call calls a function of a script. Its error is an *Error with the place, or the cause of the end of the context.
func (s *Session) Call(fn starlark.Value, args ...starlark.Value) (v starlark.Value, err error) {
	defer func() {
		if p := recover(); p != nil {
			v, err = nil, &Error{Msg: fmt.Sprintf("the interpreter failed: %v", p)}
		}
	}()
	if err := context.Cause(s.ctx); err != nil {
		return nil, err
	}
	v, err = starlark.Call(s.thread, fn, args, nil)
	return v, s.explain(err)
}

// explain prefers the reason why a script was stopped to the interpreter's "computation cancelled".
func (s *Session) explain(err error) error {
	if err == nil {
		return nil
	}
	reason := s.failed
	if reason == nil {
		reason = context.Cause(s.ctx)
	}
	var eval *starlark.EvalError
	if reason == nil || !errors.As(err, &eval) {
		return located(err)
	}
	e := evalError(eval)
	e.Msg, e.cause = reason.Error(), reason
	return e
}

// Func makes a host function that scripts can call.
func Func(name string, f func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)) *starlark.Builtin {
	call := func(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return f(args, kwargs)
	}
	return starlark.NewBuiltin(name, call)
}

// environment is env(name, default): a secret or a setting of the deployment.
func environment(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var otherwise starlark.Value = starlark.None
	if err := starlark.UnpackArgs("env", args, kwargs, "name", &name, "default?", &otherwise); err != nil {
		return nil, err
	}
	lookUp, _ := thread.Local(environmentKey).(func(string) (string, bool))
	if lookUp == nil {
		return nil, fmt.Errorf("env(%q): no environment while a file is loaded: call env in a function", name)
	}
	if v, ok := lookUp(name); ok {
		return starlark.String(v), nil
	}
	return otherwise, nil
}

// Record is a value of the host: named fields that a script reads as r.name or r["name"], and cannot change.
type Record struct {
	kind string
	data *starlark.Dict
}

var (
	_ starlark.HasAttrs        = (*Record)(nil)
	_ starlark.IterableMapping = (*Record)(nil)
)

// NewRecord makes a record of JSON-like Go data. Its kind is what type(r) answers.
func NewRecord(kind string, fields map[string]any) (*Record, error) {
	data, err := dictFromGo(fields)
	if err != nil {
		return nil, err
	}
	data.Freeze()
	return &Record{kind: kind, data: data}, nil
}

// Kind is the name that the record was made with.
func (r *Record) Kind() string { return r.kind }

// String names the kind only: a record may hold secrets, and this is what ends in messages.
func (r *Record) String() string        { return "<" + r.kind + ">" }
func (r *Record) Type() string          { return r.kind }
func (r *Record) Freeze()               {}
func (r *Record) Truth() starlark.Bool  { return true }
func (r *Record) Hash() (uint32, error) { return 0, fmt.Errorf("unhashable: %s", r.kind) }

// Get is r[k].
func (r *Record) Get(k starlark.Value) (starlark.Value, bool, error) { return r.data.Get(k) }

// Iterate yields the names of the fields.
func (r *Record) Iterate() starlark.Iterator { return r.data.Iterate() }

// Items are the fields and their values.
func (r *Record) Items() []starlark.Tuple { return r.data.Items() }

// Len is the number of fields.
func (r *Record) Len() int { return r.data.Len() }

var recordMethods = []string{"get", "items", "keys", "values"}

// Attr is r.name: a field, or one of the reading methods of a dict.
func (r *Record) Attr(name string) (starlark.Value, error) {
	v, found, err := r.data.Get(starlark.String(name))
	if found || err != nil {
		return v, err
	}
	if slices.Contains(recordMethods, name) {
		return r.data.Attr(name)
	}
	return nil, nil
}

// AttrNames lists the fields and the methods.
func (r *Record) AttrNames() []string {
	names := slices.Clone(recordMethods)
	for k := range starlark.Elements(r.data) {
		if s, ok := starlark.AsString(k); ok {
			names = append(names, s)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
