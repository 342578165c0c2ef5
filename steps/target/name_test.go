package target

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
)

// TestNamesOfARunThatGoesOn are others than those of its first part, and still those of the run.
func TestNamesOfARunThatGoesOn(t *testing.T) {
	c := config.Default()
	seen := map[string]bool{}
	for _, part := range []int{0, 2, 3} {
		tt, err := New(Options{Config: &c, Concurrency: 1, RunID: "0a1b2c3d", Part: part})
		require.NoError(t, err)
		for range 2 {
			name := tt.Name("shared")
			assert.Equal(t, "0a1b2c3d", RunOf(name))
			assert.False(t, seen[name], name)
			seen[name] = true
		}
	}
}
