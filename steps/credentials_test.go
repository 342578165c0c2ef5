package steps_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// TestWrongCredentialsFailNothing runs the suite with credentials that the target refuses. No requirement fails, and
// those that need no credentials pass.
func TestWrongCredentialsFailNothing(t *testing.T) {
	for name, c := range map[string]struct {
		spoil    func(*config.Config, *independent.Server)
		headline string
		passes   string   // a requirement that passes nevertheless
		blocked  string   // a requirement that would pass with any refusal
		only     []string // the selected requirements; all if empty
	}{
		"the key": {func(c *config.Config, s *independent.Server) {
			c.Credentials, c.TenantIDAlone = config.Credentials{APIKey: "a-wrong-key"}, false
		}, "the target refuses the configured credentials: correct AGENTCONFORM_CREDENTIALS_API_KEY, sent as X-Api-Key, " +
			"or set headers.control_plane if a gateway requires a header",
			"CP-ERROR-3", "CP-GET-2", nil},
		"the users": {func(c *config.Config, s *independent.Server) {
			c.AgentTarget = s.AgentURL
			for i := range c.Users {
				c.Users[i].Token = fmt.Sprintf("a-wrong-token-%d", i)
			}
		}, "the agent server refuses the configured credentials: correct AGENTCONFORM_USERS_0_TOKEN and AGENTCONFORM_USERS_1_TOKEN and " +
			"AGENTCONFORM_USERS_2_TOKEN",
			"CP-CREATE-1", "AS-RUN-1", []string{"AS-*", "E2E-*", "CP-CREATE-1"}},
		"the first user": {func(c *config.Config, s *independent.Server) {
			c.AgentTarget, c.Users[0].Token = s.AgentURL, "a-wrong-token"
		}, "the agent server refuses the configured credentials: correct AGENTCONFORM_USERS_0_TOKEN",
			"CP-CREATE-1", "AS-RUN-1", []string{"AS-*", "CP-CREATE-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			runInBubble(t, func(t world) {
				s := startIndependent(t, independent.Options{})
				cfg := configure(t, s)
				cfg.Credentials.Bearer = ""
				c.spoil(cfg, s)
				require.NoError(t, cfg.Complete())
				res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = c.only })
				assert.Equal(t, reports.Incomplete, res.Verdict)
				assert.Contains(t, res.Headline, c.headline+"; it returned status 40")
				assert.Empty(t, res.Findings)
				for _, q := range res.Requirements {
					assert.NotEqual(t, reports.Failed, q.Verdict, "%s: %s", q.ID, q.Reason)
					if q.ID == c.passes {
						assert.Equal(t, reports.Passed, q.Verdict, "%s: %s", q.ID, q.Reason)
					}
					if q.ID == c.blocked {
						assert.Equal(t, reports.Blocked, q.Verdict, "%s: %s", q.ID, q.Reason)
					}
				}
			})
		})
	}
}
