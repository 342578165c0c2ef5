package steps

import (
	"context"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/steps/evidence"
)

// lazy is something that scenarios share: made once, by the first that needs it. Its zero value is ready for use.
type lazy[T any] struct {
	once  sync.Once
	ready chan struct{}
	value T
	err   error
}

// get returns the value, made under the run's context and not the scenario's, since others depend on it too.
func (l *lazy[T]) get(ctx context.Context, r *run, name string, build func(context.Context) (T, error)) (T, error) {
	l.once.Do(func() {
		l.ready = make(chan struct{})
		r.background.Go(func() {
			defer close(l.ready)
			l.value, l.err = build(evidence.WithScenario(r.ctx, "fixture: "+name, 0))
		})
	})
	select {
	case <-l.ready:
		return l.value, l.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// lazyList is a list without repetitions that many goroutines add to.
type lazyList[T comparable] struct {
	mu    sync.Mutex
	items []T
}

// add tells whether the item was not there yet.
func (l *lazyList[T]) add(item T) (isNew bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if isNew = !slices.Contains(l.items, item); isNew {
		l.items = append(l.items, item)
	}
	return isNew
}

func (l *lazyList[T]) all() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.items)
}
