package client_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// TestConnectionsOfCallers sends requests of two callers and compares the client addresses of their connections.
func TestConnectionsOfCallers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.RemoteAddr)) }))
	defer server.Close()
	c := client.New(4, client.Route{})
	defer c.Close()
	one := c.OneConnection(t.Context())
	from := func(caller string, isOne bool) (address string, afterOther bool) {
		ctx := t.Context()
		if isOne {
			ctx = one
		}
		a, err := c.Do(ctx, exchange.Request{Base: server.URL, Method: http.MethodGet, Path: "/", Timeout: 10 * time.Second,
			Caller: exchange.Caller{Name: caller}})
		require.NoError(t, err)
		return string(a.Body), a.Request.AfterOther
	}
	owner, _ := from("owner", false)
	shared, afterOther := from("other", false)
	assert.Equal(t, owner, shared, "callers share connections")
	assert.False(t, afterOther)

	first, afterOther := from("owner", true)
	assert.NotEqual(t, owner, first)
	assert.False(t, afterOther)
	second, afterOther := from("other", true)
	assert.Equal(t, first, second)
	assert.True(t, afterOther, "the connection has served another caller")

	c.SeparateCallers()
	own, _ := from("owner", false)
	others, _ := from("other", false)
	again, _ := from("owner", false)
	assert.NotEqual(t, own, others)
	assert.Equal(t, own, again)
	third, _ := from("other", true)
	assert.Equal(t, first, third, "a connection that was chosen stays")
}
