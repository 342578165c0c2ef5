package resume

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
)

// TestKeysOfTheConfiguration tells which key differs; credentials may be renewed.
func TestKeysOfTheConfiguration(t *testing.T) {
	configured := func(change func(*config.Config)) map[string]string {
		c := config.Default()
		c.Target, c.Credentials.APIKey = "https://t", "first-key"
		c.Users = []config.User{{Name: "a", Token: "first-token"}}
		c.Create.Body = map[string]any{"name": "x", "secrets": []any{map[string]any{"name": "S", "value": "first-secret"}}}
		if change != nil {
			change(&c)
		}
		keys, err := Configuration(&c)
		require.NoError(t, err)
		return keys
	}
	base := configured(nil)
	for name, tt := range map[string]struct {
		change func(*config.Config)
		want   []string
	}{
		"nothing": {nil, nil},
		"renewed credentials": {func(c *config.Config) {
			c.Credentials.APIKey, c.Users[0].Token = "second-key", "second-token"
			c.Create.Body["secrets"] = []any{map[string]any{"name": "S", "value": "second-secret"}}
		}, nil},
		"a further credential": {func(c *config.Config) { c.Credentials.Bearer = "x-bearer" }, []string{"credentials.bearer"}},
		"the target":           {func(c *config.Config) { c.Target = "https://u" }, []string{"target"}},
		"a timeout":            {func(c *config.Config) { c.Timeouts.Poll = time.Hour }, []string{"timeouts.poll"}},
		"the body":             {func(c *config.Config) { c.Create.Body["name"] = "y" }, []string{"create.body"}},
		"a user":               {func(c *config.Config) { c.Users = append(c.Users, config.User{Name: "b", Token: "another"}) }, []string{"users"}},
		"a word":               {func(c *config.Config) { c.Vocabulary = map[string]string{"source": "origin"} }, []string{"vocabulary.source"}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, differing(base, configured(tt.change)))
		})
	}
}
