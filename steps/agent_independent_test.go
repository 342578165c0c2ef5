package steps_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
)

// TestWithoutUsers judges a target without an authentication handler: who needs users is skipped, and says so.
func TestWithoutUsers(t *testing.T) {
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
