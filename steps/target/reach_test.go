package target

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
)

func TestGatewayHeadersGoToConfiguredAddressesOnly(t *testing.T) {
	c := config.Default()
	c.Target, c.AgentTarget = "https://control.example/api", "https://agents.example/a"
	c.Credentials.APIKey = "the-key"
	c.Headers = config.Headers{ControlPlane: map[string]string{"x-gateway": "of-plane"}, AgentServer: map[string]string{"X-Gateway": "of-agent"}}
	require.NoError(t, c.Complete())
	o, err := New(Options{Config: &c})
	require.NoError(t, err)
	for _, who := range []Sender{TheClient, Nobody, UnknownKey, AnotherTenant} {
		assert.Equal(t, []string{"of-plane"}, o.ToControlPlane(who, http.MethodGet, "/x", nil).Header["X-Gateway"], who)
	}
	assert.False(t, o.ToControlPlane(Nobody, http.MethodGet, "/x", nil).Trusted, "a gateway's header is no credential")
	for base, want := range map[string][]string{
		"https://agents.example/a": {"of-agent"}, "https://agents.example/b": {"of-agent"}, "https://control.example/agents/c": {"of-agent"},
		"https://other.example/a": nil, "https://agents.example:444/a": nil, "http://agents.example/a": nil, "https://agents.example.evil.example/a": nil,
	} {
		assert.Equal(t, want, o.ToAgent(base, Caller{}, http.MethodGet, "/threads", nil).Header["X-Gateway"], base)
	}
}

// TestGatewayHeadersGoToListedHosts checks that the headers of the agent server are sent to the hosts of header_hosts,
// and to no other host that a control plane returns.
func TestGatewayHeadersGoToListedHosts(t *testing.T) {
	c := config.Default()
	c.Target, c.Headers.AgentServer = "https://control.example", map[string]string{"X-Gateway": "of-agent"}
	c.HeaderHosts = []string{"One.example", "two.example:8443", "*.many.example", "[::1]:8080", "10.0.0.1"}
	require.NoError(t, c.Complete())
	o, err := New(Options{Config: &c})
	require.NoError(t, err)
	for base, want := range map[string]bool{
		"https://one.example/a": true, "https://one.example:444": true, "https://two.example:8443/a": true, "https://a.many.example": true,
		"http://[::1]:8080": true, "http://10.0.0.1:9": true, "https://control.example/agents": true,
		"https://two.example/a": false, "https://many.example": false, "https://a.b.many.example": false, "https://many.example.evil.example": false,
		"https://one.example.evil.example": false, "https://a.one.example": false, "http://[::1]:8081": false, "https://one.example@evil.example": false,
	} {
		o.JudgeAgentAt(base)
		assert.Equal(t, want, o.ToAgent(base, Caller{}, http.MethodGet, "/threads", nil).Header["X-Gateway"] != nil, base)
		assert.Equal(t, want, o.HeadersRemedy() == "", base)
	}
}

// TestGatewayHeadersAreReadAgain checks that a gateway that refuses an old value is not mistaken for a target that
// refuses missing credentials.
func TestGatewayHeadersAreReadAgain(t *testing.T) {
	var now atomic.Pointer[string]
	turn := func(value string) { now.Store(&value) }
	turn("first-value")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Gateway") != *now.Load() {
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "key"), []byte("first-value"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "c.yaml"), []byte("headers: {control_plane: {X-Gateway: {file: key}}}"), 0o600))
	c, err := config.Load(config.Sources{File: filepath.Join(folder, "c.yaml"), Environ: []string{"AGENTCONFORM_TARGET=" + server.URL}})
	require.NoError(t, err)
	o, err := New(Options{Config: c})
	require.NoError(t, err)
	status := func() int {
		a, err := o.Client.Do(t.Context(), o.ToControlPlane(Nobody, http.MethodGet, "/x", nil))
		require.NoError(t, err)
		return a.Status
	}
	assert.Equal(t, http.StatusOK, status())
	turn("second-value")
	assert.Equal(t, http.StatusForbidden, status())
	require.NoError(t, os.WriteFile(filepath.Join(folder, "key"), []byte("second-value"), 0o600))
	assert.Equal(t, http.StatusOK, status())
	assert.Equal(t, "$AGENTCONFORM_HEADERS_CONTROL_PLANE_X_GATEWAY", o.Redact.Text("second-value"))
}

func TestProxiesOfTheEnvironmentAreSecrets(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://me:secret-of-proxy@127.0.0.1:1")
	c := config.Default()
	c.Target = "https://control.example"
	o, err := New(Options{Config: &c})
	require.NoError(t, err)
	assert.Equal(t, "the $HTTPS_PROXY", o.Redact.Text("the secret-of-proxy"))
}

// TestTheRateOfRequests checks that a request that waits for the rate limit ends with the context of the test run, and
// that the next request takes its turn.
func TestTheRateOfRequests(t *testing.T) {
	var arrived atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	t.Cleanup(server.Close)
	c := config.Default()
	c.Target, c.Rate = server.URL, "1/h"
	o, err := New(Options{Config: &c})
	require.NoError(t, err)
	_, err = o.Client.Do(t.Context(), o.ToControlPlane(Nobody, http.MethodGet, "/x", nil))
	require.NoError(t, err)
	over := errors.New("the time of the run is over")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond, over)
	defer cancel()
	_, err = o.Client.Do(ctx, o.ToControlPlane(Nobody, http.MethodGet, "/x", nil))
	assert.Equal(t, over, err)
	assert.EqualValues(t, 1, arrived.Load())
	assert.Greater(t, o.Client.Limit.Tokens(), -0.5, "the turn is free again")
}
