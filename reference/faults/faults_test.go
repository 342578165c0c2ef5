package faults

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/deviate"
)

// TestNamesAreUnique: those of rows are when they are read.
func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	check := func(name, sentence string) {
		require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, name)
		require.False(t, seen[name], "duplicate name %s", name)
		seen[name] = true
		require.Regexp(t, `[^.]$`, sentence, "%s: a sentence in tables has no full stop", name)
	}
	for _, f := range All() {
		check(f.Name, f.Breaks)
		require.LessOrEqual(t, len(f.Also), 1, "%s has more than two causes: say in the features which failure explains which", f.Name)
	}
	for _, v := range EquivalentMutants() {
		check(v.Name, v.Differs)
	}
	for _, i := range NullImplementations() {
		check(i.Name, i.Is)
	}
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
