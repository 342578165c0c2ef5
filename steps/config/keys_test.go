package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryKeyIsExplained holds the table to the structs, both ways, and what is written to the table.
func TestEveryKeyIsExplained(t *testing.T) {
	c := Default()
	c.Users = []User{{Name: "a", Token: "the-token", Identity: "a"}, {Name: "b", Token: "the-other", Identity: "b"}}
	c.Create.Body = map[string]any{"source": GitHost, "build": map[string]any{"n": 3, "day": "2026-11-24"}}
	text, err := c.YAML()
	require.NoError(t, err)
	written := strings.Join(strings.Fields(strings.ReplaceAll(string(text), "#", " ")), " ")
	known := map[string]bool{}
	each(reflect.ValueOf(c), "", func(key string, _ reflect.Value) {
		known[key] = true
		if assert.NotEmpty(t, keys[key], key) {
			assert.NotContains(t, keys[key], "\n", key)
			assert.Equal(t, !strings.HasPrefix(key, "users."), strings.Contains(written, keys[key]), key)
			assert.Contains(t, Reference(), keys[key], key)
		}
	})
	for key := range keys {
		assert.True(t, known[key], "%s is no key", key)
	}
	file := filepath.Join(t.TempDir(), "written.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	again, err := Load(Sources{File: file})
	require.NoError(t, err)
	assert.Equal(t, c.Users[1].Token, again.Users[1].Token)
	assert.Equal(t, c.Timeouts, again.Timeouts)
	assert.Equal(t, c.Create.Body, again.Create.Body)
}
