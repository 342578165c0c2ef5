package mutants

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAll checks that each group has a control mutant, that no control mutant is in explained, and that all names in the
// tables exist, because a name that matches no mutant would have no effect.
func TestAll(t *testing.T) {
	controlled, named := map[Group]bool{}, map[string]bool{}
	matches := make([]int, len(explained))
	for _, m := range All() {
		assert.False(t, named[m.Name], "duplicate name %s", m.Name)
		named[m.Name] = true
		controlled[m.Group] = controlled[m.Group] || m.Control
		for i, e := range explained {
			if e.names.MatchString(m.Name) {
				matches[i]++
				assert.False(t, m.Control, m.Name)
			}
		}
	}
	assert.Equal(t, map[Group]bool{Answers: true, Parameters: true, Bodies: true, Access: true}, controlled)
	for i, n := range matches {
		assert.Positive(t, n, "%s matches no mutant", explained[i].names)
	}
	for name := range controls {
		assert.True(t, named[name], "unknown control mutant %s", name)
	}
}
