package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryKeyIsExplained holds the table to the structs, both ways, and what is written to the table.
func TestEveryKeyIsExplained(t *testing.T) {
	c := Default()
	c.Users = []User{{Name: "a", Token: "the-token"}, {Name: "b", Token: "the-other"}}
	text, err := c.YAML()
	require.NoError(t, err)
	known := map[string]bool{}
	each(reflect.ValueOf(c), "", func(key string, _ reflect.Value) {
		known[key] = true
		if assert.NotEmpty(t, keys[key], key) {
			assert.NotContains(t, keys[key], "\n", key)
			assert.Equal(t, 1, strings.Count(string(text), "# "+keys[key]+"\n"), key)
			assert.Contains(t, Reference(), keys[key], key)
		}
	})
	for key := range keys {
		assert.True(t, known[key], "%s is no key", key)
	}
	l := &loader{config: &Config{}, from: origins{}}
	require.NoError(t, l.parse("written.yaml", text))
	assert.Empty(t, l.found)
	assert.Equal(t, c.Users[1].Token, l.config.Users[1].Token)
	assert.Equal(t, c.Timeouts, l.config.Timeouts)
}
