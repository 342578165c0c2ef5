package client

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Urgency says who is served first where several wait for a place.
type Urgency int32

// What time runs for comes first, then what others wait for, then scenarios that have begun: a scenario ends before
// others begin, so that its reads lie close together.
const (
	RunInProgress  Urgency = iota // a run of the graph is in progress: the next request must come before it ends
	AwaitedByOther                // what scenarios share, and scenarios that hold what others wait for
	begun                         // it has sent a request
	notBegun
)

// urgencyKey is for the *atomic.Int32 of a scenario, which all its requests share.
type urgencyKey struct{}

// WithUrgency returns a context for a scenario, or for something that scenarios share, which has not begun.
func WithUrgency(ctx context.Context) context.Context {
	return context.WithValue(ctx, urgencyKey{}, urgencyOf(context.Background()))
}

// Hurry serves the scenario of the context earlier from now on.
func Hurry(ctx context.Context, u Urgency) {
	if now := urgencyOf(ctx); int32(u) < now.Load() {
		now.Store(int32(u))
	}
}

// urgencyOf is the urgency of the scenario, which may change while a request of it waits.
func urgencyOf(ctx context.Context) *atomic.Int32 {
	now, _ := ctx.Value(urgencyKey{}).(*atomic.Int32)
	if now == nil {
		now = &atomic.Int32{}
		now.Store(int32(notBegun))
	}
	return now
}

// Semaphore bounds how much is in progress at the same time. The most urgent is served first, and of equals the one
// that came first.
type Semaphore struct {
	mu      sync.Mutex
	places  int
	taken   int
	waiting []*waiter
}

type waiter struct {
	urgency *atomic.Int32
	places  int
	granted chan struct{}
}

// NewSemaphore returns one with so many places.
func NewSemaphore(places int) *Semaphore { return &Semaphore{places: places} }

// SetPlaces changes how many places there are. What has one keeps it.
func (s *Semaphore) SetPlaces(places int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places = places
	s.grant()
}

// Halve leaves half as many places as are taken, at least so many, where there are that many.
func (s *Semaphore) Halve(least int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places = min(s.places, max(least, s.taken/2))
}

// Enter waits until so many places are free, and takes them together: all, where more are asked for than there are.
// Leave gives them back, and may be called more than once. The error is the cause of the context.
func (s *Semaphore) Enter(ctx context.Context, places int) (leave func(), err error) {
	s.mu.Lock()
	w := &waiter{urgencyOf(ctx), places, make(chan struct{})}
	s.waiting = append(s.waiting, w)
	s.grant()
	s.mu.Unlock()
	leave = sync.OnceFunc(func() { s.leave(w) })
	select {
	case <-w.granted:
		Hurry(ctx, begun)
		return leave, nil
	case <-ctx.Done():
		leave()
		return leave, context.Cause(ctx)
	}
}

// leave gives the places back, or up where they were not granted yet.
func (s *Semaphore) leave(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.waiting, w); at >= 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
	} else {
		s.taken -= w.places
	}
	s.grant()
}

// grant gives the free places to the most urgent. Who needs more than are free waits for them, and so do those after
// it. It needs the lock.
func (s *Semaphore) grant() {
	for len(s.waiting) > 0 {
		first := slices.MinFunc(s.waiting, func(a, b *waiter) int { return int(a.urgency.Load() - b.urgency.Load()) })
		if first.places = min(first.places, s.places); s.taken+first.places > s.places {
			return
		}
		s.taken += first.places
		s.waiting = slices.DeleteFunc(s.waiting, func(w *waiter) bool { return w == first })
		close(first.granted)
	}
}

// togetherKey marks a context whose requests have their places already.
type togetherKey struct{}

// Together takes the places of so many requests that race, so that none of them waits for a place while others are
// answered. The requests are sent with the context that it returns; leave gives the places back.
func (c *Client) Together(ctx context.Context, requests int) (racing context.Context, leave func(), err error) {
	if leave, err = c.InFlight.Enter(ctx, requests); err != nil {
		return nil, nil, err
	}
	return context.WithValue(ctx, togetherKey{}, true), leave, nil
}
