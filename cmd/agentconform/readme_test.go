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
	declared := 0 // at most by one fault: five where a rollback deletes nothing, since each rule about it stands by itself
	for _, f := range faults.All() {
		declared = max(declared, 1+len(f.Also))
	}
	assert.LessOrEqual(t, declared, 5, "a mutant fails more than 5 requirements: the suite checks the same thing twice")
	assert.LessOrEqual(t, shown.MaxFailures, declared)
	assert.GreaterOrEqual(t, n, 150)
	assert.GreaterOrEqual(t, v, 25)
}
