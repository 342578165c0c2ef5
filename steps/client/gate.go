package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// The limits of a gate: how often a host may close it in a row without an answer between, how many concurrent requests are
// always allowed, and after what time without a request to wait the gate is reset.
const (
	maxHolds = 8
	minLimit = 4
	calm     = 10 * time.Second
)

// Busy is the error for a target that asks the client to wait (429, or 503 with Retry-After) longer or more often than the
// client does. It says nothing about the answer to the request.
type Busy struct {
	Request Request
	Status  int
}

func (e *Busy) Error() string { return e.Request.Method + " " + e.Request.Path + ": " + e.Message() }

// Message is the cause, without the request, and the remedy.
func (e *Busy) Message() string {
	return fmt.Sprintf("status %d: the target asks to wait longer or more often than the suite does; lift its rate limit for the tests", e.Status)
}

// gate delays the requests to one host while it asks the client to wait. All requests wait together: a rate limit applies to
// all of them.
type gate struct {
	mu      sync.Mutex
	until   time.Time       // nothing is sent before
	holds   int             // in a row, without an answer between
	limit   int             // requests at once, while the host keeps asking; 0: any number
	sending int             // requests at once, without those whose answer may take as long as a run
	queue   []chan struct{} // of those that wait for others
}

// gateOf returns the gate of the host.
func (c *Client) gateOf(base string) *gate {
	host := base
	if u, err := url.Parse(base); err == nil {
		host = u.Host
	}
	g, _ := c.gates.LoadOrStore(host, &gate{})
	return g.(*gate)
}

// enter waits for a place. A request that is sent again goes first. Leave gives the place up, and may be called more
// than once.
func (g *gate) enter(ctx context.Context, again bool) (leave func(), err error) {
	g.mu.Lock()
	if g.limit > 0 && time.Since(g.until) > calm {
		g.limit = 0
		g.admit()
	}
	if g.limit > 0 && g.sending >= g.limit {
		place := make(chan struct{})
		if again {
			g.queue = slices.Insert(g.queue, 0, place)
		} else {
			g.queue = append(g.queue, place)
		}
		g.mu.Unlock()
		select {
		case <-place:
		case <-ctx.Done():
			g.forget(place)
			return func() {}, context.Cause(ctx)
		}
		g.mu.Lock()
	} else {
		g.sending++
	}
	g.mu.Unlock()
	return sync.OnceFunc(g.leave), nil
}

// awaitOpen waits until the gate is open.
func (g *gate) awaitOpen(ctx context.Context, p *patience) error {
	for {
		g.mu.Lock()
		closed := time.Until(g.until)
		g.mu.Unlock()
		if closed <= 0 {
			return nil
		}
		if err := p.wait(ctx, closed); err != nil {
			return err
		}
	}
}

// forget gives up a place in the queue, or the place that it has just been given.
func (g *gate) forget(place chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if at := slices.Index(g.queue, place); at >= 0 {
		g.queue = slices.Delete(g.queue, at, at+1)
		return
	}
	g.sending--
	g.admit()
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sending--
	g.admit()
}

// admit gives free places to waiting requests. The caller holds the lock.
func (g *gate) admit() {
	for len(g.queue) > 0 && (g.limit == 0 || g.sending < g.limit) {
		close(g.queue[0])
		g.queue = g.queue[1:]
		g.sending++
	}
}

// answered notes an answer that is one.
func (g *gate) answered() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holds = 0
}

// hold closes the gate for a time from now on, and tells whether the client waits that long. An answer to a request that was
// sent before the gate was last closed is ignored. Where it has to be closed again and again, fewer requests
// are sent at once.
func (g *gate) hold(sent time.Time, wait time.Duration, p *patience) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	anew := !sent.Before(g.until)
	if anew && g.holds >= maxHolds {
		return false
	}
	now := time.Now()
	until := now.Add(wait)
	if more := until.Sub(later(now, g.until)); more > 0 && !p.take(more) {
		return false
	}
	if anew {
		g.holds++
		if now.Sub(g.until) < calm {
			g.limit = max(minLimit, g.sending/2)
		}
	}
	g.until = later(until, g.until)
	return true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// closes tells whether an answer asks all requests to wait, not only this one.
func closes(a *Answer) bool { return a.Status == http.StatusTooManyRequests }
