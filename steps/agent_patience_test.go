package steps_test

import (
	"maps"
	"net/http"
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

// TestHardToTell judges servers that are slow, sparing or unwilling where it is easily taken for a fault, and such whose
// fault is easily taken for one of these.
func TestHardToTell(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		changes []changed
		change  func(*config.Config)
		want    map[string]reports.Verdict
	}{
		{name: "a rollback is answered once the prior run was interrupted",
			changes: []changed{{[]string{"create-run", "request.multitask_strategy = rollback", "status = 2xx"}, []string{"delay 1800ms"}}},
			change:  func(c *config.Config) { c.Timeouts.Request = 5 * time.Second },
			want:    map[string]reports.Verdict{"AS-ROLLBACK-1": reports.Passed, "AS-ROLLBACK-2": reports.Passed}},
		{name: "an unknown strategy is taken for interrupt", changes: []changed{{[]string{"create-run", "request.multitask_strategy = enqueue"},
			[]string{"request.multitask_strategy = interrupt"}}},
			want: map[string]reports.Verdict{"AS-ROLLBACK-5": reports.Passed}},
		{name: "the second user is not let in",
			change: func(c *config.Config) { c.Users[1].Token = "not-valid-at-all" },
			want:   map[string]reports.Verdict{"AS-AUTHZ-1": reports.Blocked, "AS-AUTHZ-2": reports.Blocked}},
		{name: "the users differ in nothing that is known, and one has the name that the other is called by",
			change: func(c *config.Config) {
				c.Users[0].Name, c.Users[1].Name = c.Users[1].Identity, "second"
				for i := range c.Users {
					c.Users[i].Identity, c.Users[i].Fields = "", map[string]any{"is_studio_user": false}
				}
			},
			want: map[string]reports.Verdict{"AS-AUTH-7": reports.Skipped, "AS-AUTHZ-3": reports.Passed, "AS-AUTHZ-4": reports.Passed}},
		{name: "a page holds three threads", changes: []changed{shortPages},
			want: map[string]reports.Verdict{"AS-THREAD-2": reports.Passed, "AS-AUTHZ-3": reports.Passed}},
		{name: "a page holds three threads, which may be foreign",
			changes: []changed{{[]string{"search-threads", "request.metadata.owner is present"},
				[]string{"header.Authorization = Bearer " + independent.Users[2].Token}}, shortPages},
			want: map[string]reports.Verdict{"AS-AUTHZ-3": reports.Failed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t world) {
				cfg := agentConfig(t, c.changes...)
				if c.change != nil {
					c.change(cfg)
				}
				res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = slices.Collect(maps.Keys(c.want)) })
				for _, q := range res.Requirements {
					assert.Equal(t, c.want[q.ID], q.Verdict, "%s: %s", q.ID, q.Reason)
				}
			})
		})
	}
}

// shortPages gives at most three threads at once, however many it is asked for.
var shortPages = changed{[]string{"search-threads", "request.limit > 3"}, []string{"request.limit = 3"}}

// TestControlPlaneAlone judges a target that does not tell where its agent servers are: nothing is held against it, and
// nothing is said of what was not judged. Who has said where to look is told where an address is.
func TestControlPlaneAlone(t *testing.T) {
	inBubble(t, func(t world) {
		s := startIndependent(t, independent.Options{})
		cfg := configure(t, s)
		cfg.Target = renamed(t, cfg.Target, "custom_url", "elsewhere")
		cfg.Timeouts.Request = 2 * time.Second
		const at = `"source_config.elsewhere" ("http://`
		wanted := map[string]reports.Verdict{config.Default().AgentURLFrom: reports.Skipped, "nowhere": reports.Blocked}
		for path, verdict := range wanted {
			alone := *cfg
			alone.AgentURLFrom = path
			res := judge(t, &alone, nil)
			for _, q := range res.Requirements {
				if q.Profile != features.ControlPlane {
					assert.Equal(t, verdict, q.Verdict, "%s: %s", q.ID, q.Reason)
					assert.Contains(t, q.Reason, "agent_url_from", q.ID)
					assert.Contains(t, q.Reason, at, q.ID)
				}
			}
			if assert.False(t, res.UnjudgedCount() == 0 && verdict == reports.Skipped); verdict == reports.Skipped {
				assert.Equal(t, reports.Conformant, res.Verdict, res.Headline)
			} else {
				assert.Equal(t, reports.Incomplete, res.Verdict, res.Headline)
			}
		}
	})
}

// renamed stands before a target and gives a field of its answers another name.
func renamed(t world, target, field, name string) string {
	t.Helper()
	return rewriting(t, target, func(body string) string { return strings.ReplaceAll(body, `"`+field+`"`, `"`+name+`"`) })
}

// TestAnswersThatVary judges a deployment whose graph never answers the same: another answer tells of no new revision.
func TestAnswersThatVary(t *testing.T) {
	inBubble(t, func(t world) {
		s := startIndependent(t, independent.Options{})
		at, err := url.Parse(s.AgentURL)
		require.NoError(t, err)
		var asked atomic.Int64
		agents := rewriting(t, "http://"+at.Host, func(body string) string {
			return strings.ReplaceAll(body, "voice says", "voice says, for the "+strconv.FormatInt(asked.Add(1), 10)+"th time")
		})
		cfg := configure(t, s)
		cfg.Target = rewriting(t, s.ControlURL, func(body string) string {
			return strings.ReplaceAll(body, at.Host, strings.TrimPrefix(agents, "http://"))
		})
		res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = []string{"E2E-1"} })
		assert.Equal(t, reports.Inconclusive, res.Requirements[0].Verdict)
		assert.Contains(t, res.Requirements[0].Reason, "different answers to the same input")
	})
}

// rewriting puts a server before another one that changes the bodies of its answers, and returns its address.
func rewriting(t world, address string, change func(body string) string) string {
	t.Helper()
	return changedBy(t, address, func(*http.Request) {}, func(_ *http.Response, body []byte) []byte {
		return []byte(change(string(body)))
	})
}
