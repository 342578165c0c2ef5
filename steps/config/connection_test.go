package config_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
)

func TestReach(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "c.yaml")
	require.NoError(t, os.WriteFile(path, []byte(`
target: https://Control.example
agent_target: https://agents.example/a
headers: {control_plane: {x-gateway: of-the-plane}, agent_server: {X-Gateway: another-value}}
proxy: http://me:pass%20word@proxy.example:3128
resolve: {Agents.example: 127.0.0.1}
socket: {control_plane: s}
`), 0o600))
	c, err := config.Load(config.Sources{File: path, Environ: []string{"AGENTCONFORM_HEADERS_AGENT_SERVER_X_GATEWAY=from-environment", "AGENTCONFORM_SOCKET_AGENT_SERVER=t"}})
	require.NoError(t, err)
	assert.Equal(t, "of-the-plane", config.HeaderOf(c.Headers.ControlPlane).Get("X-Gateway"))
	assert.Equal(t, "from-environment", config.HeaderOf(c.Headers.AgentServer).Get("X-Gateway"))
	secrets := c.Secrets()
	assert.Equal(t, "$AGENTCONFORM_HEADERS_CONTROL_PLANE_X_GATEWAY", secrets["of-the-plane"])
	for _, secret := range []string{c.Proxy, "pass word", "me:pass word", "me:pass%20word"} {
		assert.Equal(t, reports.ProxyVariable, secrets[secret], secret)
	}
	assert.Equal(t, &reports.Connection{Proxy: reports.ProxyVariable, Resolve: map[string]string{"agents.example": "127.0.0.1"},
		Sockets: map[string]string{"control.example:443": filepath.Join(folder, "s"), "agents.example:443": "t"},
		Hosts:   []string{"control.example:443", "agents.example:443"}}, c.Connection())

	for address, want := range map[string]bool{"https://control.example/x": true, "https://control.example:443": true, "https://agents.example/b": true,
		"http://control.example": false, "https://control.example:444": false, "https://other.example": false, "": false} {
		assert.Equal(t, want, c.Names(address), address)
	}
	plain := config.Default()
	assert.Nil(t, plain.Connection())
}

// TestPlainWordsInHeadersOfAGateway checks that plain words are not secrets, because redacting them would make reports
// unreadable.
func TestPlainWordsInHeadersOfAGateway(t *testing.T) {
	for value, plain := range map[string]bool{"qa": true, "Staging": true, "x": true, "true": true, "7": false, "staging1": false, "staging-2": false, "production": false, "qa 12": false, "größe": false} {
		c := config.Default()
		c.Target = "http://a"
		c.Headers.ControlPlane = map[string]string{"X-Stage": value}
		c.Headers.AgentServer = map[string]string{"X-Other": value}
		if len(value) < config.ShortestSecret && !plain {
			require.ErrorContains(t, c.Complete(), "headers.control_plane.X-Stage: is shorter than 4 characters", value)
			continue
		}
		require.NoError(t, c.Complete(), value)
		_, secret := c.Secrets()[value]
		assert.Equal(t, plain, !secret, value)
		assert.Equal(t, value, config.HeaderOf(c.Headers.ControlPlane).Get("X-Stage"))
	}
	c := config.Default()
	c.Target = "http://a"
	c.Headers.ControlPlane = map[string]string{"X-Api-Key": "qa"}
	require.ErrorContains(t, c.Complete(), "set credentials.api_key instead", "the name is judged whatever the value")
}

// TestProxySecrets checks that the password is detected in all forms of HTTP_PROXY.
func TestProxySecrets(t *testing.T) {
	for address, want := range map[string]string{
		"http://me:pass-word@proxy.example:3128": "pass-word", "me:pass-word@proxy.example:3128": "pass-word", "me:pass%20word@127.0.0.1:3128": "pass word",
		"pass-word@proxy.example:3128": "pass-word", "https://me:p%zz@proxy.example:1": "p%zz", "me:p%zz@proxy.example:1": "p%zz", "me:p@ss:word@proxy.example:1": "p@ss:word",
		"socks5h://pass-word@proxy.example": "pass-word",
	} {
		secrets := config.ProxySecrets(address)
		assert.Contains(t, secrets, want, address)
		assert.Contains(t, secrets, address)
	}
	for _, address := range []string{"", "proxy.example:3128", "http://proxy.example:3128", "127.0.0.1:3128", "%zz"} {
		assert.Empty(t, config.ProxySecrets(address), address)
	}
}

func TestRate(t *testing.T) {
	for text, every := range map[string]time.Duration{"": 0, "5/s": 200 * time.Millisecond, "300/m": 200 * time.Millisecond, "60/h": time.Minute,
		"5": -1, "0/s": -1, "-1/s": -1, "5/d": -1, "5 /s": -1, "5/s/s": -1, "1e3/s": -1, "99999999999/s": -1} {
		c := config.Default()
		c.Rate = text
		if err := c.Complete(); every < 0 {
			assert.ErrorContains(t, err, `is not a rate; use a number of requests per second, minute or hour, such as 5/s or 300/m`, text)
			continue
		}
		assert.Equal(t, every, c.Every(), text)
	}
}
