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

// TestWaiting checks that the revision is named that has kept a non-final status for the longest time.
func TestWaiting(t *testing.T) {
	begun := time.Now()
	p := newPolls(begun, time.Minute)
	p.record("d", "over", &exchange.Response{Body: []byte(`{"status":"BUILDING"}`), Sent: begun})
	for _, revision := range []string{"a", "b", "c"} {
		p.begin(revision)
	}
	for i, read := range [][2]string{{"a", "BUILDING"}, {"b", "QUEUED"}, {"c", "QUEUED"}, {"b", "QUEUED"}, {"a", "DEPLOYED"}, {"c", "BUILDING"}} {
		p.record("d", read[0], &exchange.Response{Body: []byte(`{"status":"` + read[1] + `"}`), Sent: begun.Add(time.Duration(i) * time.Second)})
	}
	revision, status, since := p.Waiting()
	assert.Equal(t, []string{"b", "QUEUED"}, []string{revision, status})
	assert.Equal(t, begun.Add(time.Second), since)
	p.record("d", "b", &exchange.Response{Body: []byte(`{"status":"DEPLOYED"}`)})
	p.record("d", "c", &exchange.Response{Body: []byte(`{"status":"BUILD_FAILED"}`)})
	revision, _, _ = p.Waiting()
	assert.Empty(t, revision)
}

// TestPollEnding checks when a poll that has not satisfied its condition ends, with timeouts.poll of 100 s.
func TestPollEnding(t *testing.T) {
	begun := time.Now()
	after := func(seconds int) time.Time { return begun.Add(time.Duration(seconds) * time.Second) }
	timedOut := func(p *polls) {
		p.timedOut[ownerOfUpdate] = &History{revision: "earlier", end: after(50)}
	}
	endedAs := func(ending Ending) func(p *polls) {
		return func(p *polls) { p.unfinished["r"] = &History{revision: "r", deployment: "d", Ending: ending} }
	}
	deployed := func(p *polls) { p.deployed[ownerOfUpdate] = true }
	final := func(p *polls) { p.final["WARM"] = true }
	type known = []func(*polls)
	for name, c := range map[string]struct {
		status   string
		known    known
		from, at int // start of the poll and time of the next read, in seconds
		want     Ending
	}{
		"before the deadline":                            {"BUILDING", nil, 0, 100, Reached},
		"after the deadline":                             {"BUILDING", nil, 0, 101, TimedOut},
		"another poll timed out before this one started": {"BUILDING", known{timedOut}, 60, 66, CutShort},
		"the same, before the short deadline":            {"BUILDING", known{timedOut}, 60, 65, Reached},
		"another poll timed out while this one polled":   {"BUILDING", known{timedOut}, 0, 55, Reached},
		"the same, after the short deadline":             {"BUILDING", known{timedOut}, 0, 56, CutShort},
		"another poll timed out, and a third was good":   {"BUILDING", known{timedOut, deployed}, 60, 66, Reached},
		"this revision timed out before":                 {"BUILDING", known{endedAs(TimedOut)}, 0, 1, TimedOut},
		"this revision was cut short before":             {"BUILDING", known{endedAs(CutShort)}, 0, 1, CutShort},
		"the same, and another one is DEPLOYED now":      {"BUILDING", known{endedAs(CutShort), deployed}, 0, 1, Reached},
		"this revision was stuck, and has changed":       {"BUILDING", known{endedAs(Stuck)}, 0, 1, Reached},
		"this revision was stuck, and still is":          {"WARM", known{endedAs(Stuck)}, 0, 1, Stuck},
		"a status outside the interface, for a while":    {"WARM", nil, 0, 25, Reached},
		"a status outside the interface, for too long":   {"WARM", nil, 0, 26, Stuck},
		"a status outside the interface that was final":  {"WARM", known{final}, 0, 1, Stuck},
		"a status in another spelling":                   {"awaiting build", nil, 0, 26, Reached},
	} {
		p := newPolls(begun, 100*time.Second)
		for _, set := range c.known {
			set(p)
		}
		h := &History{deployment: "d", revision: "r", start: after(c.from), changed: after(c.from), Final: c.status}
		assert.Equal(t, c.want, p.ending(h, after(c.at)), name)
	}
}

// TestPollsOfOneRevision checks that polls of a revision by two spellings of its id are polls of the same revision.
func TestPollsOfOneRevision(t *testing.T) {
	const id, inCapitals = "aaaaaaaa-0000-4000-8000-000000000001", "AAAAAAAA-0000-4000-8000-000000000001"
	p := newPolls(time.Now(), 100*time.Second)
	p.setOwner(id, ownerOfCreation)
	for shown, status := range map[string]string{id: "BUILDING", inCapitals: "DEPLOYING"} {
		p.record("d", shown, &exchange.Response{Status: http.StatusOK, Body: []byte(`{"status":"` + status + `"}`)})
	}
	p.finish(&History{deployment: "d", revision: inCapitals, Ending: TimedOut})
	assert.ElementsMatch(t, []string{"BUILDING", "DEPLOYING"}, p.Observed(inCapitals).Statuses)
	timeline := p.Timeline()
	assert.Equal(t, timeline[0].Revision, timeline[1].Revision)
	assert.NotNil(t, p.Overdue(id))
	assert.Equal(t, TimedOut, p.earlierEnding(id))
	assert.True(t, p.isHung("d"))
}

// TestOnlyTimedOutPollsFail checks that a poll that ended early is blocked by the requirement that fails.
func TestOnlyTimedOutPollsFail(t *testing.T) {
	c := config.Default()
	p := New(&target.Target{Config: &c}, nil, time.Time{})
	byCreation := []reports.Blocker{{Kind: reports.ByRequirement, Name: ownerOfCreation}}
	for ending, want := range map[Ending]outcome.Outcome{
		TimedOut:   {Verdict: reports.Failed},
		CutShort:   {Verdict: reports.Blocked, BlockedBy: byCreation},
		Superseded: {Verdict: reports.Blocked},
		Stuck:      {Verdict: reports.Blocked, BlockedBy: byCreation},
	} {
		var o *outcome.Outcome
		assert.ErrorAs(t, p.checkDeployed(&History{owner: ownerOfCreation, Final: "BUILDING", Ending: ending}), &o)
		assert.Equal(t, want.Verdict, o.Verdict, ending)
		assert.Equal(t, want.BlockedBy, o.BlockedBy, ending)
	}
	updated := &History{owner: ownerOfUpdate, Final: "BUILDING", Ending: CutShort}
	assert.ErrorContains(t, p.checkDeployed(updated), ownerOfUpdate)
}
