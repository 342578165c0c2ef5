package shared_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

// TestAPanicOfABuilderIsAnErrorForAllWhoAsk checks that the process continues and reports the panic.
func TestAPanicOfABuilderIsAnErrorForAllWhoAsk(t *testing.T) {
	m := shared.NewMaker(t.Context())
	for range 2 {
		_, err := shared.Get(t.Context(), m, "a thread", func(context.Context) (int, error) { panic("no thread") })
		assert.True(t, outcome.Is(err, reports.Inconclusive), "%v", err)
		assert.ErrorContains(t, err, "making a thread: panic: no thread")
	}
	m.Wait()
}

func TestRepeatMakesValuesAnew(t *testing.T) {
	m := shared.NewMaker(t.Context())
	made := map[string]int{}
	use := func() {
		for range 2 {
			_, _ = shared.Keep(t.Context(), m, "a deployment", func(context.Context) (int, error) { made["deployment"]++; return 0, nil })
			_, _ = shared.Get(t.Context(), m, "a thread", func(context.Context) (int, error) { made["thread"]++; return 0, nil })
		}
	}
	use()
	stays := m.Repeat()
	use()
	assert.Equal(t, map[string]int{"deployment": 1, "thread": 2}, made)
	assert.True(t, stays("fixture: a deployment"))
	assert.True(t, stays("fixture: the first request"), "it is not made by the maker")
	assert.False(t, stays("fixture: a thread"))
	assert.False(t, stays("agent_server/run.feature:5 a scenario"))
}
