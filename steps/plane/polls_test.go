package plane

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// TestAnUpdateToTheCurrentValueTellsNothingOfOthers wants the time of a real update to be whole where a target creates
// no revision for an unchanged value, and not the other way round.
func TestAnUpdateToTheCurrentValueTellsNothingOfOthers(t *testing.T) {
	c := config.Default()
	p := New(&target.Target{Config: &c}, nil, time.Time{})
	updated := &exchange.Response{Status: http.StatusOK}
	p.noRevisionFor["repo_ref"+ToCurrentValue] = true
	assert.Equal(t, c.Timeouts.Request, p.appearing(updated, "repo_ref"))
	p.noRevisionFor["repo_ref"] = true
	assert.Less(t, p.appearing(updated, "repo_ref"), c.Timeouts.Request)
	delete(p.noRevisionFor, "repo_ref"+ToCurrentValue)
	assert.Less(t, p.appearing(updated, "repo_ref"+ToCurrentValue), c.Timeouts.Request)
}

// TestOnlyAWholeWaitFails wants a poll that was cut short, or stuck in an unknown status, to block by the requirement
// that fails.
func TestOnlyAWholeWaitFails(t *testing.T) {
	c := config.Default()
	p := New(&target.Target{Config: &c}, nil, time.Time{})
	for ending, want := range map[Ending]outcome.Outcome{
		TimedOut:   {Verdict: reports.Failed},
		CutShort:   {Verdict: reports.Blocked, BlockedBy: []reports.Blocker{{Kind: reports.ByRequirement, Name: "CP-POLL-1"}}},
		Superseded: {Verdict: reports.Blocked},
		Stuck:      {Verdict: reports.Blocked, BlockedBy: []reports.Blocker{{Kind: reports.ByRequirement, Name: "CP-POLL-1"}}},
	} {
		var o *outcome.Outcome
		assert.ErrorAs(t, p.Deployed(&History{owner: "CP-POLL-1", Final: "BUILDING", Ending: ending}), &o)
		assert.Equal(t, want.Verdict, o.Verdict, ending)
		assert.Equal(t, want.BlockedBy, o.BlockedBy, ending)
	}
	assert.ErrorContains(t, p.Deployed(&History{owner: "CP-UPDATE-10", Final: "BUILDING", Ending: CutShort}), "CP-UPDATE-10")
}
