package suite

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
)

// TestDefinitions checks that each definition is used, and that the list of a definition's features is complete and
// correct.
func TestDefinitions(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	all, err := Definitions(catalogue)
	require.NoError(t, err)
	found := func(keyword, pattern string) *Definition {
		i := slices.IndexFunc(all, func(d *Definition) bool { return d.Keyword == keyword && d.Pattern == pattern })
		require.GreaterOrEqual(t, i, 0, "%s %s", keyword, pattern)
		return all[i]
	}
	for _, d := range all {
		assert.Positive(t, d.Scenarios, "no scenario uses %s %s", d.Keyword, d.Pattern)
		assert.NotEmpty(t, d.Example, d.Pattern)
	}
	assert.Equal(t, []string{"end_to_end.feature"}, found("When", "the user calls its agent server").Features)
	everywhere := found("When", "all exchanges of the test run are read")
	assert.Len(t, everywhere.Features, len(catalogue.Files))
	rejoins := found("When", `the user starts a (long|longer) run, and joins it( twice at the same time)?`)
	assert.Equal(t, []string{"agent_server/runs.feature"}, rejoins.Features)
	assert.Contains(t, rejoins.Example, "the user starts a long")
}
