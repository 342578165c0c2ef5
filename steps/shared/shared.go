// Package shared holds what the scenarios of a run share: values that the first who needs them has made. It knows
// nothing of what they are.
package shared

import (
	"context"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Maker makes shared values in the background, under the context of the run and not under that of the scenario which
// happens to come first, since others depend on them too.
type Maker struct {
	ctx    context.Context
	wait   sync.WaitGroup
	values sync.Map // each a *value, by name

	mu   sync.Mutex
	uses map[string][]string // by what evidence is attributed to: names of values
}

// NewMaker returns a maker whose values are no longer made when the context ends.
func NewMaker(ctx context.Context) *Maker { return &Maker{ctx: ctx, uses: map[string][]string{}} }

// Wait returns when nothing is being made any more.
func (m *Maker) Wait() { m.wait.Wait() }

// Attribution is what the evidence of a value's making is attributed to.
func Attribution(name string) string { return "fixture: " + name }

// Uses returns the names of the values that the scenario asked for, and of those that they are made from.
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

func (m *Maker) noteUse(scenario, name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Contains(m.uses[scenario], name) {
		m.uses[scenario] = append(m.uses[scenario], name)
	}
}

// value is one that scenarios share, to be read once it is ready.
type value[T any] struct {
	ready chan struct{} // closed when it was made
	value T
	err   error
}

// Get returns the value of the name, which build makes once, for the first who asks. The exchanges of that are
// attributed to the fixture of the name. The error is that of build, as one of the fixture, or that of the context. A
// panic of build is an error of the suite.
func Get[T any](ctx context.Context, m *Maker, name string, build func(context.Context) (T, error)) (T, error) {
	m.noteUse(evidence.Scenario(ctx), name)
	found, isFound := m.values.LoadOrStore(name, &value[T]{ready: make(chan struct{})})
	v := found.(*value[T])
	if !isFound {
		m.wait.Go(func() {
			defer close(v.ready)
			defer func() {
				if reason := recover(); reason != nil {
					v.err = outcome.SuiteError("making %s: panic: %v\n%s", name, reason, debug.Stack())
				}
			}()
			v.value, v.err = build(client.WithPriority(evidence.WithScenario(m.ctx, Attribution(name), 0)))
		})
	}
	select {
	case <-v.ready: // also where the context has ended
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
