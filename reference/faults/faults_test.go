package faults

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/deviate"
)

// TestNamesAreUnique: those of rows are when they are read.
func TestNamesAreUnique(t *testing.T) {
	var names []string
	for _, f := range All() {
		names = append(names, f.Name)
		require.LessOrEqual(t, len(f.Also), 1, "%s has more than two causes: say in the features which failure explains which", f.Name)
	}
	for _, v := range EquivalentMutants() {
		names = append(names, v.Name)
	}
	for _, i := range NullImplementations() {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	require.Len(t, slices.Compact(slices.Clone(names)), len(names), "a name occurs twice: %v", names)
}

func TestMistakesInRowsAreToldWithTheirPlace(t *testing.T) {
	row := deviate.Row{Name: "a", Fails: "CP-LIST-2", Where: "rows/x.yaml:1"}
	same, unknown, also := row, row, row
	same.Where, unknown.Fails, also.Also = "rows/y.yaml:2", "CP-LIST-999", map[string]string{"CP-NONE-1": "why"}
	require.NoError(t, check([]*deviate.Row{&row}))
	require.EqualError(t, check([]*deviate.Row{&row, &same}), "rows/y.yaml:2: a is the name of the row at rows/x.yaml:1 too")
	require.EqualError(t, check([]*deviate.Row{&unknown}), "rows/x.yaml:1: a fails CP-LIST-999, which is not a requirement")
	require.EqualError(t, check([]*deviate.Row{&also}), "rows/x.yaml:1: a fails CP-NONE-1, which is not a requirement")
}
