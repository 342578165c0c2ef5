package client

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Semaphore limits how much is in progress at the same time. Free slots are granted in the order of arrival, but to those
// that enter as first before all others.
type Semaphore struct {
	mu            sync.Mutex
	slots, taken  int
	first, others []chan struct{} // those that wait: closing a channel grants the slot
}

// NewSemaphore returns a semaphore with the number of slots.
func NewSemaphore(slots int) *Semaphore { return &Semaphore{slots: slots} }

// Slots returns the number of slots.
func (s *Semaphore) Slots() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.slots
}

// SetSlots changes the number of slots. Slots that are taken stay taken.
func (s *Semaphore) SetSlots(slots int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = slots
	s.grant()
}

// Halve halves the number of slots, but not below the least number. Slots that are taken stay taken.
func (s *Semaphore) Halve(least int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = min(s.slots, max(least, s.slots/2))
}

// Enter waits for a slot and takes it. Leave returns the slot and may be called more than once. The error is the cause
// of the context.
func (s *Semaphore) Enter(ctx context.Context, first bool) (leave func(), err error) {
	granted := make(chan struct{})
	queue := &s.others
	if first {
		queue = &s.first
	}
	s.mu.Lock()
	*queue = append(*queue, granted)
	s.grant()
	s.mu.Unlock()
	select {
	case <-granted:
		return sync.OnceFunc(s.leave), nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	at := slices.Index(*queue, granted)
	if at >= 0 {
		*queue = slices.Delete(*queue, at, at+1)
	}
	s.mu.Unlock()
	if at < 0 { // the slot was granted in the meantime
		s.leave()
	}
	return nil, context.Cause(ctx)
}

func (s *Semaphore) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	s.grant()
}

// grant gives free slots to those that wait. The caller holds the lock.
func (s *Semaphore) grant() {
	for s.taken < s.slots && len(s.first)+len(s.others) > 0 {
		queue := &s.first
		if len(s.first) == 0 {
			queue = &s.others
		}
		close((*queue)[0])
		*queue = (*queue)[1:]
		s.taken++
	}
}

// priorityKey is the key of the *atomic.Bool that all requests of a scenario share.
type priorityKey struct{}

// WithPriority returns a context for a scenario, or for making a shared fixture, that can be prioritized.
func WithPriority(ctx context.Context) context.Context {
	return context.WithValue(ctx, priorityKey{}, &atomic.Bool{})
}

// Prioritize sends the requests of the scenario before those of others from now on. Call it for a scenario that holds a
// run in progress, since its next requests must arrive before that run ends.
func Prioritize(ctx context.Context) {
	if priority, is := ctx.Value(priorityKey{}).(*atomic.Bool); is {
		priority.Store(true)
	}
}

// IsPrioritized reports whether Prioritize was called for the scenario of the context.
func IsPrioritized(ctx context.Context) bool {
	priority, is := ctx.Value(priorityKey{}).(*atomic.Bool)
	return is && priority.Load()
}

// racingKey is the key of contexts whose requests are not limited.
type racingKey struct{}

// Racing returns a context for requests that must be in flight at the same time. They do not count toward the limit of
// requests in flight, so that none of them waits for a slot while another one is answered.
func Racing(ctx context.Context) context.Context { return context.WithValue(ctx, racingKey{}, true) }

func isRacing(ctx context.Context) bool { return ctx.Value(racingKey{}) != nil }
