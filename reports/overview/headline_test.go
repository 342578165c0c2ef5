package overview_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

func TestHeadlineOfARunThatHasNone(t *testing.T) {
	q := func(id string, l reports.Level, v reports.Verdict, reason string) reports.Requirement {
		return reports.Requirement{ID: id, Level: l, Verdict: v, Title: "Rule " + id, Reason: reason}
	}
	gone := func(id string) reports.Requirement {
		blocked := q(id, reports.Must, reports.Blocked, "no connection.")
		blocked.BlockedBy = []reports.Blocker{{Kind: reports.ByTarget, Name: "http://host"}}
		return blocked
	}
	tests := []struct {
		name         string
		conclusion   reports.Conclusion
		requirements []reports.Requirement
		want         string
	}{
		{"conformant", reports.Conformant, []reports.Requirement{q("A-1", reports.Must, reports.Passed, "")}, "Every MUST of the interface that was judged is kept."},
		{"one failure", reports.NonConformant, []reports.Requirement{q("A-1", reports.Must, reports.Failed, ""), q("A-2", reports.Should, reports.Failed, "")}, "A-1 is violated: Rule A-1."},
		{"more", reports.NonConformant, []reports.Requirement{q("A-1", reports.Must, reports.Failed, ""), q("A-2", reports.Must, reports.Failed, ""), q("A-3", reports.Must, reports.Failed, "")}, "A-1 and 2 more are violated: Rule A-1."},
		{"blocked", reports.Incomplete, []reports.Requirement{q("A-1", reports.Must, reports.Blocked, "x"), gone("A-2"), gone("A-3")}, "2 requirements could not be judged: no connection."},
		{"all known", reports.NonConformant, []reports.Requirement{{ID: "A-1", Level: reports.Must, Verdict: reports.Failed, Known: &reports.Known{}}, q("A-2", reports.Must, reports.Passed, "")}, "What does not pass is known: A-1."},
		{"nothing", reports.Incomplete, nil, "Nothing that binds was judged."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, overview.Headline(&reports.Result{Verdict: tt.conclusion, Requirements: tt.requirements}))
		})
	}
}

func TestWhatIsWrong(t *testing.T) {
	assert.Equal(t, "it is wrong", overview.WhatIsWrong(&reports.Finding{Summary: "it is wrong", Step: "Then it is right", Expected: "a", Actual: "b"}))
	assert.Equal(t, "expected status 422, got status 200 …", overview.WhatIsWrong(&reports.Finding{Summary: "it is right", Step: "Then it is right", Expected: "status 422", Actual: "status 200\nbody"}))
	assert.Less(t, len(overview.WhatIsWrong(&reports.Finding{Summary: "s", Step: "s", Expected: strings.Repeat("é", 1e6), Actual: "x"})), 200)
}

func TestDelaysAreToldWhereTheyCostMuch(t *testing.T) {
	for _, c := range []struct {
		took   int64
		counts reports.Counts
		want   string
	}{
		{60_000, reports.Counts{Throttled: 3, WaitedMS: 40_000}, "Said. The target asked the suite to wait, which took 40.0 s of 1m0s."},
		{60_000, reports.Counts{Throttled: 3, WaitedMS: 10_000}, "Said."},
		{2_000, reports.Counts{Throttled: 3, WaitedMS: 900}, "Said."},
		{60_000, reports.Counts{NotWaited: 1}, "Said. The target asked 1 time to wait longer or more often than the suite does: what hung on those answers was not judged."},
	} {
		assert.Equal(t, c.want, overview.Headline(&reports.Result{Headline: "Said.", Run: reports.Run{DurationMS: c.took}, Counts: c.counts}))
	}
	assert.Equal(t, "asked to wait 1 time, for 40.0 s", overview.Waits(reports.Counts{Throttled: 1, WaitedMS: 40_000}))
	assert.Empty(t, overview.Waits(reports.Counts{}))
}
