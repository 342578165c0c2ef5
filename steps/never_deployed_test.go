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
)

// TestATargetThatNeverDeploys has every revision stay BUILDING. The run polls for no more than 1.5 times timeouts.poll, several
// revisions at once, and what needs no DEPLOYED revision is judged.
func TestATargetThatNeverDeploys(t *testing.T) {
	t.Parallel()
	s := startIndependent(t, independent.Options{})
	c := configure(t, s)
	c.Target = renamed(t, c.Target, "DEPLOYED", "BUILDING")
	c.Timeouts.Request, c.Timeouts.Poll = 2*time.Second, 3*time.Second
	const pause = 50 * time.Millisecond
	c.Polling.Interval, c.Polling.MaxInterval = pause, pause
	start := time.Now()
	var waiting sync.Map // intervals of the run in which a revision was looked at after a pause, by number
	res := judge(t, c, func(o *steps.Options) {
		o.Concurrency = 1
		o.Progress = func(e steps.Event) {
			if e.Kind == steps.Polled && e.Elapsed >= pause*7/8 {
				waiting.Store(time.Since(start)/pause, true)
			}
		}
	})
	blocked := 0 // by a poll that was cut short
	waits := 0
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
}

// TestAStatusOfTheTargetsOwn has revisions end in a status that the interface does not know. That fails by itself, and what
// depends on the status is judged: another way of writing DEPLOYED is understood, and of any other status the agent server that
// serves shows that the deployment is up.
func TestAStatusOfTheTargetsOwn(t *testing.T) {
	t.Parallel()
	together(t, []string{"deployed", "DEPLOYD"}, func(name string) string { return name }, func(t *testing.T, status string) {
		s := startIndependent(t, independent.Options{})
		c := configure(t, s)
		c.Target = renamed(t, c.Target, "DEPLOYED", status)
		c.Timeouts.Request, c.Timeouts.Poll = 2*time.Second, 3*time.Second
		res := judge(t, c, func(o *steps.Options) {
			o.Select.Only = []string{"CP-POLL-*", "CP-CONTRACT-get-revision", "CP-CONTRACT-list-revisions", "CP-CREATE-*", "CP-GET-1", "CP-UPDATE-1", "CP-UPDATE-10", "CP-LIST-9", "CP-INVARIANT-6", "AS-RUN-1", "E2E-*"}
		})
		for _, q := range res.Requirements {
			switch {
			case q.ID == "CP-POLL-1" || q.ID == "CP-CONTRACT-get-revision" || q.ID == "CP-CONTRACT-list-revisions":
				assert.Equal(t, reports.Failed, q.Verdict, q.ID)
			case status == "DEPLOYD" && slices.Contains([]string{"CP-POLL-2", "CP-UPDATE-10", "CP-LIST-9", "CP-INVARIANT-6"}, q.ID):
				assert.Equal(t, reports.Blocked, q.Verdict, q.ID)
				assert.Contains(t, q.BlockedBy, reports.Blocker{Kind: reports.ByRequirement, Name: "CP-POLL-1"}, q.ID)
			case q.Verdict != reports.Skipped:
				assert.Equal(t, reports.Passed, q.Verdict, "%s: %s", q.ID, q.Reason)
			}
		}
		assert.Len(t, findingsOf(res, "CP-POLL-1"), 1, "one fault is one finding")
		for _, f := range res.Findings {
			assert.NotContains(t, f.Hint, "timeouts", "%s: a longer wait does not help", f.Requirement)
		}
	})
}

func findingsOf(res *reports.Result, id string) (found []reports.Finding) {
	for _, f := range res.Findings {
		if f.Requirement == id {
			found = append(found, f)
		}
	}
	return found
}

// TestAnUnknownStatusFailsAtOnce wants the scenario about statuses to end with the first look that shows an unknown one.
func TestAnUnknownStatusFailsAtOnce(t *testing.T) {
	t.Parallel()
	s := startIndependent(t, independent.Options{})
	c := configure(t, s)
	c.Target = renamed(t, c.Target, "DEPLOYED", "deployed")
	c.Timeouts.Request, c.Timeouts.Poll = 2*time.Second, time.Second
	var mu sync.Mutex
	looks, atOnce := 0, false
	judge(t, c, func(o *steps.Options) {
		o.Select.Only, o.Concurrency = []string{"CP-POLL-1"}, 1
		o.Progress = func(e steps.Event) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case e.Kind == steps.Started:
				looks = 0
			case e.Kind == steps.Polled && e.Text == "deployed":
				looks++
			case e.Kind == steps.Ended && e.Verdict == reports.Failed && looks == 1:
				atOnce = true
			}
		}
	})
	assert.True(t, atOnce)
}
