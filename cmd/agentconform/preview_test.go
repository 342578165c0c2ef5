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
	p, err := steps.PreviewOf(c, catalogue, s)
	require.NoError(t, err)
	return p
}

// TestAPreviewSendsNothingAndIsAboutRight holds the plan to a run, and what doctor promises. What is created at most is
// a bound.
func TestAPreviewSendsNothingAndIsAboutRight(t *testing.T) {
	t.Parallel()
	w := judgedWhole(t)
	r, p := w.result, w.preview
	assert.Empty(t, w.forPreview)
	assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
	made := map[string]int{}
	for _, e := range r.Ledger {
		made[e.Kind]++
	}
	assert.Equal(t, judgedIn(r), w.promised, "what doctor promises")
	assert.Equal(t, judgedIn(r), p.Judged)
	assert.GreaterOrEqual(t, p.Deployments, made[evidence.Deployment])
	assert.LessOrEqual(t, p.Deployments, made[evidence.Deployment]+2)
}

// TestAPreviewOfAReadOnlyRun counts nothing as created.
func TestAPreviewOfAReadOnlyRun(t *testing.T) {
	t.Parallel()
	v := startVendor(t, 23)
	c := readOnly(t, v)
	p := previewed(t, c, steps.Selection{})
	assert.Empty(t, v.requests)
	assert.Zero(t, p.Deployments+p.Revisions)
	r := judge(t, c)
	assert.InDelta(t, judgedIn(r), p.Judged, 2) // the preview assumes a history of several statuses
	keys := map[string]bool{}
	for _, g := range p.Gaps {
		keys[g.Skip.Key] = true
	}
	assert.True(t, keys["--read-only"])
}

// TestTheBudgetIsSpentInOrder runs with few deployments: whatever the seed, the same scenarios get them, and none that
// shares one which another scenario has paid for is left out.
func TestTheBudgetIsSpentInOrder(t *testing.T) {
	t.Parallel()
	const most = 4
	only := []string{"CP-AUTH-*", "CP-CREATE-*", "CP-UPDATE-*", "CP-LIST-3", "AS-AUTHZ-*", "AS-ROLLBACK-*", "AS-THREAD-*"}
	catalogue, err := features.Load()
	require.NoError(t, err)
	selected := 0
	for _, q := range catalogue.Requirements {
		if slices.ContainsFunc(only, func(family string) bool { return strings.HasPrefix(q.ID, strings.TrimSuffix(family, "*")) }) {
			selected++
		}
	}
	var verdicts []map[string]bool
	for _, seed := range []int64{1, 99} {
		v := startVendor(t, 0)
		c := everything(t, v)
		c.MaxDeployments = most
		p := previewed(t, c, steps.Selection{Only: only})
		assert.LessOrEqual(t, p.Deployments, most)
		o := options(t, c, only...)
		o.Seed = seed
		r := run(t, o)
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
			}
		}
		verdicts = append(verdicts, seen)
		over := slices.ContainsFunc(r.Requirements, func(q reports.Requirement) bool {
			return q.Skip != nil && q.Skip.Kind == reports.OverBudget
		})
		assert.True(t, over)
		assert.Len(t, r.Requirements, selected)
	}
	assert.Equal(t, verdicts[0], verdicts[1], "what is skipped")
}
