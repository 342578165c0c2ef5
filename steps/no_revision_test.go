package steps_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
)

// TestUpdatesThatMakeNothingDoNotTakeThePollingTime has updates accepted and forgotten. That a deployment may take an
// hour is no reason to wait that long for a revision to appear.
func TestUpdatesThatMakeNothingDoNotTakeThePollingTime(t *testing.T) {
	inBubble(t, func(t world) {
		c := configure(t, startIndependent(t, independent.Options{}))
		c.Target = behind(t, c.Target, changed{[]string{"update-deployment"}, []string{"unserved", "status = 202"}})
		c.Timeouts.Request, c.Timeouts.Poll = 500*time.Millisecond, time.Hour
		res := judge(t, c, func(o *steps.Options) {
			o.Select.Only = []string{"CP-UPDATE-1", "CP-UPDATE-2", "CP-REV-5", "CP-LIST-4"}
		})
		want := map[string]reports.Verdict{
			"CP-UPDATE-1": reports.Failed, "CP-UPDATE-2": reports.Failed, "CP-LIST-4": reports.Blocked,
		}
		for _, q := range res.Requirements {
			if verdict, is := want[q.ID]; is {
				assert.Equal(t, verdict, q.Verdict, "%s: %s", q.ID, q.Reason)
			}
		}
	})
}
