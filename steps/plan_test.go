package steps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
)

// assertPlan holds what was to be created at most to what was.
func assertPlan(t *testing.T, c *config.Config, selected suite.Selection, res *reports.Result) {
	t.Helper()
	catalogue, err := features.Load()
	require.NoError(t, err)
	deployments, revisions := created(t, res)
	scenarios, err := selected.Apply(catalogue)
	require.NoError(t, err)
	f := suite.Foresee(c, selected)
	f.Share(scenarios)
	plan := f.Plan(scenarios)
	most, mostRevisions := plan.Deployments, plan.Revisions
	assert.LessOrEqual(t, deployments, most)
	assert.LessOrEqual(t, revisions, mostRevisions)
	assert.LessOrEqual(t, most-deployments, 2, "the plan says too much: %d deployments", most)
	assert.LessOrEqual(t, mostRevisions-revisions, 4, "the plan says too much: %d revisions", mostRevisions)
}

// created counts the deployments of the ledger and the revisions that any answer named.
func created(t *testing.T, res *reports.Result) (deployments, revisions int) {
	t.Helper()
	for _, entry := range res.Ledger {
		if entry.Kind == "deployment" {
			deployments++
		}
	}
	seen := map[string]bool{}
	for i := 1; i <= len(res.Exchanges); i++ {
		x, err := res.Exchange(i)
		require.NoError(t, err)
		body := gjson.Parse(x.Response.Body)
		if id := body.Get("latest_revision_id").String(); id != "" {
			seen[id] = true
		}
		if strings.Contains(x.URL, "/revisions") {
			for _, id := range body.Get("resources.#.id").Array() {
				seen[id.String()] = true
			}
		}
	}
	return deployments, len(seen)
}
