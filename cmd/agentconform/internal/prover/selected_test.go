package prover

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// TestOneFaultOfEachRequirementIsAnExample expects one that the scenarios of the requirement meet, where there is one.
func TestOneFaultOfEachRequirementIsAnExample(t *testing.T) {
	fault := func(name, fails string, elsewhere bool) trial {
		return trial{row: proof.Row{Kind: proof.Fault, Name: name, Fails: fails}, elsewhere: elsewhere}
	}
	var names []string
	for _, c := range examples([]trial{
		{row: proof.Row{Kind: proof.Pristine, Name: "reference"}}, {row: proof.Row{Kind: proof.Equivalent, Name: "v"}},
		fault("f", "CP-A-1", true), fault("g", "CP-A-1", false), fault("h", "CP-A-1", false), fault("i", "CP-B-1", true),
	}) {
		names = append(names, c.row.Name)
	}
	assert.Equal(t, []string{"reference", "g", "i"}, names)
}
