package mutants

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAll(t *testing.T) {
	all, err := All()
	require.NoError(t, err)
	controlled := map[Group]bool{}
	names := map[string]bool{}
	for _, m := range all {
		assert.False(t, names[m.Name], "two mutants are named %s", m.Name)
		names[m.Name] = true
		controlled[m.Group] = controlled[m.Group] || m.Control
		assert.NotEmpty(t, m.Does, m.Name)
	}
	for _, g := range []Group{Answers, Parameters, Bodies, Access} {
		assert.True(t, controlled[g], "no mutant of %s must be killed", g)
	}
	for name := range controls {
		assert.True(t, names[name], "controls name %s, which is not derived", name)
	}
}

// TestExplained wants each explanation to be of some mutant, and of none that must be killed.
func TestExplained(t *testing.T) {
	all, err := All()
	require.NoError(t, err)
	for _, e := range explained {
		n := 0
		for _, m := range all {
			if e.names.MatchString(m.Name) {
				n++
				assert.False(t, m.Control, m.Name)
			}
		}
		assert.Positive(t, n, "no mutant fits %s", e.names)
	}
}
