package client_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
)

// TestConnectionsKeepTheRules: a name that leads to a forbidden address is not connected to, and nothing is recorded of it.
func TestConnectionsKeepTheRules(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(server.Close)
	named := strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	ask := func(plane string) error {
		cl := client.New(1, client.Route{Names: &client.Naming{Plane: plane}})
		t.Cleanup(cl.Close)
		cl.Observe = func(_ context.Context, _ client.Request, _ time.Time, a *client.Answer, _ string) int {
			assert.NotNil(t, a, "nothing was sent")
			return 0
		}
		_, err := cl.Do(t.Context(), client.Request{Base: named, Method: http.MethodGet, Path: "/x", Timeout: 5 * time.Second})
		return err
	}
	err := ask("http://192.168.0.1")
	var refused *client.NotNamed
	require.ErrorAs(t, err, &refused)
	require.ErrorContains(t, err, "not sent: it leads to ")
	require.ErrorContains(t, err, "loopback")
	require.ErrorContains(t, err, "set agent_target")
	assert.Zero(t, asked.Load())
	require.NoError(t, ask(named), "it is the host that the user named")
	require.NoError(t, ask("http://127.0.0.1:1"), "the control plane is there too")
	assert.EqualValues(t, 2, asked.Load())
}
