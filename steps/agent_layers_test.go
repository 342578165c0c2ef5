package steps_test

import (
	"net/url"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reference/deviate"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/steps/config"
)

// changed is a change of what the independent server does, as rows say it.
type changed struct{ when, do []string }

// behind puts changes before a half of the independent server, the last one outermost, and returns its address.
func behind(t world, half string, changes ...changed) string {
	t.Helper()
	at, err := url.Parse(half)
	require.NoError(t, err)
	var layers []faults.Layer
	for _, c := range changes {
		row, err := deviate.New(t.Name(), c.when, c.do)
		require.NoError(t, err)
		count := &deviate.Count{}
		layers = append(layers, faults.Around(row, count))
		t.Cleanup(func() { assert.Positive(t, count.Load(), "%q changed nothing", c.when) })
	}
	handler, err := faults.Before(at, t.transport(), layers...)
	require.NoError(t, err)
	return t.serve(handler).URL
}

// agentConfig starts the independent server and configures its agent server, behind the changes.
func agentConfig(t world, changes ...changed) *config.Config {
	t.Helper()
	s := startIndependent(t, independent.Options{})
	c := configure(t, s)
	c.Target, c.Agent.Listing, c.AgentTarget = "", "search", behind(t, s.AgentURL, changes...)+faults.ProxiedAgent
	c.Timeouts.Request, c.Timeouts.Run = 2*time.Second, 2*time.Second
	require.NoError(t, c.Complete())
	return c
}
