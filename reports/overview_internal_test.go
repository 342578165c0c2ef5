package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestHeadlineOfARunThatHasNone(t *testing.T) {
	q := func(id string, l Level, v Verdict, reason string) Requirement {
		return Requirement{ID: id, Level: l, Verdict: v, Title: "Rule " + id, Reason: reason}
	}
	tests := []struct {
		name         string
		conclusion   Conclusion
		requirements []Requirement
		want         string
	}{
		{"conformant", Conformant, []Requirement{q("A-1", Must, Passed, "")}, "Every MUST of the interface that was judged is kept."},
		{"one failure", NonConformant, []Requirement{q("A-1", Must, Failed, ""), q("A-2", Should, Failed, "")}, "A-1 is violated: Rule A-1."},
		{"more", NonConformant, []Requirement{q("A-1", Must, Failed, ""), q("A-2", Must, Failed, ""), q("A-3", Must, Failed, "")}, "A-1 and 2 more are violated: Rule A-1."},
		{"blocked", Incomplete, []Requirement{q("A-1", Must, Blocked, "x"), q("A-2", Must, Blocked, "no connection."), q("A-3", Must, Inconclusive, "no connection.")}, "2 requirements could not be judged: no connection."},
		{"all known", NonConformant, []Requirement{{ID: "A-1", Level: Must, Verdict: Failed, Known: &Known{}}, q("A-2", Must, Passed, "")}, "What does not pass is known: A-1."},
		{"nothing", Incomplete, nil, "Nothing that binds was judged."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, headline(&Result{Verdict: tt.conclusion, Requirements: tt.requirements}))
		})
	}
}

func TestWhatIsWrong(t *testing.T) {
	assert.Equal(t, "it is wrong", whatIsWrong(&Finding{Summary: "it is wrong", Step: "Then it is right", Expected: "a", Actual: "b"}))
	assert.Equal(t, "expected status 422, got status 200 …", whatIsWrong(&Finding{Summary: "it is right", Step: "Then it is right", Expected: "status 422", Actual: "status 200\nbody"}))
	assert.Less(t, len(whatIsWrong(&Finding{Summary: "s", Step: "s", Expected: strings.Repeat("é", 1e6), Actual: "x"})), 200)
}

func TestDelaysAreToldWhereTheyCostMuch(t *testing.T) {
	for _, c := range []struct {
		took   int64
		counts Counts
		want   string
	}{
		{60_000, Counts{Throttled: 3, WaitedMS: 40_000}, "Said. The target asked the suite to wait, which took 40.0 s of 1m0s."},
		{60_000, Counts{Throttled: 3, WaitedMS: 10_000}, "Said."},
		{2_000, Counts{Throttled: 3, WaitedMS: 900}, "Said."},
		{60_000, Counts{NotWaited: 1}, "Said. The target asked 1 time to wait longer or more often than the suite does: what hung on those answers was not judged."},
	} {
		assert.Equal(t, c.want, headline(&Result{Headline: "Said.", Run: Run{DurationMS: c.took}, Counts: c.counts}))
	}
	assert.Equal(t, "asked to wait 1 time, for 40.0 s", waitsInWords(Counts{Throttled: 1, WaitedMS: 40_000}))
	assert.Empty(t, waitsInWords(Counts{}))
}
