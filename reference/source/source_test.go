package source_test

import (
	"context"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agentconform/agentconform/reference/fixtures"
	"github.com/agentconform/agentconform/reference/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var graphs = fstest.MapFS{
	"conformance/agent.json":      {Data: []byte(`{}`)},
	"conformance/lib/a.star":      {Data: []byte("a = 1\n")},
	"conformance/graph.star":      {Data: []byte("answer = 1\n")},
	"conformance_next/graph.star": {Data: []byte("answer = 2\n")},
	"broken/graph.star":           {Data: []byte("answer = = 3\n")},
}

type world struct {
	material *fixtures.Material
	host     *fixtures.Host
	fetcher  *source.Fetcher
}

func newWorld(t *testing.T) world {
	t.Helper()
	m, err := fixtures.Build(graphs, fixtures.GraphConfigPath)
	require.NoError(t, err)
	host, err := m.Serve("127.0.0.1:0", "")
	require.NoError(t, err)
	fetcher, err := source.New()
	require.NoError(t, err)
	t.Cleanup(func() {
		fetcher.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		require.NoError(t, host.Close())
	})
	return world{m, host, fetcher}
}

func TestOrigins(t *testing.T) {
	w := newWorld(t)
	repository, registry, commits := w.host.Place().RepoURL, w.host.Place().Registry, w.material.Commits()
	image, err := w.fetcher.Resolve(t.Context(), source.Origin{ImageURI: registry + "/conformance:v2"})
	require.NoError(t, err)
	byDigest := registry + "/conformance@" + strings.TrimPrefix(image, "oci:")
	for _, c := range []struct {
		origin    source.Origin
		id, graph string
	}{
		{source.Origin{RepoURL: repository}, "git:" + commits["main"], "answer = 1\n"},
		{source.Origin{RepoURL: repository, Ref: "refs/heads/main"}, "git:" + commits["main"], "answer = 1\n"},
		{source.Origin{RepoURL: repository, Ref: "release/next"}, "git:" + commits["release/next"], "answer = 2\n"},
		{source.Origin{RepoURL: repository, Ref: "refs/tags/v1.0.0"}, "git:" + commits["refs/tags/v1.0.0"], "answer = 1\n"},
		{source.Origin{RepoURL: repository, Ref: "refs/tags/Stable/v1.1.0"}, "git:" + commits["refs/tags/Stable/v1.1.0"], "answer = 1\n"},
		{source.Origin{ImageURI: byDigest}, image, "answer = 2\n"},
	} {
		id, err := w.fetcher.Resolve(t.Context(), c.origin)
		require.NoError(t, err)
		require.Equal(t, c.id, id)
		archive, err := w.fetcher.Fetch(t.Context(), c.origin, id)
		require.NoError(t, err)
		tree, err := archive.Open()
		require.NoError(t, err)
		require.NoError(t, fstest.TestFS(tree, "agent.json", "graph.star", "lib/a.star"))
		text, err := fs.ReadFile(tree, "graph.star")
		require.NoError(t, err)
		require.Equal(t, c.graph, string(text))
	}
	for _, ref := range []string{"missing", "v1.0.0", "refs/tags/main", "refs/heads/", "../HEAD", "a b"} {
		_, err := w.fetcher.Resolve(t.Context(), source.Origin{RepoURL: repository, Ref: ref})
		require.ErrorContains(t, err, "has no ref", ref)
	}
	for _, uri := range []string{registry + "/conformance:missing", registry + "/other:v1", "NOT AN IMAGE", "127.0.0.1:1/conformance:v1"} {
		_, err := w.fetcher.Resolve(t.Context(), source.Origin{ImageURI: uri})
		require.Error(t, err, uri)
	}
}

// TestTruncatedLayerIsError has a registry close the connection in the middle of a layer.
func TestTruncatedLayerIsError(t *testing.T) {
	w := newWorld(t)
	registry := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: w.host.Place().Registry})
	blobs := 0
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/blobs/") {
			blobs++
			if blobs > 1 { // the first is the configuration
				rw.Header().Set("Content-Length", "1000")
				_, _ = rw.Write([]byte("\x1f\x8b"))
				rw.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			}
		}
		registry.ServeHTTP(rw, r)
	}))
	defer server.Close()
	o := source.Origin{ImageURI: strings.TrimPrefix(server.URL, "http://") + "/conformance:v1"}
	id, err := w.fetcher.Resolve(t.Context(), o)
	require.NoError(t, err)
	_, err = w.fetcher.Fetch(t.Context(), o, id)
	require.ErrorContains(t, err, "reading the image")
	require.Equal(t, 2, blobs)
}

func TestErrorsOfOrigins(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no case may reach the network
	for _, c := range []struct {
		origin source.Origin
		want   string
	}{
		{source.Origin{}, "set source_config.repo_url"},
		{source.Origin{RepoURL: "relative/path"}, "use https://"},
		{source.Origin{RepoURL: "ssh://git:hunter2@host/x"}, "unsupported scheme"},
		{source.Origin{RepoURL: "git@host:x/y"}, "use https://"},
		{source.Origin{RepoURL: "http://user:hunter2@127.0.0.1:1/x"}, "reading the repository"},
		{source.Origin{RepoURL: "file:///srv/x.git"}, "unsupported scheme"},
	} {
		_, err := w.fetcher.Resolve(ctx, c.origin)
		require.ErrorContains(t, err, c.want, "%+v", c.origin)
		require.NotContains(t, err.Error(), "hunter2")
	}
}
