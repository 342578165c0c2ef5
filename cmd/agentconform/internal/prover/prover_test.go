package prover

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports/proof"
)

// TestAPartialRunHasItsControls expects the unmodified reference in every partial run, and all equivalent mutants with an ID.
func TestAPartialRunHasItsControls(t *testing.T) {
	all := func() []trial {
		return []trial{
			{row: proof.Row{Kind: proof.Pristine, Name: "reference"}}, {row: proof.Row{Kind: proof.Equivalent, Name: "v"}},
			{row: proof.Row{Kind: proof.Null, Name: "i"}}, {row: proof.Row{Kind: proof.Fault, Name: "f", Fails: "CP-A-1"}},
			{row: proof.Row{Kind: proof.Fault, Name: "g", Fails: "CP-B-1"}},
		}
	}
	for only, want := range map[string][]string{
		"f":      {"reference", "f"},
		"i":      {"reference", "i"},
		"CP-A-1": {"reference", "v", "f"},
	} {
		chosen, err := selected(all(), []string{only})
		require.NoError(t, err)
		var names []string
		for _, c := range chosen {
			names = append(names, c.row.Name)
		}
		assert.Equal(t, want, names, only)
	}
	_, err := selected(all(), []string{"nothing"})
	assert.ErrorContains(t, err, "--only nothing")
}

// TestInvariantsMayBeSeenBesideTheRequirementThatAFaultBreaks also shows where they may not: of the reference and of equivalent
// mutants, where the fault survived, and where another invariant is the one that it breaks.
func TestInvariantsMayBeSeenBesideTheRequirementThatAFaultBreaks(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	p := &prover{catalogue: catalogue}
	for name, c := range map[string]struct {
		row         proof.Row
		failed      []string
		red, beside []string
	}{
		"beside":                {proof.Row{Kind: proof.Fault, Fails: "CP-GET-1"}, []string{"CP-GET-1", "CP-INVARIANT-1"}, []string{"CP-GET-1"}, []string{"CP-INVARIANT-1"}},
		"others are undeclared": {proof.Row{Kind: proof.Fault, Fails: "CP-GET-1"}, []string{"CP-GET-1", "CP-GET-2"}, []string{"CP-GET-1", "CP-GET-2"}, nil},
		"survived":              {proof.Row{Kind: proof.Fault, Fails: "CP-GET-1"}, []string{"CP-INVARIANT-1"}, []string{"CP-INVARIANT-1"}, nil},
		"of an invariant":       {proof.Row{Kind: proof.Fault, Fails: "CP-INVARIANT-2"}, []string{"CP-INVARIANT-1", "CP-INVARIANT-2"}, []string{"CP-INVARIANT-1", "CP-INVARIANT-2"}, nil},
		"equivalent":            {proof.Row{Kind: proof.Equivalent}, []string{"CP-INVARIANT-1"}, []string{"CP-INVARIANT-1"}, nil},
		"nothing":               {proof.Row{Kind: proof.Equivalent}, nil, []string{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			red, beside := p.apart(&c.row, c.failed)
			assert.Equal(t, c.red, red)
			assert.Equal(t, c.beside, beside)
		})
	}
}
