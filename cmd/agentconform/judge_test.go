package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

func catalogueAndOracle(t *testing.T) (*features.Catalogue, *spec.Oracle) {
	t.Helper()
	catalogue, oracle, err := steps.Requirements()
	require.NoError(t, err)
	return catalogue, oracle
}

// before returns a layer that calls a function for each request. If the function returns true it has sent a response.
func before(responds func(http.ResponseWriter, *http.Request) bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !responds(w, r) {
				next.ServeHTTP(w, r)
			}
		})
	}
}

// start starts the reference and returns its configuration, with timeouts for a fast target.
func start(t *testing.T, o reference.Options) (*reference.Server, *config.Config) {
	t.Helper()
	server, err := reference.Start(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	c := config.Default()
	describe(&c, server)
	c.Timeouts = config.Timeouts{Request: 30 * time.Second, Poll: 2 * time.Minute, Run: 30 * time.Second}
	c.Polling = config.Polling{Interval: 5 * time.Millisecond, MaxInterval: 100 * time.Millisecond}
	require.NoError(t, c.Complete())
	return server, &c
}

// withFaults returns options of the reference with faults or equivalent mutants.
func withFaults(t *testing.T, names ...string) (o reference.Options) {
	t.Helper()
	layers, edition, err := faults.Find(names...)
	require.NoError(t, err)
	o.Edition = edition
	for _, apply := range layers {
		apply(&o)
	}
	return o
}

// startWith starts the reference with faults or equivalent mutants.
func startWith(t *testing.T, names ...string) *config.Config {
	t.Helper()
	_, c := start(t, withFaults(t, names...))
	return c
}

// startAgent starts the reference and returns the configuration for only its first agent server.
func startAgent(t *testing.T, o reference.Options) (*reference.Server, *config.Config) {
	t.Helper()
	server, c := start(t, o)
	c.Target, c.AgentTarget, c.Create = "", server.AgentURL(), config.Create{}
	require.NoError(t, c.Complete())
	return server, c
}

func options(t *testing.T, c *config.Config, only ...string) steps.Options {
	t.Helper()
	require.NoError(t, c.Complete())
	catalogue, oracle := catalogueAndOracle(t)
	return steps.Options{Config: c, Catalogue: catalogue, Oracle: oracle, Seed: 1, ID: "test", Select: steps.Selection{Only: only}}
}

// judge judges a target by all requirements, or by the given ones.
func judge(t *testing.T, c *config.Config, only ...string) *reports.Result {
	t.Helper()
	return run(t, options(t, c, only...))
}

func run(t *testing.T, o steps.Options) *reports.Result {
	t.Helper()
	r, err := steps.Run(t.Context(), o)
	require.NoError(t, err)
	return r
}

// send sends JSON with a header, and returns the body of the response.
func send(t *testing.T, method, url, header, value string, body any) (answer any) {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(text))
	require.NoError(t, err)
	r.Header.Set(header, value)
	r.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer a.Body.Close()
	require.NoError(t, json.NewDecoder(a.Body).Decode(&answer))
	return answer
}

// command runs a command and returns its exit code and output.
func command(t *testing.T, arguments ...string) (code int, printed string) {
	t.Helper()
	var b bytes.Buffer
	code = execute(t.Context(), arguments, nil, &b, &b)
	return code, b.String()
}
