package client_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/client"
)

func TestNamedBy(t *testing.T) {
	const secure, open = "https://control.example/api", "http://control.example"
	for _, c := range []struct{ plane, address, want string }{
		{secure, "https://agents.example/a/", "https://agents.example/a"},
		{secure, "http://localhost:8123/a", "http://localhost:8123/a"},
		{secure, "http://127.0.0.1:8123", "http://127.0.0.1:8123"},
		{secure, "http://[::1]:8123", "http://[::1]:8123"},
		{secure, "https://10.0.0.7", "https://10.0.0.7"},
		{open, "http://agents.example", "http://agents.example"},
		{open, "https://agents.example", "https://agents.example"},
		{"http://169.254.7.7:80", "http://169.254.7.7:81/a", "http://169.254.7.7:81/a"}, // the user's own link
	} {
		base, err := client.NamedBy(c.plane, c.address)
		require.NoError(t, err, c.address)
		assert.Equal(t, c.want, base)
	}
	for _, c := range []struct{ plane, address, why string }{
		{open, "http://169.254.169.254/latest", "link-local"},
		{open, "http://[fe80::1%25eth0]/", "link-local"},
		{open, "http://[::ffff:169.254.169.254]/", "link-local"},
		{open, "http://0.0.0.0:80", "unspecified"},
		{open, "http://[::]/", "unspecified"},
		{open, "http://224.0.0.1/", "multicast"},
		{open, "http://[ff02::1]/", "multicast"},
		{open, "file:///etc/passwd", "does not begin with http"},
		{open, "gopher://agents.example/", "does not begin with http"},
		{open, "agents.example", "does not begin with http"},
		{open, "//agents.example", "does not begin with http"},
		{open, "http:agents.example", "no host"},
		{open, "http://:80/", "no host"},
		{open, "http://me:secret@agents.example", "user name or password"},
		{open, "http://control.example@evil.example", "user name or password"},
		{open, "http://agents.example/?to=", "query"},
		{open, "http://agents.example/#a", "fragment"},
		{open, "http://agents.example/\r\nX: y", "not a URL"},
		{open, "http://[::1", "not a URL"},
		{secure, "http://agents.example", "uses http, and"},
		{secure, "http://control.example", "uses http, and"},
		{secure, "http://localhost.evil.example", "uses http, and"},
		{secure, "HTTP://10.0.0.7", "uses http, and"},
	} {
		_, err := client.NamedBy(c.plane, c.address)
		assert.ErrorContains(t, err, c.why, c.address)
	}
}

// TestGuard uses 0.0.0.0, which reaches this machine where nothing refuses it.
func TestGuard(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(server.URL, "http://"))
	require.NoError(t, err)
	base := "http://0.0.0.0:" + port
	ask := func(plane string) error {
		cl := client.New(1)
		t.Cleanup(cl.Close)
		cl.Guard(plane, base)
		_, err := cl.Do(t.Context(), client.Request{Base: base, Method: http.MethodGet, Path: "/x", Timeout: 5 * time.Second})
		return err
	}
	require.ErrorContains(t, ask("http://control.example"), "link-local, multicast or unspecified")
	require.NoError(t, ask(base), "it is the host that the user named")
}

func FuzzNamedBy(f *testing.F) {
	f.Add("http://[fe80::1%25eth0]/")
	f.Fuzz(func(t *testing.T, address string) {
		base, err := client.NamedBy("https://control.example", address)
		if err == nil && !strings.HasPrefix(strings.ToLower(base), "https://") {
			assert.Regexp(t, `(?i)^http://([^/]*localhost|127\.|\[)`, base)
		}
	})
}
