package exchange

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSameID compares ids in the forms that a target may return.
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

// TestFormsOf checks that each form means the same id, and that only the id in capitals is equal to it.
func TestFormsOf(t *testing.T) {
	const id = "0a1b2c3d-4e5f-4000-8000-00000000abcd"
	forms := FormsOf(id)
	assert.Len(t, forms, 4)
	for _, f := range forms {
		assert.NotEqual(t, id, f.ID, f.Name)
		assert.True(t, MeansSame(id, f.ID), f.Name)
		assert.False(t, MeansSame("0a1b2c3d-4e5f-4000-8000-00000000abce", f.ID), f.Name)
		assert.Equal(t, f.Name == InCapitals, SameID(id, f.ID), f.Name)
		assert.Equal(t, f.ID, InForm(id, f.Name))
	}
	assert.Len(t, FormsOf("01234567-4051-4000-8000-000000000000"), 3, "no letters")
	assert.Empty(t, FormsOf("run-a"))
	assert.Empty(t, InForm("run-a", InBraces))
	assert.True(t, MeansSame("run-a", "run-a"))
	assert.False(t, MeansSame("run-a", "run-b"))
}
