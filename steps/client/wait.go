package client

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/exchange"
)

// The bounds of obedience: how often one request waits, and for how long at a time.
const (
	maxAttempts = 8
	maxWait     = time.Minute
)

// Sleep waits, or returns the cause when the context ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// staggerStep is the delay between the starts of concurrent operations.
const staggerStep = 10 * time.Microsecond

// Stagger delays the i-th of several concurrent operations by i times 10 µs. In virtual time this fixes their order;
// elsewhere it has no noticeable effect.
func Stagger(i int) { time.Sleep(time.Duration(i) * staggerStep) }

// Repeat looks again and again, less and less often, until there is nothing more to wait for or the time is over. That
// it is over is no error: what was hoped for is then judged as it is.
func Repeat(ctx context.Context, first, longest time.Duration, until time.Time,
	look func() (done bool, err error),
) error {
	for wait := first; ; wait = min(wait*3/2, longest) {
		done, err := look()
		if done || err != nil || time.Now().Add(wait).After(until) {
			return err
		}
		if err := Sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// longestNamed is where a time that a target names ends to be a time.
const longestNamed = 1000 * time.Hour

// askedToWait tells how long a target wants the client to wait: a 429, or a 503 that names a time. A target that
// asks for more than a minute, or again and again, is given up.
func askedToWait(a *exchange.Response, attempt int) (time.Duration, bool) {
	named := a.Header.Get("Retry-After")
	if a.Status != http.StatusTooManyRequests && (a.Status != http.StatusServiceUnavailable || named == "") {
		return 0, false
	}
	wait := min(100*time.Millisecond<<attempt, 2*time.Second)
	if seconds, err := strconv.ParseFloat(named, 64); err == nil && seconds >= 0 {
		wait = time.Duration(min(seconds, longestNamed.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(named); err == nil {
		wait = min(max(0, time.Until(at)), longestNamed)
	}
	// A target that says "0" still gets a moment, and a longer one when it says so again.
	return max(wait, 5*time.Millisecond<<attempt), true
}

// Breaker notices an address that has gone: after Limit requests in a row without an answer it says so at once, in
// place of letting every further request wait for its time to pass.
type Breaker struct {
	Limit int

	mu   sync.Mutex
	seen map[string]*life // by address
}

// life is what was seen of an address since its last answer.
type life struct {
	failures int
	cut      []string // requests that were sent and got no answer: one of them may be what it died of
	cause    string   // why it is held to be gone
}

// suspects is how many requests the cause names that were in flight when an address has gone.
const suspects = 4

// Failed notes a request that got no answer. A target that closes connections is there.
func (b *Breaker) Failed(r exchange.Request, failure *exchange.NoResponse) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.of(r.Base)
	request := safe.Cut(r.Method+" "+safe.ShortIDs(r.Path), 120)
	if failure.Stage == exchange.StageHTTP && len(l.cut) < suspects && !slices.Contains(l.cut, request) {
		l.cut = append(l.cut, request)
	}
	if failure.Closed || r.Early {
		return
	}
	if l.failures++; l.failures >= b.Limit && l.cause == "" {
		l.cause = r.Base + " has stopped answering (" + failure.Cause + ")"
		if len(l.cut) > 0 {
			l.cause += "; in flight then: " + strings.Join(l.cut, ", ")
		}
	}
}

// Answered notes a sign of life.
func (b *Breaker) Answered(r exchange.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*b.of(r.Base) = life{}
}

func (b *Breaker) of(address string) *life {
	if b.seen[address] == nil {
		b.seen[address] = &life{}
	}
	return b.seen[address]
}

// Cause says why nothing more is sent to the address, or "".
func (b *Breaker) Cause(address string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.of(address).cause
}

// The limits of a gate: how often a host may close it in a row without an answer between, how many requests stay in
// flight at least where it is closed again within a time.
const (
	maxHolds = 8
	fewest   = 4
	again    = 10 * time.Second
)

// maxWaiting is how long a run waits in all because the target asks it to.
const maxWaiting = 5 * time.Minute

// gate delays the requests to one host while it asks the client to wait. All requests wait together: a rate limit
// applies to all of them.
type gate struct {
	mu    sync.Mutex
	until time.Time // nothing is sent before
	holds int       // in a row, without an answer between
}

// gateOf returns the gate of the host.
func (c *Client) gateOf(base string) *gate {
	g, _ := c.gates.LoadOrStore(reports.HostPort(base), &gate{})
	return g.(*gate)
}

// awaitOpen waits until the gate is open.
func (g *gate) awaitOpen(ctx context.Context) error {
	for {
		g.mu.Lock()
		closed := time.Until(g.until)
		g.mu.Unlock()
		if closed <= 0 {
			return nil
		}
		if err := Sleep(ctx, closed); err != nil {
			return err
		}
	}
}

// answered notes an answer that is one.
func (g *gate) answered() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds = 0
}

// hold closes the gate for a time from now on, and tells whether the client waits that long. An answer to a request
// that was sent before the gate was last closed is ignored. Where it has to be closed again and again, fewer requests
// are in flight from then on.
func (c *Client) hold(g *gate, sent time.Time, wait time.Duration) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	anew, until := !sent.Before(g.until), now.Add(wait)
	more := max(0, min(wait, until.Sub(g.until))) // than it is closed already
	if anew && g.holds >= maxHolds || !c.mayWait(more) {
		return false
	}
	if anew {
		g.holds++
		if now.Sub(g.until) < again {
			c.InFlight.Halve(fewest)
		}
	}
	if more > 0 {
		g.until = until
	}
	return true
}

// mayWait takes a time of what a run waits in all, and tells whether there was enough.
func (c *Client) mayWait(d time.Duration) bool {
	if time.Duration(c.waited.Add(int64(d))) > maxWaiting {
		c.waited.Add(-int64(d))
		return false
	}
	return true
}

// Later is the later one of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
