package steps_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestUpdatesWithoutRevisionEndEarly judges a target that accepts updates and does not carry them out. The suite must not
// wait for the revision until the time limit of a deployment, which is an hour here.
func TestUpdatesWithoutRevisionEndEarly(t *testing.T) {
	runInBubble(t, func(t world) {
		c := configure(t, startIndependent(t, independent.Options{}))
		c.Target = serveDeviating(t, c.Target, deviation{[]string{"update-deployment"}, []string{"unserved", "status = 202"}})
		c.Timeouts.Request, c.Timeouts.Poll = 500*time.Millisecond, time.Hour
		res := judge(t, c, func(o *steps.Options) {
			o.Select.Only = []string{"CP-UPDATE-1", "CP-UPDATE-2", "CP-REV-5", "CP-LIST-4"}
		})
		want := map[string]reports.Verdict{
			"CP-UPDATE-1": reports.Failed, "CP-UPDATE-2": reports.Failed, "CP-LIST-4": reports.Blocked,
		}
		for _, q := range res.Requirements {
			verdict, isChecked := want[q.ID]
			if isChecked {
				assert.Equal(t, verdict, q.Verdict, "%s: %s", q.ID, q.Reason)
			}
		}
	})
}
