package mutants

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAll: names differ, each group has a mutant that must be killed, and each explanation is of some mutant and of none
// that must be killed.
func TestAll(t *testing.T) {
	controlled, named := map[Group]bool{}, map[string]bool{}
	fits := make([]int, len(explained))
	for _, m := range All() {
		assert.False(t, named[m.Name], "two mutants are named %s", m.Name)
		named[m.Name] = true
		controlled[m.Group] = controlled[m.Group] || m.Control
		for i, e := range explained {
			if e.names.MatchString(m.Name) {
				fits[i]++
				assert.False(t, m.Control, m.Name)
			}
		}
	}
	assert.Equal(t, map[Group]bool{Answers: true, Parameters: true, Bodies: true, Access: true}, controlled)
	for i, n := range fits {
		assert.Positive(t, n, "no mutant fits %s", explained[i].names)
	}
	for name := range controls {
		assert.True(t, named[name], "controls name %s, which is not derived", name)
	}
}
