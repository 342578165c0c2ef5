package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/exchange"
)

// TestIdsThatLeadElsewhereAreNotSent checks that the error names the target as the cause and that no request is sent.
func TestIdsThatLeadElsewhereAreNotSent(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer server.Close()
	c := New(1, Route{})
	defer c.Close()
	for _, path := range []string{"/threads/..", "/threads/./state", "/threads/../runs", "/threads/" + strings.Repeat("a", maxAddress)} {
		_, err := c.Do(t.Context(), exchange.Request{Base: server.URL, Path: path, Method: http.MethodGet, Timeout: time.Minute})
		var none *exchange.NoResponse
		require.ErrorAs(t, err, &none, path)
		assert.True(t, none.Closed, "the target is at fault")
		assert.Less(t, len(none.Error()), 2*maxAddress)
	}
	assert.Zero(t, asked)
	for _, path := range []string{"/threads/a%2Fb", "/threads/...", "/threads/%2E%2Ea", "/threads//state", "/"} {
		_, err := c.Do(t.Context(), exchange.Request{Base: server.URL, Path: path, Method: http.MethodGet, Timeout: time.Minute})
		require.NoError(t, err, path)
	}
	assert.Equal(t, 5, asked)
}
