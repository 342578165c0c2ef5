package suite

import (
	"cmp"
	"maps"
	"slices"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
)

// results has the requirements of scenarios with their findings, in one repetition or in several.
type results struct {
	requirements []reports.Requirement // in the order of the features
	findings     []finding
	// coveredBy has, for each requirement that was not judged in a repetition, the requirements whose failure prevented
	// that.
	coveredBy map[string][]string
}

// finding is a finding whose exchanges may still get numbers, and whose position may change.
type finding struct {
	reports.Finding
	compares outcome.Comparison
	isLeak   bool
}

// resultsOf returns the results of scenarios in the current repetition.
func (r *run) resultsOf(scenarios []*features.Scenario) results {
	all := results{requirements: []reports.Requirement{}, coveredBy: map[string][]string{}}
	for _, group := range byRequirement(scenarios) {
		q := r.requirement(group[0].Requirement, group)
		if r.isRepeated() {
			countRepetition(&q, r.repetition)
		}
		all.requirements = append(all.requirements, q)
		if q.Verdict == reports.Skipped && q.Skip != nil && q.Skip.Kind == reports.NotApplicable {
			all.coveredBy[q.ID] = []string{q.Skip.Key}
		}
	}
	r.addFindings(&all, scenarios)
	leaksFirst(all.findings)
	return all
}

// countRepetition counts the verdicts of a requirement and its scenarios, unless the end of the test run interrupted
// them.
func countRepetition(q *reports.Requirement, repetition int) {
	if !isInterrupted(q.Verdict, q.BlockedBy) {
		q.Repetitions = reports.Repetitions{q.Verdict: 1}
	}
	for s := range reports.Each(q.Scenarios) {
		if !isInterrupted(s.Verdict, s.BlockedBy) {
			s.Repetitions = reports.Repetitions{s.Verdict: 1}
		}
		if s.Verdict == reports.Failed {
			s.Failures = []reports.Failure{{Repetition: repetition, Reason: s.Reason}}
		}
	}
}

// isInterrupted reports whether something was not judged because the test run ended.
func isInterrupted(v reports.Verdict, by []reports.Blocker) bool {
	return v == reports.Inconclusive && slices.ContainsFunc(by, func(b reports.Blocker) bool { return b.Kind == reports.ByRun })
}

// add adds the results of the next repetition. The worst verdict of a requirement or scenario counts. For problems, the
// evidence is that of the first repetition with this verdict, and for other verdicts that of the last repetition. If the
// end of the test run interrupted a requirement or scenario, its results from earlier repetitions count.
func (all *results) add(next results) {
	if all.requirements == nil {
		*all = next
		for f := range reports.Each(all.findings) {
			all.startCounting(f)
		}
		return
	}
	before := -1 // the place of the requirement before q
	for _, q := range next.requirements {
		at := slices.IndexFunc(all.requirements, func(known reports.Requirement) bool { return known.ID == q.ID })
		if at < 0 { // only exploration has judged the requirement
			at = before + 1
			all.requirements = slices.Insert(all.requirements, at, q)
		} else {
			addRequirement(&all.requirements[at], q)
		}
		before = at
	}
	for _, f := range next.findings {
		at := slices.IndexFunc(all.findings, func(known finding) bool { return known.ID == f.ID })
		if at >= 0 {
			all.findings[at].Seen++
			continue
		}
		all.startCounting(&f)
		all.findings = append(all.findings, f)
	}
	for id, causes := range next.coveredBy {
		all.coveredBy[id] = append(all.coveredBy[id], causes...)
	}
}

// startCounting begins to count the repetitions that show a finding, if its requirement is repeated.
func (all *results) startCounting(f *finding) {
	at := slices.IndexFunc(all.requirements, func(q reports.Requirement) bool { return q.ID == f.Requirement })
	if at >= 0 && all.requirements[at].Repetitions != nil {
		f.Seen = 1
	}
}

// addRequirement adds the result of a requirement in the next repetition.
func addRequirement(all *reports.Requirement, next reports.Requirement) {
	for _, s := range next.Scenarios {
		at := slices.IndexFunc(all.Scenarios, func(known reports.Scenario) bool { return known.Key() == s.Key() })
		if at < 0 {
			all.Scenarios = append(all.Scenarios, s)
		} else {
			addScenario(&all.Scenarios[at], s)
		}
	}
	if isInterrupted(next.Verdict, next.BlockedBy) {
		return
	}
	if all.Verdict == reports.Failed && next.Verdict == reports.Failed {
		all.ExplainedBy = explainedInBoth(all.ExplainedBy, next.ExplainedBy)
	}
	repetitions := sum(all.Repetitions, next.Repetitions)
	if takesNext(all.Verdict, next.Verdict) {
		next.Scenarios = all.Scenarios
		*all = next
	}
	all.Repetitions = repetitions
}

// addScenario adds the result of a scenario in the next repetition.
func addScenario(all *reports.Scenario, next reports.Scenario) {
	if isInterrupted(next.Verdict, next.BlockedBy) {
		return
	}
	repetitions := sum(all.Repetitions, next.Repetitions)
	failures := slices.Concat(all.Failures, next.Failures)
	if takesNext(all.Verdict, next.Verdict) {
		*all = next
	}
	all.Repetitions, all.Failures = repetitions, failures
}

// takesNext reports whether the next verdict replaces an earlier one: it is worse, or both are equal and not a problem.
func takesNext(verdict, next reports.Verdict) bool {
	if verdict == next {
		return !verdict.Problem()
	}
	return reports.Worse(verdict, next) == next
}

func sum(a, b reports.Repetitions) reports.Repetitions {
	all := maps.Clone(a)
	if all == nil {
		all = reports.Repetitions{}
	}
	for v, count := range b {
		all[v] += count
	}
	return all
}

// explainedInBoth returns all failures that explain a requirement in two repetitions. If nothing explains it in one of
// them, the requirement is a cause itself, and the result is nil.
func explainedInBoth(some, others []string) []string {
	if len(some) == 0 || len(others) == 0 {
		return nil
	}
	all := slices.Clone(some)
	for _, id := range others {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}

// finish completes the results of several repetitions.
func (all *results) finish() {
	place := map[string]int{}
	for i, q := range all.requirements {
		place[q.ID] = i
	}
	slices.SortStableFunc(all.findings, func(a, b finding) int { return cmp.Compare(place[a.Requirement], place[b.Requirement]) })
	leaksFirst(all.findings)
	for f := range reports.Each(all.findings) {
		f.Judged = all.requirements[place[f.Requirement]].Repetitions.Judged()
		if f.Judged < 2 {
			f.Judged, f.Seen = 0, 0
		}
	}
	explainByRepetitions(&reports.Result{Requirements: all.requirements}, all.coveredBy)
}

// addShown adds the exchanges of an earlier repetition that reports show: those of findings, and those of scenarios with
// a problem.
func (all *results) addShown(shown map[int]bool) {
	for _, f := range all.findings {
		shown[f.Exchange], shown[f.compares.Shown], shown[f.compares.With] = true, true, true
		for _, link := range f.Exchanges {
			shown[link.Exchange] = true
		}
	}
	for _, q := range all.requirements {
		for _, s := range q.Scenarios {
			for _, id := range s.Exchanges {
				if s.Verdict.Problem() {
					shown[id] = true
				}
			}
		}
	}
}
