// Package script runs Starlark code: graphs and authentication handlers. A call is bounded by a number of instructions
// and by a time, and ends with its context; errors carry the place in the source. Its memory is not bounded: the
// reference runs scripts of those who run it (SECURITY.md).
//
// The package does not depend on threads, runs or HTTP.
package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.starlark.net/starlark"
)

// Options say what a session may use.
type Options struct {
	Time  time.Duration                    // of one call, waiting included; 15 minutes by default
	Env   func(name string) (string, bool) // what env(name) answers; nil: env is refused
	Print func(text string)                // where print goes; nil: nowhere
}

// They leave a graph room for real work and end an endless loop within a fraction of a second.
const (
	mostSteps   = 2_000_000 // instructions of the interpreter
	defaultTime = 15 * time.Minute
)

// ErrTime is the error of a call that took too long.
var ErrTime = errors.New("the script ran too long and was stopped")

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
	limit := cmp.Or(opts.Time, defaultTime)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: one call may take %s", ErrTime, limit))
	thread := &starlark.Thread{Name: name, Print: func(_ *starlark.Thread, text string) {
		if opts.Print != nil {
			opts.Print(shorten(text))
		}
	}}
	thread.SetLocal(environmentKey, opts.Env)
	thread.SetMaxExecutionSteps(mostSteps)
	unwatch := context.AfterFunc(ctx, func() { thread.Cancel(context.Cause(ctx).Error()) })
	s := &Session{thread: thread, ctx: ctx, stop: func() { unwatch(); cancel() }}
	thread.OnMaxSteps = func(*starlark.Thread) {
		s.failed = fmt.Errorf("the script may take %d steps in one call and needs more: is there an endless loop?", mostSteps)
		thread.Cancel(s.failed.Error())
	}
	return s
}

// Close ends the session.
func (s *Session) Close() { s.stop() }

// Context ends when the session may not go on: host functions that wait watch it.
func (s *Session) Context() context.Context { return s.ctx }

// Call calls a function of a script. Its error has the place in the source.
func (s *Session) Call(fn starlark.Value, args ...starlark.Value) (v starlark.Value, err error) {
	err = s.run(func() error {
		v, err = starlark.Call(s.thread, fn, args, nil)
		return err
	})
	return v, err
}

// run runs a piece of a script. Its error prefers the reason why the script was stopped to the interpreter's
// "computation cancelled".
func (s *Session) run(script func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the interpreter failed: %v", p)
		}
	}()
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	err = script()
	eval, ok := errors.AsType[*starlark.EvalError](err)
	if !ok {
		return err // of the parser or the resolver: with its place
	}
	e := &located{cause: cmp.Or(s.failed, context.Cause(s.ctx), error(eval))}
	for _, frame := range eval.CallStack { // the innermost place in the source: our own functions have none
		if frame.Pos.Filename() != "<builtin>" {
			e.place = frame.Pos.String()
		}
	}
	return e
}

// located is an error of a script with its place, file:line:col.
type located struct {
	place string
	cause error
}

func (e *located) Error() string { return e.place + ": " + shorten(e.cause.Error()) }

func (e *located) Unwrap() error { return e.cause }

// shorten bounds a text that a script chose.
func shorten(text string) string {
	const longest = 2048
	if len(text) > longest {
		return text[:longest] + "..."
	}
	return text
}

// Function is a host function that scripts can call.
type Function = func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// Func makes a value of a host function.
func Func(name string, f Function) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(
		_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple,
	) (starlark.Value, error) {
		return f(args, kwargs)
	})
}

// environment is env(name, default): a secret or a setting of the deployment.
func environment(
	thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple,
) (starlark.Value, error) {
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
