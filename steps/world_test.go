package steps_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reference/memnet"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// world is a test and the network of its servers.
type world struct {
	*testing.T
	network *memnet.Network // nil means the network of the system
}

// bubbles is a semaphore with one slot per processor: virtual time stands still while goroutines compute, so more
// bubbles only use memory.
var bubbles = make(chan struct{}, runtime.GOMAXPROCS(0))

// runInBubble runs a test in virtual time with an in-memory network, in parallel with other tests.
func runInBubble(t *testing.T, test func(t world)) {
	t.Parallel()
	bubbles <- struct{}{}
	defer func() { <-bubbles }()
	_, _, err := steps.Requirements() // loads shared values outside of the bubble
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) { test(world{t, memnet.New()}) })
}

// dial returns the function that connects to servers, or nil for the network of the system.
func (w world) dial() client.Dial {
	if w.network == nil {
		return nil
	}
	return w.network.DialContext
}

// useTCP returns a test whose servers are on the network of the system.
func useTCP(t *testing.T) world { return world{T: t} }

// serve serves a handler until the test ends.
func (w world) serve(handler http.Handler) *httptest.Server {
	w.Helper()
	var server *httptest.Server
	if w.network != nil {
		server = w.network.Serve(handler)
	} else {
		server = httptest.NewServer(handler)
	}
	w.Cleanup(server.Close)
	return server
}

// transport returns the transport for the requests of a proxy.
func (w world) transport() http.RoundTripper {
	transport := &http.Transport{DialContext: w.dial(), MaxIdleConnsPerHost: 64}
	w.Cleanup(transport.CloseIdleConnections)
	return transport
}

// startIndependent starts the second conforming server for a test.
func startIndependent(t world, o independent.Options) *independent.Server {
	t.Helper()
	if t.network != nil {
		o.Listen = t.network.Listen
	}
	s := independent.Start(o)
	t.Cleanup(s.Close)
	return s
}

// configure returns the configuration that a vendor would write for the independent server.
func configure(t world, s *independent.Server) *config.Config {
	t.Helper()
	c := config.Default()
	require.NoError(t, s.Configure(&c))
	return &c
}

// judge runs the suite with the configuration and the changed options, and returns the result.
func judge(t world, c *config.Config, change func(*steps.Options)) *reports.Result {
	t.Helper()
	catalogue, oracle, err := steps.Requirements()
	require.NoError(t, err)
	o := steps.Options{Dial: t.dial(), Config: c, Catalogue: catalogue, Oracle: oracle, ID: "test", Seed: 1, Version: "test"}
	if change != nil {
		change(&o)
	}
	res, err := steps.Run(context.Background(), o)
	require.NoError(t, err)
	return res
}

// findingsOf returns the findings of a requirement.
func findingsOf(res *reports.Result, id string) (found []reports.Finding) {
	for _, f := range res.Findings {
		if f.Requirement == id {
			found = append(found, f)
		}
	}
	return found
}
