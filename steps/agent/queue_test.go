package agent

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
)

func acceptedRun(id string, o Order) *GraphRun {
	return &GraphRun{ID: id, Order: o, Answer: &client.Answer{Sent: time.Now()}}
}

// TestQueueOfRuns lets no more threads be busy than the limit, whatever ends first: the run, its time, or its refusal.
func TestQueueOfRuns(t *testing.T) {
	full := func(q *queue) bool {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		err := q.enter(ctx, "another")
		if err == nil {
			q.started("another", nil, 0)
		}
		return err != nil
	}
	q := &queue{}
	q.setLimit(1)
	require.NoError(t, q.enter(t.Context(), "one"))
	assert.True(t, full(q), "not answered yet")
	long := acceptedRun("r", Order{Hold: time.Minute})
	q.started("one", long, 0)
	assert.True(t, full(q))
	require.NoError(t, q.enter(t.Context(), "one"), "the runs of a thread wait for each other anyway")
	next := acceptedRun("s", Order{})
	q.started("one", next, time.Minute)
	q.over(long)
	assert.True(t, full(q), "the next one goes on")
	q.over(next)
	assert.False(t, full(q))

	require.NoError(t, q.enter(t.Context(), "one"))
	q.started("one", acceptedRun("", Order{Hold: time.Minute}), 0)
	assert.False(t, full(q), "refused")

	require.NoError(t, q.enter(t.Context(), "one"))
	q.started("one", acceptedRun("t", Order{Hold: 10 * time.Millisecond}), 0)
	require.NoError(t, q.enter(t.Context(), "two"), "its time is over")

	q.setLimit(0)
	require.NoError(t, q.enter(t.Context(), "three"))
	require.NoError(t, q.enter(t.Context(), "four"))
}

func TestWordsOfAnOrder(t *testing.T) {
	assert.Empty(t, Order{}.words())
	assert.Equal(t, []Word{Wait, Whoami}, Order{Words: "whoami", Hold: time.Second}.words())
	assert.Equal(t, []Word{EarlyWrite, Fail}, Order{Words: "fail", Hold: time.Second, written: true}.words())
	assert.Equal(t, []Word{ToolCall}, Order{Words: Tool}.words())
}
