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
