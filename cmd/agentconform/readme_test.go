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

// TestFiguresInTheReadmeAreThoseOfAFullSelfTest expects the README to count all present mutants. Only make proof can tell
// that the failures per mutant are right: it renews the figures, and fails if they have changed.
func TestFiguresInTheReadmeAreThoseOfAFullSelfTest(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	shown, err := proof.Shown(readme)
	require.NoError(t, err, "run agentconform prove --readme README.md")
	catalogue, err := features.Load()
	require.NoError(t, err)
	n, v, i := len(faults.All()), len(faults.EquivalentMutants()), len(faults.NullImplementations())
	want := proof.Figures{Requirements: len(catalogue.Requirements), Faults: n, Killed: n, Equivalents: v, Conformant: v, Nulls: i, Rejected: i,
		MedianFailures: 1, MaxFailures: shown.MaxFailures}
	assert.Equal(t, want, shown, "run agentconform prove --readme README.md")
	assert.LessOrEqual(t, shown.MaxFailures, 4, "a mutant fails more than 4 requirements: the suite checks the same thing twice")
	assert.GreaterOrEqual(t, n, 150)
	assert.GreaterOrEqual(t, v, 25)
}
