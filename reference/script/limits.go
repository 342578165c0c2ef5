package script

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits bound one call into a script. The zero value of a field takes the default.
type Limits struct {
	Steps  uint64        // instructions of the interpreter, and their equivalent in built-in functions
	Memory int64         // bytes allocated during the call, whether still alive or not
	Time   time.Duration // wall time, waiting included
}

// The defaults leave a graph room for real work and end an endless loop within a fraction of a second.
const (
	DefaultSteps  = 2_000_000
	DefaultMemory = 64 << 20
	DefaultTime   = 15 * time.Minute
)

// Bounds on single values, which keep every single instruction short (see the package comment).
const (
	maxString   = 4 << 20 // bytes of a string
	maxIntBits  = 8192    // bits of an integer
	maxDict     = 16384   // entries of a dict
	maxKey      = 64 << 10
	maxDepth    = 64 // nesting of a value that is walked
	maxSource   = 256 << 10
	maxErrText  = 2048
	bytesOfStep = 16 // see the package comment
)

func (l Limits) withDefaults() Limits {
	return Limits{cmp.Or(l.Steps, DefaultSteps), cmp.Or(l.Memory, DefaultMemory), cmp.Or(l.Time, DefaultTime)}
}

// LimitError says which bound a script met.
type LimitError struct {
	What string // "steps", "memory", "time", "size", "depth" or "pool"
	Text string
}

func (e *LimitError) Error() string { return e.Text }

func overLimit(what, format string, args ...any) error {
	return &LimitError{What: what, Text: fmt.Sprintf(format, args...)}
}

// Pool bounds what all the scripts of a process may allocate together.
//
// A call reserves its bytes as it spends them, and returns all of them when it ends. A nil *Pool has no bound.
type Pool struct {
	size int64
	used atomic.Int64
}

// DefaultPool is the size of the pool that the reference uses.
const DefaultPool = 1 << 30

// NewPool returns a pool of the given size in bytes.
func NewPool(size int64) *Pool { return &Pool{size: size} }

// Used tells how many bytes running scripts have reserved.
func (p *Pool) Used() int64 { return p.used.Load() }

func (p *Pool) reserve(n int64) bool {
	if p == nil {
		return true
	}
	if p.used.Add(n) > p.size {
		p.used.Add(-n)
		return false
	}
	return true
}

func (p *Pool) release(n int64) {
	if p != nil {
		p.used.Add(-n)
	}
}

// Error is what went wrong in a script, and where.
type Error struct {
	File      string
	Line, Col int
	Msg       string
	Trace     string // the calls that led there, outermost first; empty for an error of the source text
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
	var trace []string
	for _, f := range eval.CallStack {
		if f.Pos.Filename() == "<builtin>" {
			continue
		}
		e.File, e.Line, e.Col = f.Pos.Filename(), int(f.Pos.Line), int(f.Pos.Col)
		trace = append(trace, fmt.Sprintf("%s in %s", f.Pos, f.Name))
	}
	e.Trace = strings.Join(trace, "\n")
	return e
}
