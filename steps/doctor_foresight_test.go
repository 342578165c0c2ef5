package steps_test

import (
	"fmt"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
)

// TestAnExaminationForeseesWhatARunSkips takes keys out of a configuration, has the target judged, and holds what was
// foreseen of each scenario to its verdict, both ways. What is foreseen to be created is held to what was.
func TestAnExaminationForeseesWhatARunSkips(t *testing.T) {
	for name, c := range map[string]struct {
		edition string
		strip   func(c *config.Config, agent string)
		missing []string // every key that is to be named
	}{
		"self-hosted, one source, one user, a small budget": {config.SelfHosted, func(c *config.Config, _ string) {
			c.Alternatives = config.Alternatives{}
			c.Users, c.Agent.StudioHeaders, c.Create.Refused, c.MaxRevisions = c.Users[:1], nil, nil, 20
		}, []string{"alternatives.image_uri", "alternatives.broken_image_uri", "users.1", "agent.studio_headers", "create.refused"}},
		"as little as possible": {config.Cloud, func(c *config.Config, agent string) {
			*c = bare(t, c, agent)
		}, []string{"edition", "credentials.tenant_id", "credentials.bearer", "other_tenant.api_key", "users", "agent.rejected_detail",
			"alternatives.repo_ref", "alternatives.tag_ref", "alternatives.graph_config_path", "alternatives.broken_ref",
			"alternatives.commits"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startIndependent(t, independent.Options{Edition: c.edition})
			cfg := configure(t, s)
			c.strip(cfg, s.AgentURL)
			require.NoError(t, cfg.Complete())
			catalogue, err := features.Load()
			require.NoError(t, err)
			foreseen := foreseen(cfg, catalogue)
			res := judge(t, cfg, nil)
			named := map[string]bool{}
			for _, q := range res.Requirements {
				for _, scenario := range q.Scenarios {
					key := fmt.Sprintf("%s:%d", scenario.URI, scenario.Line)
					reason, skips := foreseen[key]
					if unset := strings.HasPrefix(scenario.Reason, "not configured: set "); unset || skips {
						assert.Equal(t, reports.Skipped, scenario.Verdict, "%s %s", q.ID, scenario.Name)
						assert.Equal(t, reason, scenario.Reason, "%s %s", q.ID, scenario.Name)
						named[scenario.Skip.Key] = named[scenario.Skip.Key] || unset
					}
				}
			}
			for _, key := range c.missing {
				assert.True(t, named[key], "%s is not named", key)
			}
			assertPlan(t, cfg, suite.Selection{}, res)
		})
	}
}

// bare leaves what a run needs at least. Without users the agent server must do without them, too: a proxy before it
// makes every caller the first user.
func bare(t *testing.T, c *config.Config, agent string) config.Config {
	t.Helper()
	to, err := url.Parse(agent)
	require.NoError(t, err)
	owner := "Bearer " + c.Users[0].Token
	proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Header.Set("Authorization", owner)
	}})
	t.Cleanup(proxy.Close)
	least := config.Default()
	least.Target, least.AgentTarget, least.Create.Body = c.Target, proxy.URL, c.Create.Body
	least.Credentials.APIKey, least.AssistantID = c.Credentials.APIKey, c.AssistantID
	least.Timeouts, least.Polling = c.Timeouts, c.Polling
	return least
}

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

// foreseen returns why each scenario would be skipped, by its place, as far as the configuration tells before a run.
func foreseen(c *config.Config, catalogue *features.Catalogue) map[string]string {
	forecast, all := suite.Foresee(c, suite.Selection{}), map[string]string{}
	for _, s := range catalogue.Scenarios() {
		if lacking := forecast.Lacking(s); len(lacking) > 0 {
			all[s.Key()] = lacking[0].Reason
		}
	}
	return all
}
