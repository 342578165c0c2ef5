package suite

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
)

// explain determines which failures explain the failed requirements of a repetition. It tries three kinds of
// explanations, and the first one counts: the tags @after, the exchanges that show the failure, and responses that repeat
// the response to another caller. After the last repetition, explainByRepetitions explains others.
func (r *run) explain(res *reports.Result, groups [][]*features.Scenario) {
	var failures []failure
	for i, scenarios := range groups {
		q := &res.Requirements[i]
		if q.Verdict == reports.Failed {
			q.ExplainedBy = taggedCauses(res, q, scenarios)
			failures = append(failures, r.failureOf(q, scenarios))
		}
	}
	explainByExchanges(res, failures)
	explainByRepeats(failures)
	explainByResponses(failures)
}

// taggedCauses returns the failed requirements in the tags @after of a failed requirement. It returns nil if they do not
// explain one of its failed scenarios, because then the requirement has a separate cause.
func taggedCauses(res *reports.Result, q *reports.Requirement, scenarios []*features.Scenario) []string {
	var explained []string
	for i, s := range scenarios {
		if q.Scenarios[i].Verdict != reports.Failed {
			continue
		}
		causes := slices.DeleteFunc(slices.Clone(s.After), func(id string) bool {
			cause := res.Requirement(id)
			return cause == nil || cause.Verdict != reports.Failed
		})
		if len(causes) == 0 {
			return nil
		}
		explained = append(explained, causes...)
	}
	return slices.DeleteFunc(slices.Clone(scenarios[0].Requirement.After), func(id string) bool {
		return !slices.Contains(explained, id)
	})
}

// failure is a failed requirement with the exchanges that show its violations.
type failure struct {
	*reports.Requirement
	shows       [][]int  // for each violation, the exchanges that it compares; nil stands for an unknown exchange
	repeats     []string // operations of repeated responses: see repeatedOperations
	isInvariant bool
	// isSituational means that only scenarios about situations failed.
	isSituational bool
	signs         [][]sign // for each violation, the exchanges that show it
	owns          []int    // exchanges that explain the failures of other requirements, if these show no other exchange
}

// ownedKinds are the kinds of violations after which nothing else in a response can be judged. A response that breaks the
// contract or contains a wrong value is not of this kind, because it may show several mistakes.
var ownedKinds = []outcome.Kind{outcome.ServerError, outcome.Refused, outcome.Stale, outcome.MissingItem}

// failureOf returns the exchanges that show the violations of a failed requirement. The exchanges that it owns include
// those of violations by the record that its failure covers.
func (r *run) failureOf(q *reports.Requirement, scenarios []*features.Scenario) failure {
	f := failure{Requirement: q, isInvariant: scenarios[0].Requirement.IsInvariant(), isSituational: true}
	var failed []*features.Scenario
	for _, s := range scenarios {
		if r.verdicts[s.Key()].Verdict == reports.Failed {
			failed = append(failed, s)
			f.isSituational = f.isSituational && s.Is(features.TagSituation)
		}
	}
	for _, s := range failed {
		for _, found := range r.verdicts[s.Key()].Violations {
			f.signs = append(f.signs, r.signsOf(found, isLeakKind(s.Requirement, found.Kind)))
			f.shows = append(f.shows, shownBy(s, found)...)
		}
	}
	for _, s := range r.selected {
		v := r.verdicts[s.Key()]
		isCovered := v.Verdict == reports.Skipped && v.Skip != nil && v.Skip.Key == q.ID
		if !s.Terms.Record || !isCovered && !slices.Contains(failed, s) {
			continue
		}
		for _, found := range v.Violations {
			if slices.Contains(ownedKinds, found.Kind) {
				f.owns = append(f.owns, found.Shows()...)
			}
		}
	}
	f.repeats = r.repeatedOperations(failed)
	return f
}

// shownBy returns the exchanges that show a violation of a scenario, as in failure.shows. They are unknown for a violation
// by the record after which a response can still show more.
func shownBy(s *features.Scenario, found outcome.Violation) [][]int {
	if s.Terms.Record && !slices.Contains(ownedKinds, found.Kind) {
		return [][]int{nil}
	}
	shows := [][]int{{found.Exchange, found.Compared.Shown, found.Compared.With}}
	for _, repeat := range found.Repeats {
		shows = append(shows, []int{repeat})
	}
	return shows
}

// repeatedOperations returns the operations whose responses repeat the response to another caller. It returns nil if a
// violation shows something else.
func (r *run) repeatedOperations(failed []*features.Scenario) (operations []string) {
	for _, s := range failed {
		for _, found := range r.verdicts[s.Key()].Violations {
			for _, id := range found.Shows() {
				if s.Terms.Record || r.repeated(s, found.Kind, id) == 0 {
					return nil
				}
				operations = append(operations, r.target.Collector.Observation(id).Op.ID)
			}
		}
	}
	return operations
}

// repeated returns an earlier exchange in which another caller got the same response from the same URL, or 0. If the
// violation is not a leak, it returns 0.
func (r *run) repeated(s *features.Scenario, kind outcome.Kind, id int) int {
	shown := r.target.Collector.Observation(id)
	hasContent := shown.Whole && len(shown.Response) > len("{}")
	if !isLeakKind(s.Requirement, kind) || shown.Method != http.MethodGet || shown.Status/100 != 2 || !hasContent {
		return 0
	}
	address := func(o *evidence.Observation) string { return o.Method + " " + o.Base + o.Path + "?" + o.Query }
	for _, o := range r.target.Collector.Observations() {
		isEarlierByOther := o.Caller.Name != shown.Caller.Name && !o.Ended.After(shown.Sent)
		isSameResponse := o.Status == shown.Status && o.Response == shown.Response && address(o) == address(shown)
		if isEarlierByOther && isSameResponse {
			return o.ID
		}
	}
	return 0
}

// isLeakKind reports whether a violation of this kind is a leak: the caller must not get the response.
func isLeakKind(q *features.Requirement, kind outcome.Kind) bool {
	isAboutCaller := q.Subject == "isolation" || q.Subject == "security"
	return isAboutCaller && kind == outcome.Accepted || kind == outcome.Leak
}

// leaksFirst moves leaks before the other findings of their requirement, because reports show the first finding.
func leaksFirst(findings []finding) {
	first := map[string]int{} // by requirement
	for i, f := range slices.Backward(findings) {
		first[f.Requirement] = i
	}
	rank := func(f finding) int {
		if f.isLeak {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(first[a.Requirement], first[b.Requirement]), cmp.Compare(rank(a), rank(b)))
	})
}

// explainByExchanges explains a failed requirement without an explanation, if another failed requirement that is at least
// as binding owns one of the exchanges of each of its violations. It never explains a leak between users.
func explainByExchanges(res *reports.Result, failures []failure) {
	for _, f := range failures {
		if len(f.ExplainedBy) > 0 || f.Subject == "isolation" {
			continue
		}
		var causes []string
		for _, shown := range f.shows {
			at := slices.IndexFunc(failures, func(other failure) bool {
				isOwned := func(id int) bool { return id > 0 && slices.Contains(other.owns, id) }
				return other.ID != f.ID && isAsBinding(other, f) && slices.ContainsFunc(shown, isOwned) &&
					!slices.Contains(reports.Causes(res, other.Requirement), f.Requirement)
			})
			if at < 0 {
				causes = nil
				break
			}
			if cause := failures[at].ID; !slices.Contains(causes, cause) {
				causes = append(causes, cause)
			}
		}
		f.ExplainedBy = causes
	}
}

// explainByRepeats explains failures that show only responses that another caller got from the same URL, byte for byte. A
// cache that ignores the caller, or a missing check, is one problem. The most severe failure explains the others that
// show one of its operations.
func explainByRepeats(failures []failure) {
	leaks := slices.DeleteFunc(slices.Clone(failures), func(f failure) bool {
		return len(f.repeats) == 0 || len(f.ExplainedBy) > 0
	})
	slices.SortStableFunc(leaks, func(a, b failure) int { return reports.SubjectRank(a.Subject) - reports.SubjectRank(b.Subject) })
	for i, f := range leaks {
		at := slices.IndexFunc(leaks[:i], func(cause failure) bool {
			isShared := func(operation string) bool { return slices.Contains(cause.repeats, operation) }
			return len(cause.ExplainedBy) == 0 && isAsBinding(cause, f) && slices.ContainsFunc(f.repeats, isShared)
		})
		if at >= 0 {
			f.ExplainedBy = []string{leaks[at].ID}
		}
	}
}

// explainByRepetitions explains a failed requirement without an explanation, if it could not be judged in another
// repetition because another requirement failed: both show the same mistake. coveredBy has these requirements by the ID
// of the requirement that they cover. It never explains a leak between users.
func explainByRepetitions(res *reports.Result, coveredBy map[string][]string) {
	for q := range reports.Each(res.Requirements) {
		if q.Verdict != reports.Failed || len(q.ExplainedBy) > 0 || q.Subject == "isolation" {
			continue
		}
		var causes []string
		for _, id := range coveredBy[q.ID] {
			cause := res.Requirement(id)
			if cause != nil && cause.Verdict == reports.Failed && !slices.Contains(causes, id) &&
				!slices.Contains(reports.Causes(res, cause), q) {
				causes = append(causes, id)
			}
		}
		q.ExplainedBy = causes
	}
}

// isAsBinding reports whether a failure is at least as binding as another.
func isAsBinding(cause, f failure) bool {
	return cause.Level == f.Level || cause.Level == reports.Must || f.Level == reports.May
}
