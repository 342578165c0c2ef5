package client

import (
	"context"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
)

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
