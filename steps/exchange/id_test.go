package exchange

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSameID compares ids as a target may show them.
func TestSameID(t *testing.T) {
	const id = "0a1b2c3d-4e5f-4000-8000-00000000abcd"
	for _, c := range []struct {
		name, a, b string
		want       bool
	}{
		{"a UUID and itself", id, id, true},
		{"a UUID in capitals", id, "0A1B2C3D-4E5F-4000-8000-00000000ABCD", true},
		{"a UUID without hyphens", id, "0a1b2c3d4e5f4000800000000000abcd", false},
		{"another UUID", id, "0a1b2c3d-4e5f-4000-8000-00000000abce", false},
		{"a UUID in braces", id, "{" + id + "}", false},
		{"a UUID and no id", id, "", false},
		{"an id that is not a UUID in capitals", "run-a", "RUN-A", false},
		{"numbers", "1", "01", false},
		{"no ids", "", "", true},
	} {
		assert.Equal(t, c.want, SameID(c.a, c.b), c.name)
		assert.Equal(t, c.want, SameID(c.b, c.a), c.name)
		assert.Equal(t, c.want, SameIDs([]string{"x", c.a}, []string{c.b, "x"}), c.name)
		assert.Equal(t, c.want, ContainsID([]string{"x", c.a}, c.b), c.name)
	}
	assert.False(t, SameIDs([]string{id}, []string{id, id}))
}
