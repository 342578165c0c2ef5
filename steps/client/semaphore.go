package client

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// Semaphore limits the number of simultaneous operations. Prioritized scenarios get a free slot first. The others follow
// in the order of arrival, except that the first request of a scenario is last: scenarios end before others begin, so
// that the requests of each are close together.
type Semaphore struct {
	mu           sync.Mutex
	slots, taken int
	most         int      // slots, if they were not halved
	waiting      []waiter // in the order of arrival
}

type waiter struct {
	rank    *atomic.Int32 // of the scenario, which may change while the request waits
	granted chan struct{} // closed to grant the slot
}

// The ranks of scenarios, in the order in which they get a slot.
const (
	prioritized int32 = iota
	begun             // also fixtures, since scenarios wait for them
	notBegun
)

// NewSemaphore returns a semaphore with the number of slots.
func NewSemaphore(slots int) *Semaphore { return &Semaphore{slots: slots, most: slots} }

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
	s.slots, s.most = slots, slots
	s.grant()
}

// Halve halves the number of slots, but not below the least number. Slots that are taken stay taken.
func (s *Semaphore) Halve(least int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = min(s.slots, max(least, s.slots/2))
}

// Double doubles the number of slots after Halve, and reports whether the original number is restored.
func (s *Semaphore) Double() (all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slots = min(s.most, 2*s.slots)
	s.grant()
	return s.slots == s.most
}

// Enter waits for a slot and takes it. Leave releases the slot and may be called more than once. The error is the cause
// of the context.
func (s *Semaphore) Enter(ctx context.Context) (leave func(), err error) {
	return s.enter(ctx, rankOf(ctx))
}

func (s *Semaphore) enter(ctx context.Context, rank *atomic.Int32) (leave func(), err error) {
	w := waiter{rank, make(chan struct{})}
	s.mu.Lock()
	s.waiting = append(s.waiting, w)
	s.grant()
	s.mu.Unlock()
	select {
	case <-w.granted:
		return sync.OnceFunc(s.leave), nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	at := slices.Index(s.waiting, w)
	if at >= 0 {
		s.waiting = slices.Delete(s.waiting, at, at+1)
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

// grant gives free slots to the first waiting callers. The caller holds the lock.
func (s *Semaphore) grant() {
	for s.taken < s.slots && len(s.waiting) > 0 {
		first := 0
		for i, w := range s.waiting {
			if w.rank.Load() < s.waiting[first].rank.Load() {
				first = i
			}
		}
		s.taken++
		close(s.waiting[first].granted)
		s.waiting[first].rank.CompareAndSwap(notBegun, begun)
		s.waiting = slices.Delete(s.waiting, first, first+1)
	}
}

// rankKey is the key of the *atomic.Int32 that all requests of a scenario share.
type rankKey struct{}

// ForScenario returns a context for the requests of a scenario.
func ForScenario(ctx context.Context) context.Context { return withRank(ctx, notBegun) }

// ForFixture returns a context for the requests that make a fixture.
func ForFixture(ctx context.Context) context.Context { return withRank(ctx, begun) }

func withRank(ctx context.Context, rank int32) context.Context {
	shared := &atomic.Int32{}
	shared.Store(rank)
	return context.WithValue(ctx, rankKey{}, shared)
}

// rankOf returns the rank of the scenario or fixture. Any other context gets a new rank.
func rankOf(ctx context.Context) *atomic.Int32 {
	rank, is := ctx.Value(rankKey{}).(*atomic.Int32)
	if !is {
		rank = &atomic.Int32{}
		rank.Store(notBegun)
	}
	return rank
}

// Prioritize gives the requests of the scenario or fixture precedence from now on. Call it before a run is held in
// progress, since the next requests must arrive before that run ends, and for a scenario that holds a deployment for
// which others wait.
func Prioritize(ctx context.Context) { rankOf(ctx).Store(prioritized) }

type racingKey struct{}

// Racing returns a context for requests that must be in flight at the same time. They do not count toward the limit of
// requests in flight, because one might wait for a slot while another waits for its response.
func Racing(ctx context.Context) context.Context { return context.WithValue(ctx, racingKey{}, true) }

func isRacing(ctx context.Context) bool { return ctx.Value(racingKey{}) != nil }
