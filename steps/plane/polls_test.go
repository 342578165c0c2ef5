package plane

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// TestAWaitInVainShortensTheNext wants polls for the same need to be cut short after one that ran out of its time,
// until a revision is DEPLOYED.
func TestAWaitInVainShortensTheNext(t *testing.T) {
	const whole = time.Hour
	w := newPolls(time.Now())
	for _, first := range []string{"a", "b", "c"} {
		w.expects(first, needCreation)
	}
	endingOf := func(revision string) Ending {
		limit, ending := w.limit(revision, time.Now(), whole)
		assert.Equal(t, ending == TimedOut, limit == whole)
		return ending
	}
	assert.Equal(t, TimedOut, endingOf("b"))
	w.end(&History{revision: "a", Final: "BUILDING", Ending: TimedOut})
	assert.Equal(t, CutShort, endingOf("b"))
	assert.Equal(t, TimedOut, endingOf("of an update"), "another need")
	began := time.Now().Add(-whole)
	limit, ending := w.limit("b", began, whole)
	assert.Equal(t, []any{whole, TimedOut}, []any{limit, ending}, "a poll that began with the first one gets its whole time")

	w.end(&History{revision: "b", Final: "BUILDING", Ending: CutShort})
	again, known := w.endOf("b")
	assert.True(t, known)
	assert.Equal(t, CutShort, again)
	w.end(&History{revision: "c", Final: StatusDeployed})
	assert.Equal(t, TimedOut, endingOf("b"))
	_, known = w.endOf("b")
	assert.False(t, known, "it is polled again")
	_, known = w.endOf("a")
	assert.True(t, known, "it had its whole time")
}

// TestOnlyAWholeWaitFails wants a poll that was cut short, or stuck in an unknown status, to block by the requirement
// that fails.
func TestOnlyAWholeWaitFails(t *testing.T) {
	c := config.Default()
	p := New(&target.Target{Config: &c}, nil, time.Time{})
	p.polls.expects("first", needCreation)
	for ending, want := range map[Ending]outcome.Outcome{
		TimedOut:   {Verdict: reports.Failed},
		CutShort:   {Verdict: reports.Blocked, BlockedBy: []reports.Blocker{{Kind: reports.ByRequirement, Name: "CP-POLL-1"}}},
		Superseded: {Verdict: reports.Blocked},
		Stuck:      {Verdict: reports.Blocked, BlockedBy: []reports.Blocker{{Kind: reports.ByRequirement, Name: "CP-POLL-1"}}},
	} {
		var o *outcome.Outcome
		assert.ErrorAs(t, p.Deployed(&History{revision: "first", Final: "BUILDING", Ending: ending}), &o)
		assert.Equal(t, want.Verdict, o.Verdict, ending)
		assert.Equal(t, want.BlockedBy, o.BlockedBy, ending)
	}
	assert.ErrorContains(t, p.Deployed(&History{revision: "second", Final: "BUILDING", Ending: CutShort}), "CP-UPDATE-10")
}

// TestAnUpdateToTheCurrentValueTellsNothingOfOthers wants the time of a real update to be whole where a target creates
// no revision for an unchanged value, and not the other way round.
func TestAnUpdateToTheCurrentValueTellsNothingOfOthers(t *testing.T) {
	c := config.Default()
	p := New(&target.Target{Config: &c}, nil, time.Time{})
	updated := &client.Answer{Status: http.StatusOK}
	p.noRevisionFor["repo_ref"+ToCurrentValue] = true
	assert.Equal(t, c.Timeouts.Request, p.appearing(updated, "repo_ref"))
	p.noRevisionFor["repo_ref"] = true
	assert.Less(t, p.appearing(updated, "repo_ref"), c.Timeouts.Request)
	delete(p.noRevisionFor, "repo_ref"+ToCurrentValue)
	assert.Less(t, p.appearing(updated, "repo_ref"+ToCurrentValue), c.Timeouts.Request)
}
