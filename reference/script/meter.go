package script

import (
	"context"
	"errors"
	"fmt"
	"math"

	"go.starlark.net/starlark"
)

const meterKey = "meter"

// poolUnit is how much a call reserves from the pool at a time, so that the pool is not touched at every step.
const poolUnit = 32 << 10

// stepUnit is after how many steps a call looks at what its instructions have allocated.
const stepUnit = 1 << 16

// meter counts what one call uses. It belongs to the goroutine that runs the script.
type meter struct {
	ctx      context.Context
	thread   *starlark.Thread
	limits   Limits
	pool     *Pool
	bytes    int64 // charged explicitly, on top of the share of each step
	reserved int64 // taken from the pool so far
	failed   error // the first limit that was met
	env      func(string) (string, bool)
}

// newMeter attaches a meter to a new interpreter thread.
func newMeter(ctx context.Context, thread *starlark.Thread, limits Limits, pool *Pool) *meter {
	m := &meter{ctx: ctx, thread: thread, limits: limits.withDefaults(), pool: pool}
	thread.SetLocal(meterKey, m)
	thread.SetMaxExecutionSteps(min(stepUnit, m.limits.Steps))
	thread.OnMaxSteps = func(*starlark.Thread) { m.onSteps() }
	return m
}

// close returns what was taken from the pool.
func (m *meter) close() {
	m.pool.release(m.reserved)
	m.reserved = 0
}

func meterOf(thread *starlark.Thread) (*meter, error) {
	m, ok := thread.Local(meterKey).(*meter)
	if !ok {
		return nil, errors.New("this function can only be called from a script")
	}
	return m, nil
}

// onSteps runs every stepUnit instructions: it is where a loop without any guarded operation is stopped.
func (m *meter) onSteps() {
	err := m.spend(0)
	if err == nil {
		err = m.work(0)
	}
	if err != nil {
		m.thread.Cancel(err.Error())
		return
	}
	m.thread.SetMaxExecutionSteps(min(m.thread.Steps+stepUnit, m.limits.Steps))
}

// spend charges for n bytes that are about to be allocated.
func (m *meter) spend(n int64) error {
	if m.failed != nil {
		return m.failed
	}
	if n < 0 || n > math.MaxInt64/4 {
		n = math.MaxInt64 / 4
	}
	total := m.bytes + n + int64(min(m.thread.Steps, m.limits.Steps))*bytesOfStep
	if total > m.limits.Memory {
		return m.fail(overLimit("memory", "the script may allocate %s in one call and asked for more: keep less data at a time",
			sizeText(m.limits.Memory)))
	}
	m.bytes += n
	if total > m.reserved {
		more := (total - m.reserved + poolUnit - 1) / poolUnit * poolUnit
		if !m.pool.reserve(more) {
			return m.fail(overLimit("pool", "the scripts of this server use all the memory that they may use together: try again later"))
		}
		m.reserved += more
	}
	return nil
}

// work charges for n steps that a built-in function is about to take.
func (m *meter) work(n int64) error {
	if m.failed != nil {
		return m.failed
	}
	if n < 0 || uint64(n) > m.limits.Steps || m.thread.Steps+uint64(n) >= m.limits.Steps {
		return m.fail(overLimit("steps", "the script may take %d steps in one call and needs more: is there an endless loop?", m.limits.Steps))
	}
	m.thread.Steps += uint64(n)
	return nil
}

// fail remembers the first limit that was met, and ends the script.
func (m *meter) fail(err error) error {
	if m.failed == nil {
		m.failed = err
		m.thread.Cancel(err.Error())
	}
	return err
}

// pay charges for bytes and steps together.
func (m *meter) pay(bytes, steps int64) error {
	if err := m.work(steps); err != nil {
		return err
	}
	return m.spend(bytes)
}

// text charges for a string of n bytes.
func (m *meter) text(n int64) error {
	if n > maxString {
		return overLimit("size", "a string may have %s, and this one would have %s", sizeText(maxString), sizeText(n))
	}
	return m.spend(n + 16)
}

// values charges for n elements of a list or tuple.
func (m *meter) values(n int64) error { return m.spend(times(n, 24) + 48) }

// length tells how many elements v yields. What does not know its own length is replaced by a tuple that does.
func (m *meter) length(v starlark.Value) (int64, starlark.Value, error) {
	it, ok := v.(starlark.Iterable)
	if !ok {
		return 0, v, nil
	}
	if n := starlark.Len(v); n >= 0 {
		return int64(n), v, nil
	}
	var all starlark.Tuple
	for x := range starlark.Elements(it) {
		if err := m.pay(64, 1); err != nil {
			return 0, nil, err
		}
		all = append(all, x)
	}
	return int64(len(all)), all, nil
}

func sizeText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// times multiplies two counts and saturates: a product that cannot be represented must not look small.
func times(a, b int64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	if a > math.MaxInt64/8/b {
		return math.MaxInt64 / 8
	}
	return a * b
}
