package steps_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/internal/independent"
)

// TestTokensGoNowhereElse judges control planes that name a dangerous or senseless address for the agent server: nothing
// is sent there, nothing of the agent server has failed, and the reason shows the address.
func TestTokensGoNowhereElse(t *testing.T) {
	t.Parallel()
	s := startIndependent(t, independent.Options{})
	at, err := url.Parse(s.AgentURL)
	require.NoError(t, err)
	for name, c := range map[string]struct{ address, reason string }{
		"metadata of the machine": {"http://169.254.169.254/latest", `"http://169.254.169.254/latest`},
		"no URL":                  {"not\\u001b[31m an address", `not\x1b[31m an address`},
		"a long one":              {"ftp://" + strings.Repeat("x", 5000), `"ftp://` + strings.Repeat("x", 194) + `": it does not begin with http`},
		"a user's token":          {"http://" + s.Users[0].Token + "@agents.example", `$AGENTCONFORM_USERS_0_TOKEN@agents.example`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configure(t, s)
			cfg.Target = rewriting(t, s.ControlURL, func(body string) string {
				return strings.ReplaceAll(body, `http:\/\/`+at.Host, c.address)
			})
			res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = []string{"AS-THREAD-1", "AS-AUTH-1", "E2E-1"} })
			assert.Equal(t, reports.Incomplete, res.Verdict)
			for _, q := range res.Requirements {
				assert.Equal(t, reports.Blocked, q.Verdict, "%s: %s", q.ID, q.Reason)
				assert.Contains(t, q.Reason, "no user's token is sent to the agent server address that the deployment has at "+cfg.AgentURLFrom)
				assert.Contains(t, q.Reason, c.reason)
				assert.Less(t, len(q.Reason), 600)
			}
			for x, err := range res.Exchanges.All() {
				require.NoError(t, err)
				assert.True(t, strings.HasPrefix(x.URL, cfg.Target), x.URL)
			}
			assert.Empty(t, res.Target.AgentServer)
		})
	}
}
