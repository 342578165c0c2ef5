package main

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/spec/requirements"
)

// isReleased reports whether a set has the tables of judgements, which are written for a release.
func isReleased(version string) bool {
	_, err := os.Stat("../../" + folder + "/" + version + ".txtar")
	return err == nil
}

// TestSets compares the sets with the current requirements. The set of the next release has exactly these. A released set
// may lack some. Each of its scenarios and harmless servers must still exist, or changes.yaml must explain why it does
// not.
func TestSets(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	for _, version := range requirements.Versions() {
		set, err := requirements.Load(version)
		require.NoError(t, err)
		now := setOf(version, catalogue)
		if !isReleased(version) {
			want, err := now.Encode()
			require.NoError(t, err)
			got, err := os.ReadFile("../../" + folder + "/" + version + ".yaml")
			require.NoError(t, err)
			assert.True(t, bytes.Equal(want, got), "%s/%s.yaml is out of date: run make requirements", folder, version)
			continue
		}
		for id, q := range set.Requirements {
			for digest, name := range q.Scenarios {
				assert.True(t, now.Has(id, digest), "%s, %q is in set %s: name its new digest, or why it was withdrawn, in changes.yaml",
					id, name, version)
			}
		}
		for name, also := range set.Equivalents {
			fails, exists := now.Equivalents[name]
			assert.True(t, exists, "the harmless server %s is in set %s", name, version)
			assert.Empty(t, slices.DeleteFunc(fails, func(id string) bool { return slices.Contains(also, id) }),
				"the harmless server %s fails more than at the release %s", name, version)
		}
	}
}
