package shared

import (
	"context"
	"sync"
	"time"
)

// Turns bound how much is in progress at the target at the same time. What is in progress has a place, by its name; all that one
// place does counts once. When something is over is estimated, unless it was seen. The zero value has no bound.
type Turns[T comparable] struct {
	mu      sync.Mutex
	limit   int
	places  map[string]*place[T]
	changed chan struct{} // closed, and replaced, when a place has become free
}

// place is where something is in progress.
type place[T comparable] struct {
	last  T
	until time.Time // zero while the target has not answered
}

// SetLimit bounds the number of places; 0 removes the bound.
func (t *Turns[T]) SetLimit(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.limit = n
}

// Enter waits until there is a place of the name.
func (t *Turns[T]) Enter(ctx context.Context, name string) error {
	for {
		wait, changed := t.take(name)
		if wait == 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		timer.Stop()
	}
}

// take takes the place, or tells for how long to wait at most before trying again.
func (t *Turns[T]) take(name string) (wait time.Duration, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.init()
	wait = time.Second
	for other, p := range t.places {
		if p.until.IsZero() {
			continue
		}
		left := time.Until(p.until)
		if left <= 0 {
			delete(t.places, other)
			continue
		}
		wait = min(wait, left)
	}
	if t.places[name] == nil {
		if t.limit > 0 && len(t.places) >= t.limit {
			return wait, t.changed
		}
		t.places[name] = &place[T]{}
	}
	return 0, nil
}

// Started notes what is in progress at the place, and for how long from a time on. It comes after what was started there
// before, unless it replaces that.
func (t *Turns[T]) Started(name string, item T, from time.Time, hold time.Duration, replaces bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.init()
	p := t.places[name]
	if p == nil {
		p = &place[T]{}
		t.places[name] = p
	}
	if !replaces && p.until.After(from) {
		from = p.until
	}
	p.last, p.until = item, from.Add(hold)
}

// Refused notes that nothing was started: the place is free, unless something else is in progress there.
func (t *Turns[T]) Refused(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.places[name]; p != nil && p.until.IsZero() {
		t.free(name)
	}
}

// Over notes that the item is over, and with it what was started before it at the same place.
func (t *Turns[T]) Over(item T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, p := range t.places {
		if p.last == item {
			t.free(name)
		}
	}
}

// End is when all that is known to be in progress is over, as far as can be estimated; a time that has passed, if nothing is.
func (t *Turns[T]) End() (end time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.places {
		if p.until.After(end) {
			end = p.until
		}
	}
	return end
}

func (t *Turns[T]) init() {
	if t.places == nil {
		t.places, t.changed = map[string]*place[T]{}, make(chan struct{})
	}
}

func (t *Turns[T]) free(name string) {
	delete(t.places, name)
	close(t.changed)
	t.changed = make(chan struct{})
}
