// Package script runs Starlark code: graphs and authentication handlers (interface, section 5). It does not depend on
// threads, runs or HTTP.
//
// Start reading with [Loader], which loads files, and [Session], which calls their functions. A call has limits for its
// instructions and its time, and ends with its context. Errors contain the place in the source. The memory of a call is not
// limited, because users run only their own scripts with the reference (SECURITY.md).
package script

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.starlark.net/starlark"
)

// Options are the options of a session.
type Options struct {
	Time  time.Duration                    // the time limit of a call, with waits; 15 minutes by default
	Env   func(name string) (string, bool) // returns the result of env(name); if it is nil, env fails
	Print func(text string)                // receives the output of print; may be nil
}

// The limits allow real work in a graph, and end an endless loop within a fraction of a second.
const (
	mostSteps   = 2_000_000 // instructions of the interpreter
	defaultTime = 15 * time.Minute
)

// ErrTime is returned for a call that exceeds its time limit.
var ErrTime = errors.New("the script ran too long and was stopped")

// Session calls functions of loaded scripts. All of its calls share the limits. It must not be used by several goroutines.
type Session struct {
	thread *starlark.Thread
	ctx    context.Context
	failed error // set when the limit of steps is reached
	stop   func()
}

// environmentKey is the name of the thread-local value that contains Options.Env.
const environmentKey = "environment"

// NewSession returns a session that ends with ctx. The caller must close it.
func NewSession(ctx context.Context, name string, opts Options) *Session {
	limit := cmp.Or(opts.Time, defaultTime)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: the limit of a call is %s", ErrTime, limit))
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
		s.failed = fmt.Errorf("the script exceeded the limit of %d steps: it may contain an endless loop", mostSteps)
		thread.Cancel(s.failed.Error())
	}
	return s
}

// Close ends the session.
func (s *Session) Close() { s.stop() }

// Context returns the context of the session. Host functions that wait must return when it ends.
func (s *Session) Context() context.Context { return s.ctx }

// Call calls a function of a script. Errors contain the place in the source.
func (s *Session) Call(fn starlark.Value, args ...starlark.Value) (v starlark.Value, err error) {
	err = s.run(func() error {
		v, err = starlark.Call(s.thread, fn, args, nil)
		return err
	})
	return v, err
}

// run runs a part of a script. If the script was stopped, the error is the reason instead of the "computation cancelled" of
// the interpreter.
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
		return err // nil, or an error of the parser or resolver, which contains its place
	}
	e := &located{cause: s.stopCause(eval)}
	for _, frame := range eval.CallStack { // the innermost place in a file; host functions have none
		if frame.Pos.Filename() != "<builtin>" {
			e.place = frame.Pos.String()
		}
	}
	return e
}

// stopCause returns the reason why the script was stopped, or err if it was not stopped.
func (s *Session) stopCause(err error) error {
	if s.failed != nil {
		return s.failed
	}
	if cause := context.Cause(s.ctx); cause != nil {
		return cause
	}
	return err
}

// located is an error of a script with its place, file:line:col.
type located struct {
	place string
	cause error
}

// Error returns the place and the cause.
func (e *located) Error() string { return e.place + ": " + shorten(e.cause.Error()) }

// Unwrap returns the cause.
func (e *located) Unwrap() error { return e.cause }

// shorten limits the length of a text of a script.
func shorten(text string) string {
	const longest = 2048
	if len(text) > longest {
		return text[:longest] + "..."
	}
	return text
}

// Function is a host function that scripts can call.
type Function = func(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error)

// Func returns a host function as a value for scripts.
func Func(name string, f Function) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(
		_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple,
	) (starlark.Value, error) {
		return f(args, kwargs)
	})
}

// environment implements env(name, default), which returns a secret or a setting of the deployment.
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
		return nil, fmt.Errorf("env(%q): there is no environment while a file is loaded; call env in a function", name)
	}
	if v, ok := lookUp(name); ok {
		return starlark.String(v), nil
	}
	return otherwise, nil
}
