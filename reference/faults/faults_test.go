package faults

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/deviate"
)

func catalogue(t *testing.T) *features.Catalogue {
	t.Helper()
	c, err := features.Load()
	require.NoError(t, err)
	return c
}

var wellFormedName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func TestNamesAreWellFormedAndUnique(t *testing.T) {
	seen := map[string]bool{}
	check := func(name, sentence string) {
		require.Regexp(t, wellFormedName, name)
		require.False(t, seen[name], "duplicate name %s", name)
		seen[name] = true
		require.NotEmpty(t, sentence, name)
		require.False(t, strings.HasSuffix(sentence, "."), "%s: a sentence in tables has no full stop", name)
	}
	for _, f := range All() {
		check(f.Name, f.Breaks)
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

func TestFaultsBreakKnownRequirements(t *testing.T) {
	c := catalogue(t)
	for _, f := range All() {
		require.NotNil(t, c.Find(f.Fails), "%s fails %s, which is not a requirement", f.Name, f.Fails)
		require.NotNil(t, f.Apply, f.Name)
		require.Contains(t, []string{"", selfHosted}, f.Edition, f.Name)
		for id, reason := range f.Also {
			require.NotNil(t, c.Find(id), "%s also fails %s, which is not a requirement", f.Name, id)
			require.NotEqual(t, f.Fails, id, f.Name)
			require.NotEmpty(t, reason, "%s gives no reason why %s fails too", f.Name, id)
		}
		require.LessOrEqual(t, len(f.Also), 1, "%s has more than two causes: say in the features which failure explains which", f.Name)
	}
}

func TestFindGivesLayersAndEdition(t *testing.T) {
	layers, edition, err := Find("image-makes-no-revision", "pretty-printed")
	require.NoError(t, err)
	require.Len(t, layers, 2)
	require.Equal(t, selfHosted, edition)

	layers, edition, err = Find()
	require.NoError(t, err)
	require.Empty(t, layers)
	require.Empty(t, edition)

	_, _, err = Find("limit-100-is-refused", "no-such-fault")
	require.ErrorContains(t, err, "no-such-fault")
}

// TestLayersCanBeCombined starts no server: a layer must need only options.
func TestLayersCanBeCombined(t *testing.T) {
	var o reference.Options
	for _, f := range All() {
		f.Apply(&o)
	}
	for _, v := range EquivalentMutants() {
		v.Apply(&o)
	}
	require.NotNil(t, o.WrapHTTP)
	require.NotNil(t, o.WrapControl)
	require.NotNil(t, o.WrapAgent)
}
