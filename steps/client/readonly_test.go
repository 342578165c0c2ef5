package client

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/exchange"
)

// TestAReadOnlyClientSendsNoWrite counts the requests that arrive.
func TestAReadOnlyClientSendsNoWrite(t *testing.T) {
	t.Parallel()
	var arrived atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	t.Cleanup(s.Close)
	k := New(1, Route{})
	k.ReadOnly = true
	t.Cleanup(k.Close)
	for _, c := range []struct {
		side         spec.Side
		method, path string
		sent         int64
	}{
		{spec.ControlPlane, http.MethodGet, "/v2/deployments", 1},
		{spec.AgentServer, http.MethodGet, "/threads", 1},
		{spec.AgentServer, http.MethodPost, "/threads/search", 1},
		{spec.AgentServer, http.MethodPost, "/threads", 0},
		{spec.AgentServer, http.MethodPost, "/threads/search/runs", 0},
		{spec.ControlPlane, http.MethodPost, "/v2/deployments", 0},
		{spec.ControlPlane, http.MethodPost, "/v2/deployments/search", 0},
		{spec.ControlPlane, http.MethodPatch, "/v2/deployments/x", 0},
		{spec.ControlPlane, http.MethodPut, "/v2/deployments/x", 0},
		{spec.ControlPlane, http.MethodDelete, "/v2/deployments/x", 0},
		{spec.ControlPlane, "", "/v2/deployments/x", 0},
	} {
		before := arrived.Load()
		_, err := k.Do(t.Context(), exchange.Request{Side: c.side, Base: s.URL, Method: c.method, Path: c.path, Header: http.Header{}, Timeout: 5 * time.Second})
		assert.Equal(t, c.sent, arrived.Load()-before, "%s %s", c.method, c.path)
		if c.sent == 0 {
			require.ErrorContains(t, err, "the test run only reads", "%s %s", c.method, c.path)
		}
	}
}
