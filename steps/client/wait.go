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

// Limits of how often a request waits because the target asks for it, for how long at a time, and for how long all
// requests of a test run wait together.
const (
	maxAttempts = 8
	maxWait     = time.Minute
	maxWaiting  = 5 * time.Minute
)

// pause is the time that a response asks the client to wait, and whether the client does.
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

// Repeat calls look until it reports done or fails, the last time at until. The time between two calls grows from first to
// longest. Reaching until is not an error: the caller judges what it has seen.
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

// maxRetryAfter is the longest time that is read from a Retry-After header.
const maxRetryAfter = 1000 * time.Hour

// askedToWait reports whether a response asks the client to wait, and for how long: a 429, or a 503 with Retry-After.
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
	// After "Retry-After: 0" the client waits a little, and longer each time.
	return max(wait, 5*time.Millisecond<<attempt), true
}

// gate stops all requests to one host while it asks the client to wait, because a rate limit applies to all of them.
type gate struct {
	mu      sync.Mutex
	until   time.Time // when the gate opens
	asked   time.Time // until when the host asked any request to wait
	closed  int       // how often it was closed without a regular response in between
	regular int       // regular responses since the last 429
	halved  time.Time // when the requests in flight were halved last; zero if all may be in flight
}

// Limits of a gate: how many regular responses lie between two 429 at least, so that only the refused request waits; how
// often the gate is closed without a regular response in between; within which time after it has opened another 429 halves
// the requests in flight, and after which time without one they are doubled; and how many requests are in flight at least.
const (
	fewRegular  = 10
	maxClosed   = 8
	halveWithin = 10 * time.Second
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

// limited records a 429, and returns the pause after it. A gateway may refuse one of many requests: then only this request
// waits. If the host has refused another one shortly before, the gate is closed from now on. A response to a request that was
// sent while the gate was closed may keep it closed for longer, but does not count. If the host asks again soon after the
// gate has opened, fewer requests are in flight until it stops: otherwise their number alone would exceed a low rate limit
// again and again, until requests run out of attempts.
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

// mayWait adds to the time that the client waits in all, and reports whether it stays within the limit.
func (c *Client) mayWait(d time.Duration) bool {
	if time.Duration(c.waited.Add(int64(d))) > maxWaiting {
		c.waited.Add(-int64(d))
		return false
	}
	return true
}

// Breaker stops sending requests to an address that has stopped responding: after Limit requests in a row without a
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
	cause    string   // why nothing more is sent; empty below the limit
}

// maxSuspects is how many requests the cause names.
const maxSuspects = 4

// Failed records a request without a response. A server that closes connections is still there and does not count.
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

// Cause returns why nothing more is sent to the address, or "".
func (b *Breaker) Cause(address string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.hosts[address]
	if f == nil {
		return ""
	}
	return f.cause
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
