package steps_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestRunsThatNeverEnd judges a server that executes nothing on a thread after a failed run. The scenarios wait for
// timeouts.run at the same time. All later waits are short, including those of exploration.
func TestRunsThatNeverEnd(t *testing.T) {
	runInBubble(t, func(t world) {
		s := startIndependent(t, independent.Options{})
		c := configure(t, s)
		layers, _, err := faults.Find("failed-run-stops-its-thread")
		require.NoError(t, err)
		at, err := url.Parse(s.AgentURL)
		require.NoError(t, err)
		handler, err := faults.Before(at, t.transport(), layers...)
		require.NoError(t, err)
		c.Target, c.Agent.Listing = "", "search"
		c.AgentTarget = t.serve(handler).URL + faults.ProxiedAgent
		c.Timeouts.Run = 5 * time.Minute
		require.NoError(t, c.Complete())
		start := time.Now()
		res := judge(t, c, func(o *steps.Options) { o.Explore = 100 })
		assert.Less(t, time.Since(start), c.Timeouts.Run*3/2)
		require.Len(t, res.Problems, 1)
		assert.Equal(t, "AS-RUN-4", res.Problems[0].Requirement)
		assert.Equal(t, reports.Failed, res.Requirement("AS-RUN-4").Verdict)
	})
}
