package steps_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestDeployedWithoutServing judges a target whose DEPLOYED deployments have an unreachable agent server. E2E-1 fails and
// blocks the rules of the agent server. No other rule fails.
func TestDeployedWithoutServing(t *testing.T) {
	runInBubble(t, func(t world) {
		for _, how := range []string{"refused", "503"} {
			s := startIndependent(t, independent.Options{})
			proxy := t.serve(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusServiceUnavailable)
			}))
			unserved := proxy.Listener.Addr().String()
			if how == "refused" {
				proxy.Close()
			}
			agents, err := url.Parse(s.AgentURL)
			require.NoError(t, err)
			c := configure(t, s)
			c.Target = serveRewriting(t, c.Target, func(body string) string {
				return strings.ReplaceAll(body, agents.Host, unserved)
			})
			c.Timeouts.Request, c.Timeouts.Poll = time.Second, 2*time.Second
			res := judge(t, c, func(o *steps.Options) {
				o.Select.Only = []string{"E2E-1", "AS-RUN-1", "AS-ERROR-1", "CP-GET-1"}
			})
			for _, q := range res.Requirements {
				switch q.ID {
				case "E2E-1":
					assert.Equal(t, reports.Failed, q.Verdict, q.Reason)
				case "AS-RUN-1":
					assert.Contains(t, q.BlockedBy, reports.Blocker{Kind: reports.ByRequirement, Name: "E2E-1"}, q.Reason)
				default:
					assert.NotEqual(t, reports.Failed, q.Verdict, "%s: %s", q.ID, q.Reason)
				}
			}
			found := findingsOf(res, "E2E-1")
			require.Len(t, found, 1)
			assert.Contains(t, found[0].Hint, "DEPLOYED")
		}
	})
}
