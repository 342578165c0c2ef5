package client

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
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

// longestNamed is where a time that a target names ends to be a time.
const longestNamed = 1000 * time.Hour

// askedToWait tells how long a target wants the client to wait: a 429, or a 503 that names a time. A target that
// asks for more than a minute, or again and again, is given up.
func askedToWait(a *Answer, attempt int) (time.Duration, bool) {
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

// Clock is the time at the target when it answered, by the header Date where that is far from the time here: it tells whole seconds.
func (a *Answer) Clock() time.Time {
	if date, err := http.ParseTime(a.Header.Get("Date")); err == nil && time.Since(date).Abs() > time.Minute {
		return date
	}
	return time.Now()
}

// maxWaiting is how long a run waits in all because the target asks it to.
const maxWaiting = 5 * time.Minute

// patience is what is left of it.
type patience struct {
	mu      sync.Mutex
	left    time.Duration
	waiting int           // requests that wait now
	since   time.Time     // from when on at least one does
	past    time.Duration // for how long at least one did, before
}

// take uses some, and says whether there was enough.
func (p *patience) take(d time.Duration) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left < d {
		return false
	}
	p.left -= d
	return true
}

// wait waits, and takes the time in which any request waits.
func (p *patience) wait(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	if p.waiting++; p.waiting == 1 {
		p.since = time.Now()
	}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.waiting--; p.waiting == 0 {
			p.past += time.Since(p.since)
		}
	}()
	return Sleep(ctx, d)
}

func (p *patience) waited() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting > 0 {
		return p.past + time.Since(p.since)
	}
	return p.past
}

// Breaker notices an address that has gone: after Limit requests in a row without an answer it says so at once, in
// place of letting every further request wait for its time to pass.
type Breaker struct {
	Limit int

	mu       sync.Mutex
	failures map[string]int    // by address
	causes   map[string]string // of addresses that have gone
}

// Failed notes a request that got no answer.
func (b *Breaker) Failed(address, cause string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures == nil {
		b.failures, b.causes = map[string]int{}, map[string]string{}
	}
	if b.failures[address]++; b.failures[address] >= b.Limit && b.causes[address] == "" {
		b.causes[address] = address + " has stopped answering (" + cause + ")"
	}
}

// Answered notes a sign of life.
func (b *Breaker) Answered(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.failures, address)
}

// Cause says why nothing more is sent to the address, or "".
func (b *Breaker) Cause(address string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.causes[address]
}
