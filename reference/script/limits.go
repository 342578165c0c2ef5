package script

import (
	"fmt"
	"sync/atomic"
	"time"
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
	if l.Steps == 0 {
		l.Steps = DefaultSteps
	}
	if l.Memory == 0 {
		l.Memory = DefaultMemory
	}
	if l.Time == 0 {
		l.Time = DefaultTime
	}
	return l
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
func (p *Pool) Used() int64 {
	if p == nil {
		return 0
	}
	return p.used.Load()
}

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
