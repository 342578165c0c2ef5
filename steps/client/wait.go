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

// Limits of waits at the request of the target: the number of times for one request, the duration of one wait, and the
// total duration in a test run.
const (
	maxAttempts = 8
	maxWait     = time.Minute
	maxWaiting  = 5 * time.Minute
)

// pause is a wait that a response asks for. It records whether the client waits.
type pause struct {
	asked   time.Duration
	granted bool
	gated   bool // all requests to the host wait at its gate
}

// Sleep waits for the duration. If the context ends first, Sleep returns its cause.
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

// Repeat calls look until it reports done or fails, the last time at until. The pause between two calls grows from first
// to longest. Reaching until is not an error, because the caller judges the last state.
func Repeat(ctx context.Context, first, longest time.Duration, until time.Time, look func() (done bool, err error)) error {
	for wait := first; ; wait = min(wait*3/2, longest) {
		done, err := look()
		left := time.Until(until)
		if done || err != nil || left <= 0 {
			return err
		}
		if err := Sleep(ctx, min(wait, left)); err != nil {
			return err
		}
	}
}

// maxRetryAfter is the maximum wait that a Retry-After header can ask for.
const maxRetryAfter = 1000 * time.Hour

// askedToWait reports whether a response asks the client to wait (429, or 503 with Retry-After), and for how long.
func askedToWait(a *exchange.Response, attempt int) (wait time.Duration, asked bool) {
	retryAfter := a.Header.Get("Retry-After")
	if a.Status != http.StatusTooManyRequests && (a.Status != http.StatusServiceUnavailable || retryAfter == "") {
		return 0, false
	}
	wait = min(100*time.Millisecond<<attempt, 2*time.Second)
	if seconds, err := strconv.ParseFloat(retryAfter, 64); err == nil && seconds >= 0 {
		wait = time.Duration(min(seconds, maxRetryAfter.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(retryAfter); err == nil {
		wait = min(max(0, time.Until(at)), maxRetryAfter)
	}
	// After "Retry-After: 0" the client waits for a short time, which grows with each attempt.
	return max(wait, 5*time.Millisecond<<attempt), true
}

// gate stops all requests to one host while it asks the client to wait, because a rate limit applies to all of them.
type gate struct {
	mu      sync.Mutex
	until   time.Time // when the gate opens
	asked   time.Time // end of the longest wait that the host has asked for
	closed  int       // number of times that the gate was closed since the last regular response
	regular int       // regular responses since the last 429
	halved  time.Time // when the number of requests in flight was last halved; zero if all slots may be used
}

// Limits of a gate.
const (
	fewRegular  = 10               // a 429 after fewer regular responses closes the gate; after more, only its request waits
	maxClosed   = 8                // closings without a regular response in between
	halveWithin = 10 * time.Second // a 429 within this time after the opening halves the requests in flight; this time without one doubles them
	minInFlight = 4
)

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

// responded records a response that does not ask the client to wait.
func (c *Client) responded(g *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = 0
	g.regular++
	if !g.halved.IsZero() && time.Since(g.halved) > halveWithin {
		g.halved = time.Now()
		if c.InFlight.Double() {
			g.halved = time.Time{}
		}
	}
}

// limited records a 429, and returns the pause after it. A gateway may refuse a few requests of many: then only the
// refused request waits. If the host has refused another request shortly before, limited closes the gate. A response to a
// request that was sent while the gate was closed may keep it closed for longer, but does not count. If there is another
// 429 soon after the gate has opened, the number of requests in flight is reduced. Otherwise this number would exceed a
// low rate limit again and again, until requests run out of attempts.
func (c *Client) limited(g *gate, sent time.Time, wait time.Duration) *pause {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	until := now.Add(wait)
	again, isRare := !sent.Before(g.until), g.regular >= fewRegular
	g.regular = 0
	longer := max(0, min(wait, until.Sub(g.asked)))
	if again && g.closed >= maxClosed || !c.mayWait(longer) {
		return &pause{asked: wait}
	}
	g.asked = Later(g.asked, until)
	if again && !isRare {
		g.closed++
		if now.Sub(g.until) < halveWithin {
			c.InFlight.Halve(minInFlight)
			g.halved = now
		}
	}
	if !isRare {
		g.until = Later(g.until, until)
	}
	return &pause{asked: wait, granted: true, gated: !isRare}
}

// mayWait adds to the total time that the client waits, and reports whether it stays within the limit.
func (c *Client) mayWait(d time.Duration) bool {
	if time.Duration(c.waited.Add(int64(d))) > maxWaiting {
		c.waited.Add(-int64(d))
		return false
	}
	return true
}

// Breaker stops sending requests to an address that no longer responds. After Limit consecutive requests without a
// response, further ones fail at once instead of after their timeouts.
type Breaker struct {
	Limit int

	mu    sync.Mutex
	hosts map[string]*failures // by address
}

// failures are the failed requests to an address since its last response.
type failures struct {
	count    int
	suspects []string // requests without a response; one of them may have crashed the server
	cause    string   // the reason why nothing more is sent; empty below the limit
}

// maxSuspects is the maximum number of requests that the cause names.
const maxSuspects = 4

// Failed records a request without a response. It does not count if the server closed the connection, because the server
// is still running.
func (b *Breaker) Failed(r exchange.Request, none *exchange.NoResponse) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.of(r.Base)
	request := safe.Cut(r.Method+" "+safe.ShortIDs(r.Path), 120)
	if none.Stage == exchange.StageHTTP && len(f.suspects) < maxSuspects && !slices.Contains(f.suspects, request) {
		f.suspects = append(f.suspects, request)
	}
	if none.Closed || r.Early {
		return
	}
	f.count++
	if f.count < b.Limit || f.cause != "" {
		return
	}
	f.cause = r.Base + " has stopped responding (" + none.Cause + ")"
	if len(f.suspects) > 0 {
		f.cause += "; in flight then: " + strings.Join(f.suspects, ", ")
	}
}

// Responded records a response.
func (b *Breaker) Responded(r exchange.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.hosts, r.Base)
}

func (b *Breaker) of(address string) *failures {
	if b.hosts[address] == nil {
		b.hosts[address] = &failures{}
	}
	return b.hosts[address]
}

// Cause returns the reason why nothing more is sent to the address, or "".
func (b *Breaker) Cause(address string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.hosts[address]
	if f == nil {
		return ""
	}
	return f.cause
}

func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
