package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
)

// everything is a whole configuration for the vendor's target, whose agent server is that of a deployment of the run.
func everything(t *testing.T, v *vendor) *config.Config {
	t.Helper()
	c := config.Default()
	describe(&c, v.Server)
	c.AgentTarget = ""
	require.NoError(t, c.Complete())
	return &c
}

func previewed(t *testing.T, c *config.Config, s steps.Selection) *steps.Preview {
	t.Helper()
	catalogue, err := features.Load()
	require.NoError(t, err)
	p, err := steps.PreviewOf(c, catalogue, s, steps.DefaultConcurrency, steps.Pace{})
	require.NoError(t, err)
	return p
}

// TestAPreviewSendsNothingAndIsAboutRight holds the plan to a run. What is created at most is a bound, and the rest about as much.
func TestAPreviewSendsNothingAndIsAboutRight_Long(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole run")
	}
	t.Parallel()
	v := startVendor(t, 0)
	c := everything(t, v)
	p := previewed(t, c, steps.Selection{})
	assert.Empty(t, v.requests)
	r := judgeAlone(t, c)
	made := map[string]int{}
	for _, e := range r.Ledger {
		made[e.Kind]++
	}
	assert.Equal(t, judgedIn(r), p.Judged)
	assert.GreaterOrEqual(t, p.Deployments, made[evidence.Deployment])
	assert.LessOrEqual(t, p.Deployments, made[evidence.Deployment]+2)
	assert.InEpsilon(t, made[evidence.Thread], p.Threads, 0.3, "threads")
	assert.InEpsilon(t, made[evidence.Run], p.Runs, 0.3, "runs")
	assert.InEpsilon(t, len(v.requests), p.Requests, 0.3, "requests")
	assert.Less(t, p.Least.Milliseconds(), r.Run.DurationMS)
	assert.Positive(t, p.Least)
}

// TestAPreviewOfAReadOnlyRun counts nothing as created, and about as many requests as are sent.
func TestAPreviewOfAReadOnlyRun(t *testing.T) {
	t.Parallel()
	v := startVendor(t, 23)
	c := readOnly(t, v)
	p := previewed(t, c, steps.Selection{})
	assert.Empty(t, v.requests)
	assert.Zero(t, p.Deployments+p.Revisions+p.Threads+p.Runs)
	r := judgeAlone(t, c)
	assert.InDelta(t, judgedIn(r), p.Judged, 2) // the preview assumes a history of several statuses
	assert.InEpsilon(t, len(v.requests), p.Requests, 0.4)
	keys := map[string]bool{}
	for _, g := range p.Gaps {
		keys[g.Skip.Key] = true
	}
	assert.True(t, keys["--read-only"])
}

// TestTheBudgetIsSpentByImportance_Long runs with few deployments: whatever the seed, the same scenarios get them, and those about security
// and rollback before those about forms.
func TestTheBudgetIsSpentByImportance_Long(t *testing.T) {
	if testing.Short() {
		t.Skip("judges two servers whole")
	}
	t.Parallel()
	const most = 4
	catalogue, err := features.Load()
	require.NoError(t, err)
	var verdicts []map[string]bool
	for _, seed := range []int64{1, 99} {
		v := startVendor(t, 0)
		c := everything(t, v)
		c.MaxDeployments = most
		p := previewed(t, c, steps.Selection{})
		assert.LessOrEqual(t, p.Deployments, most)
		o := optionsAlone(t, c)
		o.Seed = seed
		r, err := steps.Run(t.Context(), o)
		require.NoError(t, err)
		seen, created := map[string]bool{}, 0
		for _, e := range r.Ledger {
			if e.Kind == evidence.Deployment {
				created++
			}
		}
		assert.LessOrEqual(t, created, most)
		for _, q := range r.Requirements {
			for _, s := range q.Scenarios {
				seen[s.URI+"\n"+s.Name] = s.Verdict == reports.Skipped
				if s.Skip == nil || s.Skip.Kind != reports.OverBudget {
					continue
				}
				assert.Equal(t, "max_deployments", s.Skip.Key)
				assert.NotEqual(t, "rollback", q.Subject, "%s %s", q.ID, s.Name)
				assert.True(t, q.Subject != "security" || strings.HasSuffix(s.Name, "create a deployment is answered with 2xx"), "%s %s", q.ID, s.Name)
			}
		}
		verdicts = append(verdicts, seen)
		over := slices.ContainsFunc(r.Requirements, func(q reports.Requirement) bool {
			return q.Skip != nil && q.Skip.Kind == reports.OverBudget
		})
		assert.True(t, over)
		assert.Len(t, r.Requirements, len(catalogue.Requirements))
	}
	assert.Equal(t, verdicts[0], verdicts[1], "what is skipped")
}
