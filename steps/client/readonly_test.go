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
)

// TestAReadOnlyClientSendsNoWrite counts what arrives.
func TestAReadOnlyClientSendsNoWrite(t *testing.T) {
	t.Parallel()
	var arrived atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived.Add(1) }))
	t.Cleanup(s.Close)
	for _, c := range []struct {
		side         spec.Side
		method, path string
		sent         bool
	}{
		{spec.ControlPlane, http.MethodGet, "/v2/deployments", true},
		{spec.AgentServer, http.MethodGet, "/threads", true},
		{spec.AgentServer, http.MethodPost, "/threads/search", true},
		{spec.AgentServer, http.MethodPost, "/threads", false},
		{spec.AgentServer, http.MethodPost, "/threads/search/runs", false},
		{spec.ControlPlane, http.MethodPost, "/v2/deployments", false},
		{spec.ControlPlane, http.MethodPost, "/v2/deployments/search", false},
		{spec.ControlPlane, http.MethodPatch, "/v2/deployments/x", false},
		{spec.ControlPlane, http.MethodPut, "/v2/deployments/x", false},
		{spec.ControlPlane, http.MethodDelete, "/v2/deployments/x", false},
		{spec.ControlPlane, "", "/v2/deployments/x", false},
	} {
		request := Request{Side: c.side, Base: s.URL, Method: c.method, Path: c.path, Header: http.Header{}, Timeout: 5 * time.Second}
		for _, readOnly := range []bool{true, false} {
			k := New(1, Route{})
			k.ReadOnly = readOnly
			before := arrived.Load()
			_, err := k.Do(t.Context(), request)
			k.Close()
			if c.sent || !readOnly {
				require.NoError(t, err, "%s %s", c.method, c.path)
				assert.Equal(t, before+1, arrived.Load(), "%s %s", c.method, c.path)
				continue
			}
			var refused *WriteRefused
			require.ErrorAs(t, err, &refused, "%s %s", c.method, c.path)
			assert.Equal(t, before, arrived.Load(), "%s %s", c.method, c.path)
		}
	}
}
