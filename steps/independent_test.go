package steps_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/steps/config"
)

// TestIndependentServerIsConformant judges the second server in both editions. All requirements pass except those that
// do not apply to it.
func TestIndependentServerIsConformant(t *testing.T) {
	t.Parallel()
	for _, edition := range []string{config.Cloud, config.SelfHosted} {
		t.Run(edition, func(t *testing.T) {
			runInBubble(t, func(t world) {
				s := startIndependent(t, independent.Options{Edition: edition})
				c := configure(t, s)
				res := judge(t, c, nil)
				if res.Verdict != reports.Conformant {
					_ = console.Write(os.Stderr, res, console.Options{})
				}
				require.Equal(t, reports.Conformant, res.Verdict)
				var others []string
				for _, q := range res.Requirements {
					if q.Verdict != reports.Passed {
						require.NotNil(t, q.Skip, q.ID)
						assert.Equal(t, reports.NotApplicable, q.Skip.Kind, q.ID)
						if q.Skip.Key != "create.body.source" { // of the other edition
							others = append(others, q.ID)
						}
					}
				}
				assert.Equal(t, []string{"AS-AUTHZ-6"}, others)
			})
		})
	}
}
