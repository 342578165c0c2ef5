package steps_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
)

// TestWrongCredentialsAccuseNobody gives a run credentials that the target does not know: nothing has failed then, and
// what has passed without them stays.
func TestWrongCredentialsAccuseNobody(t *testing.T) {
	for name, c := range map[string]struct {
		spoil  func(*config.Config, *independent.Server)
		says   string
		stands string   // a requirement that passes nevertheless
		blocks string   // one that any refusal would pass
		only   []string // the whole target is judged if empty
	}{
		"the key": {func(c *config.Config, s *independent.Server) {
			c.Credentials, c.TenantIDAlone = config.Credentials{APIKey: "a-wrong-key"}, false
		}, "the target refuses credentials.api_key (status 403); set AGENTCONFORM_CREDENTIALS_API_KEY, sent as X-Api-Key", "CP-CONTRACT-create-deployment", "CP-GET-2", nil},
		"the users": {func(c *config.Config, s *independent.Server) {
			c.AgentTarget = s.AgentURL
			c.Users[0].Token, c.Users[1].Token = "a-wrong-token", "another-one"
		}, "the agent server refuses users.0.token and users.1.token (status 401); set AGENTCONFORM_USERS_0_TOKEN and AGENTCONFORM_USERS_1_TOKEN", "CP-CREATE-1", "AS-RUN-1", []string{"AS-*", "E2E-*", "CP-CREATE-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t world) {
				s := startIndependent(t, independent.Options{})
				cfg := configure(t, s)
				cfg.Credentials.Bearer = ""
				c.spoil(cfg, s)
				require.NoError(t, cfg.Complete())
				res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = c.only })
				assert.Equal(t, reports.Incomplete, res.Verdict)
				assert.Equal(t, c.says, res.Headline)
				assert.Empty(t, res.Findings)
				for _, q := range res.Requirements {
					assert.NotEqual(t, reports.Failed, q.Verdict, "%s: %s", q.ID, q.Reason)
					if q.ID == c.stands {
						assert.Equal(t, reports.Passed, q.Verdict, "%s: %s", q.ID, q.Reason)
					}
					if q.ID == c.blocks {
						assert.Equal(t, reports.Blocked, q.Verdict, "%s: %s", q.ID, q.Reason)
					}
				}
			})
		})
	}
}
