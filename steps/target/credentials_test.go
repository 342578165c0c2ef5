package target

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
)

// TestPlanesCredentials_OnlyAtConfiguredAddresses checks that credentials of the control plane are sent to an agent
// server only if the configuration names its address.
func TestPlanesCredentials_OnlyAtConfiguredAddresses(t *testing.T) {
	for name, c := range map[string]struct {
		agentTarget, base string
		sent              bool
	}{
		"the origin of the control plane": {"", "https://plane.example/agents/1", true},
		"another host":                    {"", "https://agents.example/1", false},
		"another port":                    {"", "https://plane.example:8443/agents/1", false},
		"another scheme":                  {"", "http://plane.example/agents/1", false},
		"agent_target":                    {"https://agents.example/1", "https://agents.example/1", true},
		"beside agent_target":             {"https://agents.example/1", "https://agents.example/2", false},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config.Default()
			cfg.Target, cfg.AgentTarget, cfg.SeparateCredentials = "https://plane.example", c.agentTarget, true
			cfg.Credentials = config.Credentials{APIKey: "the-key-of-the-plane"}
			cfg.Users = []config.User{{Name: "a", Token: "token-a"}}
			target, err := New(Options{Config: &cfg})
			require.NoError(t, err)
			t.Cleanup(func() { _ = target.Close() })

			who, err := target.Caller(planeKeyCaller)
			require.NoError(t, err, "while the address is not known")
			request := target.ToAgent(c.base, who, http.MethodGet, "/threads", nil)
			assert.Equal(t, c.sent, request.Header.Get("X-Api-Key") != "")
			assert.Empty(t, request.Header.Get("Authorization"))

			target.JudgeAgentAt(c.base)
			_, err = target.Caller(planeKeyCaller)
			assert.Equal(t, c.sent, err == nil, "%v", err)
		})
	}
}

// TestWrongCredentials checks that an invalid credential of one scheme is sent without any other.
func TestWrongCredentials(t *testing.T) {
	cfg := config.Default()
	cfg.Credentials = config.Credentials{APIKey: "the-key", TenantID: "the-tenant", Bearer: "the-bearer"}
	cfg.Users = []config.User{{Name: "a", Token: "token-a"}}
	target, err := New(Options{Config: &cfg})
	require.NoError(t, err)
	t.Cleanup(func() { _ = target.Close() })

	assert.Equal(t, http.Header{"Authorization": {"Bearer token-a"}}, target.Credentials(UsersToken))
	for kind, value := range wrongValues {
		assert.Equal(t, http.Header{"Authorization": {"Bearer " + value}}, target.Credentials(Sender("a bearer token that is "+kind)))
		assert.Equal(t, http.Header{"X-Tenant-Id": {value}}, target.Credentials(Sender("a tenant ID that is "+kind)))
	}
}

func TestWrongHeader(t *testing.T) {
	token := config.User{Name: "ada", Token: "secret"}
	basic := config.User{Name: "ada", Headers: map[string]string{"authorization": "Basic abcd"}}
	keyed := config.User{Name: "ada", Headers: map[string]string{"x-user-key": "abcd", "X-Org": "7"}}
	for name, c := range map[string]struct {
		user config.User
		kind string
		want http.Header
	}{
		"nobody":               {token, NoCredentials, http.Header{}},
		"unknown token":        {token, UnknownToken, http.Header{"Authorization": {"Bearer " + wrongToken}}},
		"empty token":          {token, emptyTokenCaller, http.Header{"Authorization": {"Bearer "}}},
		"another scheme":       {token, otherSchemeCaller, http.Header{"Authorization": {"Basic secret"}}},
		"basic, unknown":       {basic, UnknownToken, http.Header{"Authorization": {"Basic " + wrongToken}}},
		"basic, other scheme":  {basic, otherSchemeCaller, http.Header{"Authorization": {"Bearer abcd"}}},
		"keys, unknown":        {keyed, UnknownToken, http.Header{"X-User-Key": {wrongToken}, "X-Org": {wrongToken}}},
		"keys, empty":          {keyed, emptyTokenCaller, http.Header{"X-User-Key": {""}, "X-Org": {""}}},
		"keys, another scheme": {keyed, otherSchemeCaller, http.Header{"Authorization": {"Basic " + wrongToken}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, wrongHeader(c.user, c.kind))
		})
	}
	assert.Equal(t, http.Header{"Authorization": {"Bearer secret"}}, token.Header())
}
