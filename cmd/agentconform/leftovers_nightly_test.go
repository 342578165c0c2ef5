//go:build nightly

package main

import "testing"

// TestTwoWholeRunsInOneTenant runs the whole suite twice at once: at both halves, at an agent server alone, and there
// with --keep.
func TestTwoWholeRunsInOneTenant(t *testing.T) {
	t.Parallel()
	t.Run("whole", func(t *testing.T) { assertRunsAtOnceAreIndependent(t, startWith(t, false), false) })
	agent := startWith(t, true)
	t.Run("agent server", func(t *testing.T) { assertRunsAtOnceAreIndependent(t, agent, false) })
	t.Run("kept", func(t *testing.T) { assertRunsAtOnceAreIndependent(t, agent, true) })
}
