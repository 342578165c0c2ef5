package reports

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Verdict is the verdict of a scenario or a requirement.
type Verdict string

// The verdicts of scenarios and requirements. Blocked, inconclusive and skipped do not count as passed.
const (
	Passed       Verdict = "passed"
	Failed       Verdict = "failed"
	Blocked      Verdict = "blocked"
	Inconclusive Verdict = "inconclusive"
	Skipped      Verdict = "skipped"
)

// Verdicts contains the verdicts from worst to best.
var Verdicts = []Verdict{Failed, Blocked, Inconclusive, Passed, Skipped}

// Worse returns the worse of two verdicts. Skipped is the best verdict: a requirement with a passed and a skipped
// scenario has passed.
func Worse(a, b Verdict) Verdict {
	rank := func(v Verdict) uint { return uint(slices.Index(Verdicts, v)) } // an unknown verdict has the maximum
	if rank(a) <= rank(b) {
		return a
	}
	return b
}

// Problem reports whether the verdict is failed, blocked or inconclusive.
func (v Verdict) Problem() bool { return v == Failed || v == Blocked || v == Inconclusive }

// Conclusion is the verdict of a test run.
type Conclusion string

// The conclusions of a test run.
const (
	Conformant    Conclusion = "conformant"
	NonConformant Conclusion = "non-conformant"
	Incomplete    Conclusion = "incomplete"
)

// Level is the level of a requirement, as in RFC 2119.
type Level string

// The levels of requirements. Without --fail-on and --strict, only a MUST decides the verdict.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
	May    Level = "MAY"
)

// Levels contains the levels, the strictest first.
var Levels = []Level{Must, Should, May}

// Each returns pointers to the items of a list.
func Each[T any](items []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range items {
			if !yield(&items[i]) {
				return
			}
		}
	}
}

// Decides reports whether the requirement decides the verdict: it is a MUST, --fail-on names its level or one of its
// tags, or its capability is claimed by name.
func (q *Requirement) Decides() bool { return q.Binding || q.Level == Must }

// Deciding returns the noun for requirements that decide the verdict: "MUST", or "requirement" if --fail-on or a claim
// includes other levels.
func (r *Result) Deciding() string {
	beyond := func(q Requirement) bool { return q.Binding && q.Level != Must }
	if r.Run.FailOn != "" || slices.ContainsFunc(r.Requirements, beyond) {
		return "requirement"
	}
	return string(Must)
}

// Conclude returns the conclusion for requirements: non-conformant if a MUST failed, incomplete if a MUST is blocked or
// inconclusive or if none passed, and otherwise conformant. A binding requirement counts as a MUST.
func Conclude(requirements []Requirement) Conclusion {
	passed, open := 0, 0
	for _, r := range requirements {
		if !r.Decides() {
			continue
		}
		switch r.Verdict {
		case Failed:
			return NonConformant
		case Passed:
			passed++
		case Blocked, Inconclusive:
			open++
		}
	}
	if passed > 0 && open == 0 {
		return Conformant
	}
	return Incomplete
}

// ConcludeRun returns the conclusion of a test run. It is the result of [Conclude], except that a conformant test run
// becomes incomplete in these cases: it was stopped, a half has returned no successful response, a claimed requirement
// was not judged, or the test run is partial and must be whole.
func ConcludeRun(r *Result) Conclusion {
	open := r.Run.Stopped != "" || len(r.Unseen) > 0 || len(BrokenClaims(r)) > 0 || r.Run.Whole && r.UnjudgedCount() > 0
	c := Conclude(r.Requirements)
	if c == Conformant && open {
		return Incomplete
	}
	return c
}

// ConcludeKnown returns the conclusion of a test run if its known failures count as skipped.
func ConcludeKnown(r *Result) Conclusion {
	other := *r
	other.Requirements = slices.Clone(r.Requirements)
	known := false
	for i, q := range other.Requirements {
		if q.Known != nil && q.Verdict.Problem() {
			other.Requirements[i].Verdict, known = Skipped, true
		}
	}
	if !known || r.Verdict != ConcludeRun(r) {
		return r.Verdict // the verdict has another reason, such as an error of the suite
	}
	return ConcludeRun(&other)
}

// BrokenClaims returns the claimed requirements that were not judged: they are blocked, inconclusive, not configured or
// over budget. If no requirement of a capability in Target.Supports applies, it returns all requirements of the
// capability.
func BrokenClaims(r *Result) []*Requirement {
	skipped := func(q *Requirement, kinds ...SkipKind) bool {
		return q.Verdict == Skipped && q.Skip != nil && slices.Contains(kinds, q.Skip.Kind)
	}
	applies := map[string]bool{} // by capability
	for q := range Each(r.Requirements) {
		applies[q.Claimed] = applies[q.Claimed] || !skipped(q, NotApplicable)
	}
	var all []*Requirement
	for q := range Each(r.Requirements) {
		unjudged := q.Verdict == Blocked || q.Verdict == Inconclusive || skipped(q, NotConfigured, OverBudget)
		if q.Claimed != "" && (unjudged || !applies[q.Claimed] && slices.Contains(r.Target.Supports, q.Claimed)) {
			all = append(all, q)
		}
	}
	return all
}

// Requirement returns the requirement with this ID, or nil.
func (r *Result) Requirement(id string) *Requirement {
	for q := range Each(r.Requirements) {
		if q.ID == id {
			return q
		}
	}
	return nil
}

// Filtered reports whether the result does not contain all requirements of the catalogue because of a filter.
func (r *Result) Filtered() bool { return len(r.Requirements) < r.Suite.Requirements }

// Tally sets the counts of requirements, scenarios and exchanges of r. The number of cases becomes at least the number of
// scenarios. Other counts do not change.
func Tally(r *Result) {
	r.Counts.Requirements, r.Counts.Scenarios = map[Verdict]int{}, map[Verdict]int{}
	for _, v := range Verdicts { // includes verdicts with the count 0
		r.Counts.Requirements[v], r.Counts.Scenarios[v] = 0, 0
	}
	scenarios := 0
	for _, q := range r.Requirements {
		r.Counts.Requirements[q.Verdict]++
		for _, s := range q.Scenarios {
			r.Counts.Scenarios[s.Verdict]++
			scenarios++
		}
	}
	r.Counts.Cases = max(r.Counts.Cases, scenarios)
	r.Counts.Exchanges = len(r.Exchanges)
}

// Count returns a number with a noun: "1 run", "3 runs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Among reports whether an ID is in a list of IDs and patterns such as "CP-AUTH-*".
func Among(ids []string, id string) bool {
	return slices.ContainsFunc(ids, func(each string) bool {
		family, all := strings.CutSuffix(each, "*")
		return id == each || all && strings.HasPrefix(id, family)
	})
}

// SubjectRank orders subjects of requirements ([Requirement.Subject]) by their severity. 0 is the most severe: isolation
// of users and tenants, then security, lost data, wrong behavior, and the form of responses.
func SubjectRank(subject string) int {
	if at := slices.Index([]string{"isolation", "security", "rollback", "", "form"}, subject); at >= 0 {
		return at
	}
	return SubjectRank("") // a subject of another version
}
