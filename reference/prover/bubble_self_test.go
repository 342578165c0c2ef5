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

// TestADeadlockIsAnErrorWithTheStacksOfItsBubble has one row wait for nothing. The others go on.
func TestADeadlockIsAnErrorWithTheStacksOfItsBubble(t *testing.T) {
	err := inBubble(t, func(context.Context, environment) { waitForNothing() })
	require.ErrorContains(t, err, "deadlock")
	assert.ErrorContains(t, err, "prover.waitForNothing")
	assert.NotContains(t, err.Error(), "testing.(*M).Run", "the stack of a goroutine outside")

	require.NoError(t, inBubble(t, func(context.Context, environment) { time.Sleep(time.Hour) }))
}

// TestAPanicIsAnErrorWithItsStack has one row panic.
func TestAPanicIsAnErrorWithItsStack(t *testing.T) {
	err := inBubble(t, func(context.Context, environment) { panic("a mistake") })
	require.ErrorContains(t, err, "panic: a mistake")
	assert.ErrorContains(t, err, "bubble_self_test.go")
}

// TestARowEndsAfterItsTime has a row that would go on forever.
func TestARowEndsAfterItsTime(t *testing.T) {
	err := inBubble(t, func(ctx context.Context, _ environment) {
		for ctx.Err() == nil {
			time.Sleep(time.Minute)
		}
	})
	require.NoError(t, err)
}
