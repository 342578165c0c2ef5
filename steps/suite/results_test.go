package suite

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

// resultIn returns the results of CP-A-1 with one scenario in a repetition. The number of its exchange is the number of
// the repetition.
func resultIn(repetition int, v reports.Verdict, change func(*reports.Requirement), findings ...string) results {
	by := []reports.Blocker(nil)
	if v == "interrupted" {
		v, by = reports.Inconclusive, []reports.Blocker{{Kind: reports.ByRun, Name: "ended"}}
	}
	q := reports.Requirement{ID: "CP-A-1", Verdict: v, Reason: string(v), BlockedBy: by, Scenarios: []reports.Scenario{
		{URI: "a.feature", Line: 1, Verdict: v, Reason: string(v), BlockedBy: by, Exchanges: []int{repetition}}}}
	if change != nil {
		change(&q)
	}
	countRepetition(&q, repetition)
	all := results{requirements: []reports.Requirement{q, {ID: "CP-B-1", Verdict: reports.Failed}},
		coveredBy: map[string][]string{}}
	for _, id := range findings {
		all.findings = append(all.findings, finding{Finding: reports.Finding{ID: id, Requirement: "CP-A-1", Exchange: repetition}})
	}
	if q.Skip != nil {
		all.coveredBy[q.ID] = []string{q.Skip.Key}
	}
	return all
}

// TestResultsOfRepetitions adds the results of CP-A-1 in several repetitions. CP-B-1 fails in all of them.
func TestResultsOfRepetitions(t *testing.T) {
	explained := func(q *reports.Requirement) { q.ExplainedBy = []string{"CP-B-1"} }
	covered := func(q *reports.Requirement) { q.Skip = &reports.Skip{Kind: reports.NotApplicable, Key: "CP-B-1"} }
	isolation := func(q *reports.Requirement) { q.Subject = "isolation" }
	for name, c := range map[string]struct {
		all       []results
		verdict   reports.Verdict
		rate      string
		exchange  int // exchange of the scenario: the repetition that is shown
		failures  int
		explained bool
		seen      []int // repetitions that show each finding
		judged    int
	}{
		"it passes in each": {all: []results{resultIn(1, reports.Passed, nil), resultIn(2, reports.Passed, nil)},
			verdict: reports.Passed, rate: "passed 2 of 2", exchange: 2},
		"it fails in one of three": {all: []results{resultIn(1, reports.Passed, nil), resultIn(2, reports.Failed, nil, "f"), resultIn(3, reports.Passed, nil)},
			verdict: reports.Failed, rate: "passed 2 of 3", exchange: 2, failures: 1, seen: []int{1}, judged: 3},
		"it fails in different ways": {all: []results{resultIn(1, reports.Failed, nil, "f"), resultIn(2, reports.Failed, nil, "g", "f"), resultIn(3, reports.Failed, nil, "g")},
			verdict: reports.Failed, rate: "passed 0 of 3", exchange: 1, failures: 3, seen: []int{2, 2}, judged: 3},
		"a block is worse than a pass": {all: []results{resultIn(1, reports.Blocked, nil), resultIn(2, reports.Passed, nil)},
			verdict: reports.Blocked, rate: "passed 1 of 2, could not tell 1", exchange: 1},
		"a failure is worse than a block": {all: []results{resultIn(1, reports.Blocked, nil), resultIn(2, reports.Failed, nil)},
			verdict: reports.Failed, rate: "passed 0 of 2, could not tell 1", exchange: 2, failures: 1},
		"the second repetition was interrupted": {all: []results{resultIn(1, reports.Passed, nil), resultIn(2, "interrupted", nil)},
			verdict: reports.Passed, rate: "passed 1 of 1", exchange: 1},
		"the first repetition was interrupted": {all: []results{resultIn(1, "interrupted", nil)},
			verdict: reports.Inconclusive, exchange: 1},
		"another failure explains both": {all: []results{resultIn(1, reports.Failed, explained), resultIn(2, reports.Failed, explained)},
			verdict: reports.Failed, rate: "passed 0 of 2", exchange: 1, failures: 2, explained: true},
		"another failure explains one": {all: []results{resultIn(1, reports.Failed, explained), resultIn(2, reports.Failed, nil)},
			verdict: reports.Failed, rate: "passed 0 of 2", exchange: 1, failures: 2},
		"another failure covers it in one": {all: []results{resultIn(1, reports.Skipped, covered), resultIn(2, reports.Failed, nil)},
			verdict: reports.Failed, rate: "passed 0 of 2, not tested 1", exchange: 2, failures: 1, explained: true},
		"another failure does not cover a leak": {all: []results{resultIn(1, reports.Skipped, covered), resultIn(2, reports.Failed, isolation)},
			verdict: reports.Failed, rate: "passed 0 of 2, not tested 1", exchange: 2, failures: 1},
	} {
		var all results
		for _, next := range c.all {
			all.add(next)
		}
		all.finish()
		q := all.requirements[0]
		s := q.Scenarios[0]
		assert.Equal(t, []reports.Verdict{c.verdict, c.verdict}, []reports.Verdict{q.Verdict, s.Verdict}, name)
		assert.Equal(t, []string{c.rate, c.rate}, []string{q.Repetitions.String(), s.Repetitions.String()}, name)
		assert.Equal(t, []int{c.exchange}, s.Exchanges, name)
		assert.Len(t, s.Failures, c.failures, name)
		assert.Equal(t, c.explained, len(q.ExplainedBy) > 0, name)
		var seen []int
		for _, f := range all.findings {
			seen = append(seen, f.Seen)
			assert.Equal(t, c.judged, f.Judged, name)
		}
		assert.Equal(t, c.seen, seen, name)
		shown := map[int]bool{}
		all.addShown(shown)
		assert.Equal(t, c.verdict.Problem(), shown[c.exchange], name)
	}
}

// TestARequirementThatOnlyExplorationJudges checks that the requirement is added in the order of the features.
func TestARequirementThatOnlyExplorationJudges(t *testing.T) {
	all, next := resultIn(1, reports.Passed, nil), resultIn(2, reports.Passed, nil)
	explored := reports.Requirement{ID: "CP-A-2", Verdict: reports.Failed, Repetitions: reports.Repetitions{reports.Failed: 1}}
	next.requirements = slices.Insert(next.requirements, 1, explored)
	all.add(next)
	all.add(resultIn(3, reports.Passed, nil))
	var ids []string
	for _, q := range all.requirements {
		ids = append(ids, q.ID)
	}
	assert.Equal(t, []string{"CP-A-1", "CP-A-2", "CP-B-1"}, ids)
	assert.Equal(t, "passed 0 of 1", all.requirements[1].Repetitions.String())
}
