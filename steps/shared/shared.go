// Package shared makes the fixtures that the scenarios of a test run share. Each is made when the first scenario needs
// it. Start with [Maker].
package shared

import (
	"context"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Maker makes shared values in the background. It uses the context of the test run and not that of the first scenario,
// because other scenarios also depend on the values.
type Maker struct {
	ctx    context.Context
	wait   sync.WaitGroup
	values sync.Map // each a *value, by name

	mu   sync.Mutex
	uses map[string][]string // names of the values that a scenario or fixture asked for
}

// NewMaker returns a maker that stops when the context ends.
func NewMaker(ctx context.Context) *Maker { return &Maker{ctx: ctx, uses: map[string][]string{}} }

// Wait waits until no value is being made.
func (m *Maker) Wait() { m.wait.Wait() }

// Attribution returns the name to which the exchanges for making a value are attributed.
func Attribution(name string) string { return "fixture: " + name }

// Uses returns the names of the values that the scenario asked for, and of the values that these are made from.
func (m *Maker) Uses(scenario string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := slices.Clone(m.uses[scenario])
	for i := 0; i < len(found); i++ {
		for _, below := range m.uses[Attribution(found[i])] {
			if !slices.Contains(found, below) {
				found = append(found, below)
			}
		}
	}
	return found
}

// UsedBy returns the attributions of the values that a scenario or a fixture has directly asked for.
func (m *Maker) UsedBy(attribution string) (all []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range m.uses[attribution] {
		all = append(all, Attribution(name))
	}
	return all
}

func (m *Maker) noteUse(scenario, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.uses[scenario], name) {
		m.uses[scenario] = append(m.uses[scenario], name)
	}
}

// Repeat begins another repetition of the scenarios: it forgets all values except those of [Keep]. Call it only after
// [Maker.Wait]. It returns a function that reports whether the value of a fixture stays, by the
// attribution of its exchanges.
func (m *Maker) Repeat() (stays func(attribution string) bool) {
	isDropped := map[string]bool{}
	m.values.Range(func(name, v any) bool {
		if !v.(interface{ isKept() bool }).isKept() {
			m.values.Delete(name)
			isDropped[Attribution(name.(string))] = true
		}
		return true
	})
	stays = func(attribution string) bool {
		return strings.HasPrefix(attribution, Attribution("")) && !isDropped[attribution]
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.uses, func(user string, _ []string) bool { return !stays(user) })
	return stays
}

func (v *value[T]) isKept() bool { return v.stays }

// value is a shared value. Its fields are read after ready is closed.
type value[T any] struct {
	stays bool // in all repetitions
	ready chan struct{}
	value T
	err   error
}

// Get returns the value with the name. The first call makes it with build, whose exchanges are attributed to the fixture
// with this name. The error is the error of build, as an error of the fixture, or the cause of the context. A panic in
// build is an error of the suite.
func Get[T any](ctx context.Context, m *Maker, name string, build func(context.Context) (T, error)) (T, error) {
	return get(ctx, m, name, false, build)
}

// Keep is [Get] for a value that all repetitions share, because making it takes long.
func Keep[T any](ctx context.Context, m *Maker, name string, build func(context.Context) (T, error)) (T, error) {
	return get(ctx, m, name, true, build)
}

func get[T any](ctx context.Context, m *Maker, name string, stays bool, build func(context.Context) (T, error)) (T, error) {
	m.noteUse(evidence.Scenario(ctx), name)
	found, isFound := m.values.LoadOrStore(name, &value[T]{stays: stays, ready: make(chan struct{})})
	v := found.(*value[T])
	if !isFound {
		m.wait.Go(func() {
			defer close(v.ready)
			defer func() {
				if reason := recover(); reason != nil {
					v.err = outcome.SuiteError("making %s: panic: %v\n%s", name, reason, debug.Stack())
				}
			}()
			v.value, v.err = build(client.ForFixture(evidence.WithScenario(m.ctx, Attribution(name), 0)))
		})
	}
	select {
	case <-v.ready: // even if the context has ended
	default:
		select {
		case <-v.ready:
		case <-ctx.Done():
			var none T
			return none, context.Cause(ctx)
		}
	}
	return v.value, outcome.OfFixture(name, v.err)
}
