package shared

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTurns lets no more places be taken than the limit, whatever ends first: what is in progress, its time, or its refusal.
func TestTurns(t *testing.T) {
	q := &Turns[string]{}
	full := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := q.Enter(ctx, "another")
		if err == nil {
			q.Refused("another")
		}
		return err != nil
	}
	q.SetLimit(1)
	require.NoError(t, q.Enter(t.Context(), "one"))
	assert.True(t, full(), "not answered yet")
	q.Started("one", "long", time.Now(), time.Minute, false)
	assert.True(t, full())
	require.NoError(t, q.Enter(t.Context(), "one"), "it has its place")
	q.Started("one", "next", time.Now(), time.Minute, false)
	q.Over("long")
	assert.True(t, full(), "the next one goes on")
	q.Over("next")
	assert.False(t, full())

	require.NoError(t, q.Enter(t.Context(), "one"))
	q.Refused("one")
	assert.False(t, full(), "refused")

	require.NoError(t, q.Enter(t.Context(), "one"))
	q.Started("one", "long", time.Now(), time.Minute, false)
	q.Refused("one")
	assert.True(t, full(), "a second one was refused")
	q.Started("one", "short", time.Now(), 10*time.Millisecond, true)
	require.NoError(t, q.Enter(t.Context(), "two"), "its time is over")

	q.SetLimit(0)
	require.NoError(t, q.Enter(t.Context(), "three"))
	require.NoError(t, q.Enter(t.Context(), "four"))
}
