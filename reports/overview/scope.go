package overview

import (
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// agentOnly reports whether only an agent server was judged, and completely: no control plane is configured or claimed,
// and all other requirements that were not judged are optional (MAY).
func (o Overview) agentOnly() bool {
	r := o.Result
	plane := []string{"control-plane", "end-to-end"} // profiles
	isAlone := false
	for _, n := range r.NotJudged {
		q := r.Requirement(n.ID)
		isOptional := q != nil && q.Level == reports.May
		isOfPlane := r.IsOutside(n) || n.Kind == reports.NotClaimed && slices.Contains(plane, n.Key)
		isAlone = isAlone || isOfPlane
		isMissing := n.Kind == reports.NotConfigured || n.Kind == reports.NotClaimed
		if n.Kind != reports.NotApplicable && !isOfPlane && (!isOptional || !isMissing) {
			return false
		}
	}
	isJudged := func(q reports.Requirement) bool {
		return q.Verdict != reports.Skipped && slices.Contains(plane, q.Profile)
	}
	return isAlone && r.Target.AgentServer != "" && !slices.ContainsFunc(r.Requirements, isJudged)
}

// Unclaimed counts the requirements that the target does not claim: "12 MUSTs, 2 SHOULDs not claimed". It is empty if
// there are none or if only an agent server was judged.
func (o Overview) Unclaimed() string {
	var all []*reports.Requirement
	for q := range reports.Each(o.Result.Requirements) {
		if q.Skip != nil && q.Skip.Kind == reports.NotClaimed {
			all = append(all, q)
		}
	}
	if len(all) == 0 || o.agentOnly() {
		return ""
	}
	return ByLevel(all) + " not claimed"
}

// Inapplicable returns the number of requirements that do not apply to the target.
func (o Overview) Inapplicable() int { return count(o.Classes[NotTested], isInapplicable) }

// ByLevel counts requirements: "12 MUSTs, 2 SHOULDs, 1 MAY".
func ByLevel(requirements []*reports.Requirement) string {
	return countBy(reports.Levels, requirements, func(q *reports.Requirement) reports.Level { return q.Level })
}

// countBy counts items by their kinds, in the order of kinds.
func countBy[K ~string, T any](kinds []K, items []T, kindOf func(T) K) string {
	counts := map[K]int{}
	for _, item := range items {
		counts[kindOf(item)]++
	}
	var parts []string
	for _, kind := range kinds {
		if counts[kind] > 0 {
			parts = append(parts, reports.Count(counts[kind], string(kind)))
		}
	}
	return strings.Join(parts, ", ")
}

// BrokenClaims names the claimed capabilities that could not be judged, with the reason or the missing key: "claimed and
// not judged: tags (set alternatives.tag_ref), rollback (AS-ROLLBACK-5 blocked)". It is empty if there are none.
func (o Overview) BrokenClaims() string {
	var parts []string
	for _, q := range reports.BrokenClaims(o.Result) {
		reason := q.ID + ": " + string(Word(q.Verdict))
		if q.Skip != nil && q.Skip.Kind == reports.NotApplicable {
			reason = q.ID + " does not apply here: remove " + q.Claimed + " from supports"
		} else if q.Skip != nil && q.Skip.Key != "" {
			reason = remedies[q.Skip.Kind] + q.Skip.Key
		}
		text := q.Claimed + " (" + reason + ")"
		if !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if parts == nil {
		return ""
	}
	return "claimed and not tested: " + some(parts, 6)
}
