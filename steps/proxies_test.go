package steps_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/steps/config"
)

// deviation is a change of the behavior of a server, in the language of the rows of the self-test.
type deviation struct{ when, do []string }

// serveDeviating serves a half of the independent server behind deviations and returns the address. The last deviation
// is the outermost.
func serveDeviating(t world, address string, deviations ...deviation) string {
	t.Helper()
	at, err := url.Parse(address)
	require.NoError(t, err)
	var layers []faults.Layer
	for _, d := range deviations {
		row, err := deviate.New(t.Name(), d.when, d.do)
		require.NoError(t, err)
		count := &deviate.Count{}
		layers = append(layers, faults.Around(row, count))
		t.Cleanup(func() { assert.Positive(t, count.Load(), "%q changed nothing", d.when) })
	}
	handler, err := faults.Before(at, t.transport(), layers...)
	require.NoError(t, err)
	return t.serve(handler).URL
}

// configureAgents starts the independent server and returns a configuration for its agent server behind deviations.
func configureAgents(t world, deviations ...deviation) *config.Config {
	t.Helper()
	s := startIndependent(t, independent.Options{})
	c := configure(t, s)
	c.Target, c.Agent.Listing = "", "search"
	c.AgentTarget = serveDeviating(t, s.AgentURL, deviations...) + faults.ProxiedAgent
	c.Timeouts.Request, c.Timeouts.Run = 2*time.Second, 2*time.Second
	require.NoError(t, c.Complete())
	return c
}

// serveProxy serves a server through a proxy and returns the address. The proxy calls observe with each request, and
// sends the body that change returns.
func serveProxy(
	t world, address string, observe func(*http.Request), change func(a *http.Response, body []byte) []byte,
) string {
	t.Helper()
	to, err := url.Parse(address)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{
		Transport: t.transport(),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Set("Accept-Encoding", "identity")
		},
		ModifyResponse: func(a *http.Response) error {
			body, err := io.ReadAll(a.Body)
			body = change(a, body)
			a.Body = io.NopCloser(bytes.NewReader(body))
			a.Header.Set("Content-Length", strconv.Itoa(len(body)))
			return err
		},
	}
	return t.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		observe(r)
		proxy.ServeHTTP(w, r)
	})).URL
}

// serveRewriting serves a server through a proxy that changes the bodies of responses, and returns the address.
func serveRewriting(t world, address string, change func(body string) string) string {
	t.Helper()
	return serveProxy(t, address, func(*http.Request) {}, func(_ *http.Response, body []byte) []byte {
		return []byte(change(string(body)))
	})
}

// serveRenaming serves a server through a proxy that replaces a JSON string, such as the name of a field, in responses.
func serveRenaming(t world, address, old, new string) string {
	t.Helper()
	return serveRewriting(t, address, func(body string) string {
		return strings.ReplaceAll(body, `"`+old+`"`, `"`+new+`"`)
	})
}
