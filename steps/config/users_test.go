package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// usersOf returns two users of one team, and a third with the identity of the first in a different team.
func usersOf() []User {
	return []User{
		{Token: "token-of-ada", Identity: "ada", Fields: map[string]any{TeamField: "north"}},
		{Token: "token-of-bob", Identity: "bob", Fields: map[string]any{TeamField: "north"}},
		{Token: "token-of-ann", SameIdentity: true, Fields: map[string]any{TeamField: "south"}},
	}
}

func TestAUserWithTheIdentityOfTheFirst(t *testing.T) {
	c := Default()
	c.Users = usersOf()
	require.NoError(t, c.Complete())
	require.NoError(t, c.Complete(), "a second time")
	assert.Equal(t, "ada", c.Users[2].Identity)
	assert.True(t, c.Has("users.2.same_identity"))
	assert.Len(t, c.JudgedUsers(), 3)

	for want, change := range map[string]func(c *Config){
		"users.1.same_identity: is true, which is for users.2 only": func(c *Config) { c.Users[1].SameIdentity = true },
		"users.2.identity: is not that of users.0":                  func(c *Config) { c.Users[2].Identity = "ann" },
		"users.2.identity: is that of users.0":                      func(c *Config) { c.Users[2].Identity, c.Users[2].SameIdentity = "ada", false },
		"users.2.fields.team: is missing, or the team of users.0":   func(c *Config) { c.Users[2].Fields = c.Users[0].Fields },
		"users.0.fields.team: is missing":                           func(c *Config) { c.Users[0].Fields = nil },
		"users.2.token: is that of users.0":                         func(c *Config) { c.Users[2].Token = "token-of-ada" },
		"agent.blocked_token: is the token of users.1":              func(c *Config) { c.Agent.BlockedToken = "token-of-bob" },
		"agent.blocked_token: begins with Bearer":                   func(c *Config) { c.Agent.BlockedToken = "Bearer of-eve" },
	} {
		c := Default()
		c.Users = usersOf()
		change(&c)
		require.ErrorContains(t, c.Complete(), want)
	}
}
