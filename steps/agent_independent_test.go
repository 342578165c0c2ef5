package steps_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/internal/independent"
)

// TestHonestDifferences_Long judges the independent server in the forms that the interface allows: none may cost a point.
func TestHonestDifferences_Long(t *testing.T) {
	type honest struct {
		name    string
		options independent.Options
		change  func(*config.Config)
		agent   bool // its requirements alone are judged
	}
	all := []honest{
		{name: "self-hosted", options: independent.Options{Edition: independent.SelfHosted}},
		{name: "one host under a prefix", options: independent.Options{Prefix: "/shared/box"}},
		{name: "now and then too busy", options: independent.Options{BusyEvery: 7}},
		{name: "slow answers with jitter", options: independent.Options{Jitter: 80 * time.Millisecond}},
		{name: "all that the field offers", options: independent.Options{Extras: true}},
		{name: "threads are searched", agent: true, change: func(c *config.Config) { c.Target, c.Agent.Listing = "", "search" }},
		{name: "refusals with another status", options: independent.Options{RefusedStatus: http.StatusForbidden, RefusalAsJSON: true}, change: agentAlone, agent: true},
		{name: "the agent server alone", change: agentAlone, agent: true},
		{name: "the agent server alone, slow", options: independent.Options{Jitter: 80 * time.Millisecond, BusyEvery: 5}, change: agentAlone, agent: true},
	}
	if testing.Short() {
		all = all[2:3]
	}
	together(t, all, func(c honest) string { return c.name }, func(t *testing.T, c honest) {
		s := startIndependent(t, c.options)
		cfg := configure(t, s)
		if c.agent {
			cfg.AgentTarget = s.AgentURL
		}
		if c.change != nil {
			c.change(cfg)
		}
		res := judge(t, cfg, nil)
		t.Logf("%d exchanges in %d ms", res.Counts.Exchanges, res.Run.DurationMS)
		if !assert.Equal(t, reports.Conformant, res.Verdict) {
			_ = console.Write(os.Stderr, res, console.Options{})
		}
		if c.name == "self-hosted" {
			assertAsStored(t, "independent-self-hosted", res.Requirements)
		}
		for _, q := range res.Requirements {
			assert.Contains(t, []reports.Verdict{reports.Passed, reports.Skipped}, q.Verdict, "%s: %s", q.ID, q.Reason)
			if c.agent && q.Profile != features.AgentServer {
				assert.Equal(t, reports.Skipped, q.Verdict, q.ID)
			}
		}
	})
}

func agentAlone(c *config.Config) { c.Target = "" }

// TestWithoutUsers_Long judges a target without an authentication handler: who needs users is skipped, and says so.
func TestWithoutUsers_Long(t *testing.T) {
	if testing.Short() {
		t.Skip("judges two servers")
	}
	t.Parallel()
	s := startIndependent(t, independent.Options{})
	cfg := configure(t, s)
	cfg.Target, cfg.AgentTarget = "", openFor(t, s)
	missing := map[string][]config.User{"users": nil, "users.1": cfg.Users[:1]}
	together(t, []string{"users", "users.1"}, func(key string) string { return key }, func(t *testing.T, name string) {
		users := missing[name]
		one := *cfg
		one.Users = users
		res := judge(t, &one, nil)
		for _, q := range res.Requirements {
			want := reports.Passed
			switch q.ID {
			case "AS-AUTH-7", "AS-AUTHZ-1", "AS-AUTHZ-2", "AS-AUTHZ-3", "AS-AUTHZ-6", "AS-INVARIANT-4":
				want = reports.Skipped
			}
			if users == nil && (strings.HasPrefix(q.ID, "AS-AUTH") || q.ID == "AS-INVARIANT-2" || q.ID == "AS-INVARIANT-3") {
				want = reports.Skipped
			}
			if q.Profile != features.AgentServer {
				continue
			}
			if users == nil || want == reports.Skipped {
				assert.Equal(t, want, q.Verdict, "%s: %s", q.ID, q.Reason)
			}
			if want == reports.Skipped {
				assert.Contains(t, q.Reason, name, q.ID)
			}
		}
	})
}

// TestRunsThatBeginLate_Long judges a server whose runs lie in a queue for long before they begin.
func TestRunsThatBeginLate_Long(t *testing.T) {
	if testing.Short() {
		t.Skip("every run takes long")
	}
	t.Parallel()
	s := startIndependent(t, independent.Options{})
	res := judgeAgent(t, s, beginsLate(300*time.Millisecond), func(*steps.Options) {})
	t.Logf("%d exchanges in %d ms", res.Counts.Exchanges, res.Run.DurationMS)
	for _, q := range res.Requirements {
		assert.Contains(t, []reports.Verdict{reports.Passed, reports.Skipped}, q.Verdict, "%s: %s", q.ID, q.Reason)
	}
}
