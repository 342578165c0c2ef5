package prover

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// waitForNothing never returns.
func waitForNothing() { select {} }

func TestDeadlockReturnsStacksOfBubble(t *testing.T) {
	err := inBubble(t, func(context.Context, environment) { waitForNothing() })
	require.ErrorContains(t, err, "deadlock")
	assert.ErrorContains(t, err, "prover.waitForNothing")
	assert.NotContains(t, err.Error(), "testing.(*M).Run", "the stack of a goroutine outside the bubble")

	require.NoError(t, inBubble(t, func(context.Context, environment) { time.Sleep(time.Hour) }))
}

func TestPanicReturnsStack(t *testing.T) {
	err := inBubble(t, func(context.Context, environment) { panic("a mistake") })
	require.ErrorContains(t, err, "panic: a mistake")
	assert.ErrorContains(t, err, "bubble_self_test.go")
}

func TestRowIsCanceledAfterLongestRow(t *testing.T) {
	err := inBubble(t, func(ctx context.Context, _ environment) {
		for ctx.Err() == nil {
			time.Sleep(time.Minute)
		}
	})
	require.NoError(t, err)
}
