package steps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
)

// TestNoEvidenceIsLeftOut judges a conforming agent server. The test run omits the scenarios, or the users, that could
// show a violation of a requirement about the record. The requirement is then skipped, and the test run is not incomplete
// because of it.
func TestNoEvidenceIsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		selection suite.Selection
		change    func(*config.Config)
		id        string
		skip      reports.Skip
	}{
		"an operation of other requirements": {selection: suite.Selection{Only: []string{"AS-THREAD-1", "AS-CONTRACT-*"}},
			id: "AS-CONTRACT-get-run", skip: reports.Skip{Kind: reports.NotSelected, Key: "--only"}},
		"tags": {selection: suite.Selection{Tags: "@AS-THREAD-1 or @AS-CONTRACT-get-run"},
			id: "AS-CONTRACT-get-run", skip: reports.Skip{Kind: reports.NotSelected, Key: "--tags"}},
		"only refusals of callers without credentials": {change: func(c *config.Config) { c.Users = nil },
			id: "AS-CONTRACT-create-run", skip: reports.Skip{Kind: reports.NotConfigured, Key: "users"}},
	} {
		t.Run(name, func(t *testing.T) {
			runInBubble(t, func(t world) {
				s := startIndependent(t, independent.Options{})
				cfg := configure(t, s)
				cfg.Target = ""
				cfg.AgentTarget = s.AgentURL
				if c.change != nil {
					c.change(cfg)
				}
				res := judge(t, cfg, func(o *steps.Options) { o.Select = c.selection })
				q := res.Requirement(c.id)
				require.NotNil(t, q)
				assert.Equal(t, reports.Skipped, q.Verdict, q.Reason)
				assert.Equal(t, &c.skip, q.Skip)
				assert.Zero(t, res.Counts.Requirements[reports.Inconclusive])
			})
		})
	}
}
