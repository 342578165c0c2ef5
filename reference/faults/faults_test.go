package faults

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/deviate"
)

// TestCatalogue reads all rows. The name of a row selects it in Find and --only, so it must be unique, also among those
// that are written in Go.
func TestCatalogue(t *testing.T) {
	names := map[string]bool{}
	for _, f := range All() {
		require.False(t, names[f.Name], f.Name)
		require.LessOrEqual(t, len(f.Also), 1, "%s fails more than two requirements: use @after in the features", f.Name)
		names[f.Name] = true
	}
	for _, v := range EquivalentMutants() {
		require.False(t, names[v.Name], v.Name)
		names[v.Name] = true
	}
	for _, n := range NullImplementations() {
		require.False(t, names[n.Name], n.Name)
		names[n.Name] = true
	}
}

func TestCheckReturnsPlaceOfError(t *testing.T) {
	row := deviate.Row{Name: "a", Fails: "CP-LIST-2", Where: "rows/x.yaml:1"}
	same, unknown, also := row, row, row
	same.Where, unknown.Fails, also.Also = "rows/y.yaml:2", "CP-LIST-999", map[string]string{"CP-NONE-1": "why"}
	require.NoError(t, check([]*deviate.Row{&row}))
	require.EqualError(t, check([]*deviate.Row{&row, &same}), "rows/y.yaml:2: the name a is used twice, first at rows/x.yaml:1")
	require.EqualError(t, check([]*deviate.Row{&unknown}), "rows/x.yaml:1: a: unknown requirement CP-LIST-999")
	require.EqualError(t, check([]*deviate.Row{&also}), "rows/x.yaml:1: a: unknown requirement CP-NONE-1")
}
