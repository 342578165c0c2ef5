package script

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits bound one call into a script. The zero value of a field takes the default.
type Limits struct {
	Steps uint64        // instructions of the interpreter
	Time  time.Duration // wall time, waiting included
}

// The defaults leave a graph room for real work and end an endless loop within a fraction of a second.
const (
	DefaultSteps = 2_000_000
	DefaultTime  = 15 * time.Minute
)

const (
	maxSource  = 256 << 10 // bytes of a file
	maxErrText = 2048
)

func (l Limits) withDefaults() Limits {
	return Limits{cmp.Or(l.Steps, DefaultSteps), cmp.Or(l.Time, DefaultTime)}
}

// LimitError says which bound a script met.
type LimitError struct {
	What string // "steps" or "time"
	Text string
}

func (e *LimitError) Error() string { return e.Text }

func overLimit(what, format string, args ...any) error {
	return &LimitError{What: what, Text: fmt.Sprintf(format, args...)}
}

// Error is what went wrong in a script, and where.
type Error struct {
	File      string
	Line, Col int
	Msg       string
	cause     error
}

// Error gives file:line:col and the message.
func (e *Error) Error() string {
	if e.Line == 0 {
		if e.File == "" {
			return e.Msg
		}
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg)
}

func (e *Error) Unwrap() error { return e.cause }

// located turns the errors of the parser, the resolver and the interpreter into an *Error.
func located(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := err.(*Error); ok {
		return err
	}
	if eval, ok := errors.AsType[*starlark.EvalError](err); ok {
		return evalError(eval)
	}
	if parse, ok := errors.AsType[syntax.Error](err); ok {
		return at(parse.Pos, parse.Msg, err)
	}
	if list, ok := errors.AsType[resolve.ErrorList](err); ok && len(list) > 0 {
		return at(list[0].Pos, list[0].Msg, err)
	}
	return &Error{Msg: shorten(err.Error(), maxErrText), cause: err}
}

func at(pos syntax.Position, msg string, cause error) *Error {
	return &Error{File: pos.Filename(), Line: int(pos.Line), Col: int(pos.Col), Msg: shorten(msg, maxErrText), cause: cause}
}

// evalError finds the innermost place in the source: the frames of our own operations have none.
func evalError(eval *starlark.EvalError) *Error {
	e := &Error{Msg: shorten(eval.Msg, maxErrText), cause: eval}
	for _, f := range eval.CallStack {
		if f.Pos.Filename() != "<builtin>" {
			e.File, e.Line, e.Col = f.Pos.Filename(), int(f.Pos.Line), int(f.Pos.Col)
		}
	}
	return e
}
