package config

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/features"
)

// TestWithExampleSetsEachKey checks that each key that a scenario needs can be set by its name, in a copy.
func TestWithExampleSetsEachKey(t *testing.T) {
	catalogue, err := features.Load()
	assert.NoError(t, err)
	keys := []string{"target", "agent_target", "create.body", "existing.deployment", "existing.revision",
		"agent.rejected_detail.blocked", "users", "users.0.identity"}
	for _, s := range catalogue.Scenarios() {
		for _, need := range s.Terms.Needs {
			keys = append(keys, need...)
		}
	}
	for _, key := range keys {
		c := Default()
		if c.Has(key) || key == "create.body.source=git_host" || key == "create.body.source=external_container" {
			continue
		}
		with := c.WithExample(cutValue(key))
		assert.True(t, with.Has(cutValue(key)), key)
		assert.False(t, c.Has(cutValue(key)), key)
	}
	c := Default()
	assert.Len(t, c.WithExample("users").Users, 2)
	assert.NotEmpty(t, c.WithExample("create.body").Source())
}

func cutValue(key string) string {
	for i := range key {
		if key[i] == '=' {
			return key[:i]
		}
	}
	return key
}
