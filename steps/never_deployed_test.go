package steps_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/interop/independent"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/target"
)

// TestTargetThatNeverDeploys judges a target whose revisions all stay BUILDING. The test run waits for at most 1.5 times
// timeouts.poll in total, polls several revisions at once, and judges requirements that need no DEPLOYED revision.
func TestTargetThatNeverDeploys(t *testing.T) {
	runInBubble(t, func(t world) {
		s := startIndependent(t, independent.Options{})
		c := configure(t, s)
		c.Target = serveRenaming(t, c.Target, "DEPLOYED", "BUILDING")
		c.Timeouts.Request, c.Timeouts.Poll = 2*time.Second, 3*time.Second
		const pause = 50 * time.Millisecond
		c.Polling.Interval, c.Polling.MaxInterval = pause, pause
		start := time.Now()
		var waiting sync.Map // the numbers of the intervals in which a revision was read after a pause
		res := judge(t, c, func(o *steps.Options) {
			o.Concurrency = 1
			o.Progress = func(e target.Event) {
				if e.Kind == target.Polled && e.Elapsed >= pause*7/8 {
					waiting.Store(time.Since(start)/pause, true)
				}
			}
		})
		blocked, waits := 0, 0
		waiting.Range(func(any, any) bool { waits++; return true })
		assert.LessOrEqual(t, time.Duration(waits)*pause, c.Timeouts.Poll*3/2)
		for _, q := range res.Requirements {
			if slices.Contains(q.BlockedBy, reports.Blocker{Kind: reports.ByRequirement, Name: "CP-POLL-1"}) {
				blocked++
			}
			switch {
			case q.ID == "CP-POLL-1":
				assert.Equal(t, reports.Failed, q.Verdict, q.ID)
			case strings.HasPrefix(q.ID, "CP-AUTH-") || q.ID == "CP-GET-2" || q.ID == "CP-REV-2" || q.ID == "CP-LIST-3":
				assert.Equal(t, reports.Passed, q.Verdict, "%s: %s", q.ID, q.Reason)
			default:
				assert.NotEqual(t, reports.Failed, q.Verdict, "%s: %s", q.ID, q.Reason)
			}
		}
		assert.Positive(t, blocked)
	})
}
