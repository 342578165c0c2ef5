package client

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"
)

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

// askedToWait tells how long a target wants the client to wait: a 429, or a 503 that names a time. A target that
// asks for more than a minute, or again and again, gets its answer taken at its word.
func askedToWait(a *Answer, attempt int) (time.Duration, bool) {
	named := a.Header.Get("Retry-After")
	if a.Status != http.StatusTooManyRequests && (a.Status != http.StatusServiceUnavailable || named == "") || attempt >= maxAttempts {
		return 0, false
	}
	wait := 100 * time.Millisecond << attempt
	if seconds, err := strconv.ParseFloat(named, 64); err == nil && seconds >= 0 {
		wait = time.Duration(min(seconds, 2*maxWait.Seconds()) * float64(time.Second))
	} else if at, err := http.ParseTime(named); err == nil {
		wait = max(0, time.Until(at))
	}
	// A target that says "0" still gets a moment.
	return max(wait, 5*time.Millisecond), wait <= maxWait
}

// Breaker notices a target that has gone: after Limit requests in a row without an answer it says so at once, in
// place of letting every further request wait for its time to pass.
type Breaker struct {
	Limit int

	mu       sync.Mutex
	failures int
	cause    string
}

// Failed notes a request that got no answer.
func (b *Breaker) Failed(cause string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures++; b.failures >= b.Limit && b.cause == "" {
		b.cause = "the target has stopped answering (" + cause + ")"
	}
}

// Answered notes a sign of life.
func (b *Breaker) Answered() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures = 0
}

// Cause says why nothing more is sent, or "".
func (b *Breaker) Cause() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cause
}
