package shared

import (
	"context"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// Turns bound how much is in progress at the target at the same time. What is in progress has a name; all that is in
// progress under one name counts once. When something is over is estimated, unless it was seen.
type Turns[T comparable] struct {
	places *client.Semaphore
	mu     sync.Mutex
	byName map[string]*turn[T]
}

// turn is what is in progress under a name.
type turn[T comparable] struct {
	last  T
	until time.Time   // zero while the target has not answered
	over  *time.Timer // ends it at that time
	leave func()      // gives its places back
}

// NewTurns returns turns with so many places.
func NewTurns[T comparable](places int) *Turns[T] {
	return &Turns[T]{places: client.NewSemaphore(places), byName: map[string]*turn[T]{}}
}

// SetPlaces changes how much may be in progress at the same time.
func (t *Turns[T]) SetPlaces(places int) { t.places.SetPlaces(places) }

// Begin waits until there are so many places, and takes them together for the name. It has one already where something
// is in progress.
func (t *Turns[T]) Begin(ctx context.Context, name string, places int) error {
	t.mu.Lock()
	has := t.byName[name] != nil
	t.mu.Unlock()
	if has {
		return nil
	}
	leave, err := t.places.Enter(ctx, places)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName[name] != nil { // another request of the same name came first
		leave()
		return nil
	}
	t.byName[name] = &turn[T]{leave: leave}
	return nil
}

// Started notes what is in progress under the name, and for how long from a time on. It comes after what was started
// there before, unless it replaces that.
func (t *Turns[T]) Started(name string, item T, from time.Time, hold time.Duration, replaces bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.byName[name]
	if p == nil {
		p = &turn[T]{leave: func() {}}
		t.byName[name] = p
	}
	if !replaces && p.until.After(from) {
		from = p.until
	}
	if p.over != nil {
		p.over.Stop()
	}
	until := from.Add(hold)
	p.last, p.until = item, until
	p.over = time.AfterFunc(time.Until(p.until), func() { t.end(name, until) })
}

// end ends what is in progress under the name, if it has not been prolonged meanwhile.
func (t *Turns[T]) end(name string, until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.byName[name]; p != nil && p.until.Equal(until) {
		t.free(name)
	}
}

// Refused notes that nothing was started: the places are free, unless something else is in progress under the name.
func (t *Turns[T]) Refused(name string) { t.end(name, time.Time{}) }

// Over notes that the item is over, and with it what was started before it under the same name.
func (t *Turns[T]) Over(item T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, p := range t.byName {
		if p.last == item {
			t.free(name)
		}
	}
}

// End is when all that is known to be in progress is over, as far as can be estimated; a time that has passed, if nothing is.
func (t *Turns[T]) End() (end time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.byName {
		if p.until.After(end) {
			end = p.until
		}
	}
	return end
}

func (t *Turns[T]) free(name string) {
	t.byName[name].leave()
	delete(t.byName, name)
}
