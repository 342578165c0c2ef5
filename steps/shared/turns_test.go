package shared

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTurns lets no more be in progress than there are places, whatever ends first: what is in progress, its time, or
// its refusal.
func TestTurns(t *testing.T) {
	q := NewTurns[string](1)
	full := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := q.Begin(ctx, "another", 1)
		if err == nil {
			q.Refused("another")
		}
		return err != nil
	}
	require.NoError(t, q.Begin(t.Context(), "one", 1))
	assert.True(t, full(), "not answered yet")
	q.Started("one", "long", time.Now(), time.Minute, false)
	assert.True(t, full())
	require.NoError(t, q.Begin(t.Context(), "one", 1), "it has its place")
	q.Started("one", "next", time.Now(), time.Minute, false)
	q.Over("long")
	assert.True(t, full(), "the next one goes on")
	q.Over("next")
	assert.False(t, full())

	require.NoError(t, q.Begin(t.Context(), "one", 1))
	q.Refused("one")
	assert.False(t, full(), "refused")

	require.NoError(t, q.Begin(t.Context(), "one", 1))
	q.Started("one", "long", time.Now(), time.Minute, false)
	q.Refused("one")
	assert.True(t, full(), "a second one was refused")
	q.Started("one", "short", time.Now(), 10*time.Millisecond, true)
	require.NoError(t, q.Begin(t.Context(), "two", 1), "its time is over")

	q.SetPlaces(4)
	require.NoError(t, q.Begin(t.Context(), "three", 1))
	require.NoError(t, q.Begin(t.Context(), "four", 1))
}
