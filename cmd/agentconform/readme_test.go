package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports/proof"
)

// TestFiguresInTheReadmeAreThoseOfAWholeProof wants the README to show a proof of everything that there is now. That
// the radii are right only a proof can tell: make proof renews the figures, and fails when they were others.
func TestFiguresInTheReadmeAreThoseOfAWholeProof(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	shown, err := proof.Shown(readme)
	require.NoError(t, err, "run agentconform prove --readme README.md")
	catalogue, err := features.Load()
	require.NoError(t, err)
	n, v, i := len(faults.All()), len(faults.Variations()), len(faults.Impostors())
	want := proof.Figures{Requirements: len(catalogue.Requirements), Faults: n, Caught: n, Variations: v, Green: v, Impostors: i, Unmasked: i,
		MedianRadius: 1, WidestRadius: shown.WidestRadius}
	assert.Equal(t, want, shown, "run agentconform prove --readme README.md")
	assert.LessOrEqual(t, shown.WidestRadius, 4, "a fault that turns more than three other requirements red is the suite's")
	assert.GreaterOrEqual(t, n, 150)
	assert.GreaterOrEqual(t, v, 25)
}
