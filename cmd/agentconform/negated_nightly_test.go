//go:build nightly

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestEveryAnswerNegated takes all answers of a run.
func TestEveryAnswerNegated(t *testing.T) {
	t.Parallel()
	assert.Greater(t, assertNegatedAnswersAreRefused(t, exchangesWithReference(t)), 2000)
}
