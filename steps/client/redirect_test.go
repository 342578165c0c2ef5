package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestARedirectThatLeadsNowhereIsAnAnswer: with its status, its headers and its body.
func TestARedirectThatLeadsNowhereIsAnAnswer(t *testing.T) {
	for _, location := range []string{"", "%zz", "http://[::1", ":", "http://a b/", "mailto:a@b", "http:///x", "//", "http://host:port/"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", location)
				w.WriteHeader(status)
				_, _ = w.Write([]byte("moved"))
			}))
			c := New(1, Route{})
			a, err := c.Do(t.Context(), Request{Base: server.URL, Path: "/", Method: http.MethodGet, Timeout: time.Minute})
			require.NoError(t, err, "%q", location)
			assert.Equal(t, status, a.Status)
			assert.Equal(t, "moved", string(a.Body))
			var seen []string
			for name, values := range a.Header {
				if strings.EqualFold(name, "Location") {
					seen = append(seen, values...)
				}
			}
			assert.Equal(t, []string{location}, seen)
			c.Close()
			server.Close()
		}
	}
}
