package steps_test

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// TestAmbiguousBehavior judges two kinds of servers. Conforming servers look faulty because they are slow, use short
// pages or refuse a user. Faulty servers look like these.
func TestAmbiguousBehavior(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		deviations []deviation
		configure  func(*config.Config)
		want       map[string]reports.Verdict
	}{
		{name: "a rollback responds after the prior run was interrupted",
			deviations: []deviation{{[]string{"create-run", "request.multitask_strategy = rollback", "status = 2xx"},
				[]string{"delay 1800ms"}}},
			configure: func(c *config.Config) { c.Timeouts.Request = 5 * time.Second },
			want:      map[string]reports.Verdict{"AS-ROLLBACK-1": reports.Passed, "AS-ROLLBACK-2": reports.Passed}},
		{name: "an unknown strategy is treated as interrupt",
			deviations: []deviation{{[]string{"create-run", "request.multitask_strategy = enqueue"},
				[]string{"request.multitask_strategy = interrupt"}}},
			want: map[string]reports.Verdict{"AS-ROLLBACK-5": reports.Passed}},
		{name: "the second user is refused",
			configure: func(c *config.Config) { c.Users[1].Token = "not-valid-at-all" },
			want:      map[string]reports.Verdict{"AS-AUTHZ-1": reports.Blocked, "AS-AUTHZ-2": reports.Blocked}},
		{name: "the users have the same fields, and one has the name of the other",
			configure: func(c *config.Config) {
				c.Users[0].Name, c.Users[1].Name = c.Users[1].Identity, "second"
				for i := range c.Users {
					c.Users[i].Identity, c.Users[i].Fields = "", map[string]any{"is_studio_user": false}
				}
			},
			want: map[string]reports.Verdict{"AS-AUTH-7": reports.Skipped, "AS-AUTHZ-3": reports.Passed, "AS-AUTHZ-4": reports.Passed}},
		{name: "a page has at most three threads", deviations: []deviation{shortPages},
			want: map[string]reports.Verdict{"AS-THREAD-2": reports.Passed, "AS-AUTHZ-3": reports.Passed}},
		{name: "a page has at most three threads, and a filter shows foreign ones",
			deviations: []deviation{{[]string{"search-threads", "request.metadata.owner is present"},
				[]string{"header.Authorization = Bearer " + independent.Users[2].Token}}, shortPages},
			want: map[string]reports.Verdict{"AS-AUTHZ-3": reports.Failed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			runInBubble(t, func(t world) {
				cfg := configureAgents(t, c.deviations...)
				if c.configure != nil {
					c.configure(cfg)
				}
				res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = slices.Collect(maps.Keys(c.want)) })
				for _, q := range res.Requirements {
					assert.Equal(t, c.want[q.ID], q.Verdict, "%s: %s", q.ID, q.Reason)
				}
			})
		})
	}
}

// shortPages limits each page to three threads.
var shortPages = deviation{[]string{"search-threads", "request.limit > 3"}, []string{"request.limit = 3"}}

// TestControlPlaneWithoutAgentServers judges a target whose deployments have no address at the default of
// agent_url_from: the rules of agent servers are skipped. If the configuration sets agent_url_from, they are blocked.
// Both reasons name a path at which the deployment has an address.
func TestControlPlaneWithoutAgentServers(t *testing.T) {
	runInBubble(t, func(t world) {
		s := startIndependent(t, independent.Options{})
		cfg := configure(t, s)
		cfg.Target = serveRenaming(t, cfg.Target, "custom_url", "elsewhere")
		cfg.Timeouts.Request = 2 * time.Second
		const found = `"source_config.elsewhere" ("http://`
		want := map[string]reports.Verdict{config.Default().AgentURLFrom: reports.Skipped, "nowhere": reports.Blocked}
		for path, verdict := range want {
			changed := *cfg
			changed.AgentURLFrom = path
			res := judge(t, &changed, nil)
			for _, q := range res.Requirements {
				if q.Profile != features.ControlPlane {
					assert.Equal(t, verdict, q.Verdict, "%s: %s", q.ID, q.Reason)
					assert.Contains(t, q.Reason, "agent_url_from", q.ID)
					assert.Contains(t, q.Reason, found, q.ID)
				}
			}
			if verdict == reports.Skipped {
				assert.Equal(t, reports.Conformant, res.Verdict, res.Headline)
				assert.Positive(t, res.UnjudgedCount())
			} else {
				assert.Equal(t, reports.Incomplete, res.Verdict, res.Headline)
			}
		}
	})
}

// TestVaryingAnswersAreInconclusive judges a graph that gives a different answer to each run. A different answer after an
// update then does not show that the new revision is served.
func TestVaryingAnswersAreInconclusive(t *testing.T) {
	runInBubble(t, func(t world) {
		s := startIndependent(t, independent.Options{})
		at, err := url.Parse(s.AgentURL)
		require.NoError(t, err)
		var responses atomic.Int64
		agents := serveRewriting(t, "http://"+at.Host, func(body string) string {
			return strings.ReplaceAll(body, "voice says", "voice says, for the "+strconv.FormatInt(responses.Add(1), 10)+"th time")
		})
		cfg := configure(t, s)
		cfg.Target = serveRewriting(t, s.ControlURL, func(body string) string {
			return strings.ReplaceAll(body, at.Host, strings.TrimPrefix(agents, "http://"))
		})
		res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = []string{"E2E-1"} })
		assert.Equal(t, reports.Inconclusive, res.Requirements[0].Verdict)
		assert.Contains(t, res.Requirements[0].Reason, "different ai messages for the same input")
	})
}
