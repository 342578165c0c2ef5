package steps_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestMissingAddressNamesAKeyThatHelps judges a control plane whose deployments do not have the address of an agent
// server. The remedy must name a key that is not set and that can help.
func TestMissingAddressNamesAKeyThatHelps(t *testing.T) {
	const field, renamed = "custom_url", "address"
	for name, c := range map[string]struct {
		hasAgent, hasURL bool
		key              string
	}{
		"a URL in another field":      {false, true, "agent_url_from"},
		"no URL":                      {false, false, "agent_target"},
		"no URL, but an agent server": {true, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			runInBubble(t, func(t world) {
				s := startIndependent(t, independent.Options{})
				at, err := url.Parse(s.AgentURL)
				require.NoError(t, err)
				cfg := configure(t, s)
				cfg.Target = serveRewriting(t, s.ControlURL, func(body string) string {
					body = strings.ReplaceAll(body, field, renamed)
					if c.hasURL {
						return body
					}
					return strings.ReplaceAll(body, `http:\/\/`+at.Host, "")
				})
				if c.hasAgent {
					cfg.AgentTarget = s.AgentURL
				}
				res := judge(t, cfg, func(o *steps.Options) { o.Select.Only = []string{"E2E-1"} })
				q := res.Requirements[0]
				require.NotNil(t, q.Skip, q.Reason)
				assert.Equal(t, reports.Skip{Kind: reports.NotConfigured, Key: c.key}, *q.Skip, q.Reason)
				assert.Contains(t, q.Reason, "the deployment has no agent server address at "+cfg.AgentURLFrom)
			})
		})
	}
}
