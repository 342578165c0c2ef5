package reports

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Verdict is what was learned of a scenario or a requirement.
type Verdict string

// The verdicts of scenarios and requirements. Only Passed is a pass: blocked, inconclusive and skipped never are.
const (
	Passed       Verdict = "passed"
	Failed       Verdict = "failed"
	Blocked      Verdict = "blocked"
	Inconclusive Verdict = "inconclusive"
	Skipped      Verdict = "skipped"
)

// Verdicts lists the verdicts from worst to best, the order in which reports count them.
var Verdicts = []Verdict{Failed, Blocked, Inconclusive, Passed, Skipped}

// Worse returns the worse of two verdicts. Skipped is the weakest: a requirement with one passed and one skipped
// scenario has passed; one whose scenarios were all skipped is skipped.
func Worse(a, b Verdict) Verdict {
	rank := func(v Verdict) uint { return uint(slices.Index(Verdicts, v)) } // what is unknown is the weakest
	if rank(a) <= rank(b) {
		return a
	}
	return b
}

// Problem tells whether the verdict is one that somebody has to look at: failed, blocked or inconclusive.
func (v Verdict) Problem() bool { return v == Failed || v == Blocked || v == Inconclusive }

// Conclusion is the verdict of a whole run.
type Conclusion string

// The conclusions of a run.
const (
	Conformant    Conclusion = "conformant"
	NonConformant Conclusion = "non-conformant"
	Incomplete    Conclusion = "incomplete"
)

// Level says how binding a requirement is.
type Level string

// The levels of requirements. Only a MUST decides the verdict, unless the run says --fail-on or --strict.
const (
	Must   Level = "MUST"
	Should Level = "SHOULD"
	May    Level = "MAY"
)

// Levels lists the levels, the most binding first.
var Levels = []Level{Must, Should, May}

// Each gives pointers into a list.
func Each[T any](items []T) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for i := range items {
			if !yield(&items[i]) {
				return
			}
		}
	}
}

// Decides tells whether the requirement decides the verdict: by its level, because --fail-on named its level or a tag
// that it carries, or because its capability is claimed by name.
func (q *Requirement) Decides() bool { return q.Binding || q.Level == Must }

// Deciding names what decides the verdict: "MUST", or "requirement" where others may too, by --fail-on or by a claim.
func (r *Result) Deciding() string {
	beyond := func(q Requirement) bool { return q.Binding && q.Level != Must }
	if r.Run.FailOn != "" || slices.ContainsFunc(r.Requirements, beyond) {
		return "requirement"
	}
	return string(Must)
}

// Conclude derives the conclusion: non-conformant when a MUST failed; conformant when no MUST failed, is blocked
// or is inconclusive and at least one passed; else incomplete. A requirement that is binding counts as a MUST.
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

// ConcludeRun is the conclusion of a run: [Conclude], and incomplete where the run was stopped, where no successful
// answer of a half was seen that was judged, where something that is claimed could not be judged, or where a part does
// not do.
func ConcludeRun(r *Result) Conclusion {
	open := r.Run.Stopped != "" || len(r.Unseen) > 0 || len(BrokenClaims(r)) > 0 || r.Run.Whole && r.LeftOut() > 0
	c := Conclude(r.Requirements)
	if c == Conformant && open {
		return Incomplete
	}
	return c
}

// ConcludeKnown is the conclusion of a run if what its baseline covers counts as not judged.
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
		return r.Verdict // the run had another reason, such as a mistake of the suite
	}
	return ConcludeRun(&other)
}

// BrokenClaims are the requirements that the target claims and that could not be judged: blocked, inconclusive, not
// configured or over budget, and those of a capability that is named in Target.Supports where none of its requirements
// applies. They point into r.
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

// Filtered tells whether the result lacks requirements of the catalogue, because a filter left them out.
func (r *Result) Filtered() bool { return len(r.Requirements) < r.Suite.Requirements }

// Tally fills the counts of r from its requirements and exchanges. What it cannot know it leaves alone: the cases
// of a scenario that tries generated values, and the throttled answers. There are at least as many cases as
// scenarios.
func Tally(r *Result) {
	r.Counts.Requirements, r.Counts.Scenarios = map[Verdict]int{}, map[Verdict]int{}
	for _, v := range Verdicts { // a reader of the file sees "failed: 0" and need not infer it
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

// Count puts a number and a noun together: "1 run", "3 runs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Among tells whether an ID is in a list of IDs. A star at the end of one stands for any rest: "CP-AUTH-*".
func Among(ids []string, id string) bool {
	return slices.ContainsFunc(ids, func(each string) bool {
		family, all := strings.CutSuffix(each, "*")
		return id == each || all && strings.HasPrefix(id, family)
	})
}

// Gravity orders requirements by their subject ([Requirement.Subject]), the gravest first, from 0: what one user or
// tenant has of another, then what else others can see or change, then lost data, then wrong behaviour, then forms and
// errors.
func Gravity(subject string) int {
	if at := slices.Index([]string{"isolation", "security", "rollback", "", "form"}, subject); at >= 0 {
		return at
	}
	return Gravity("") // a subject of another version
}
