package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// AgentOnly reports whether an agent server was judged completely and alone: no control plane is configured or claimed,
// and all other requirements that were not judged are optional (MAY).
func (o Overview) AgentOnly() bool {
	r := o.Result
	if r.Target.AgentServer == "" || r.Scope != reports.ScopePart {
		return false
	}
	plane := []string{"control-plane", "end-to-end", "target"} // profiles, and the key of the control plane
	for _, q := range r.Requirements {
		if q.Verdict != reports.Skipped && slices.Contains(plane, q.Profile) {
			return false
		}
	}
	for _, n := range r.NotJudged {
		if n.Kind == reports.NotApplicable {
			continue
		}
		q := r.Requirement(n.ID)
		optional := q != nil && q.Level == reports.May
		if !optional && !slices.Contains(plane, n.Key) {
			return false
		}
		if n.Kind != reports.NotConfigured && n.Kind != reports.NotClaimed {
			return false
		}
	}
	return true
}

// Unclaimed counts the requirements that the target does not claim: "12 MUSTs, 2 SHOULDs not claimed". It is empty if
// there are none or if only an agent server was judged.
func (o Overview) Unclaimed() string {
	if len(o.Classes[NotClaimed]) == 0 || o.AgentOnly() {
		return ""
	}
	return ByLevel(o.Classes[NotClaimed]) + " not claimed"
}

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
		reason := q.ID + " " + string(q.Verdict)
		if q.Skip != nil && q.Skip.Kind == reports.NotApplicable {
			reason = q.ID + " does not apply here: remove " + q.Claimed + " from supports"
		} else if q.Skip != nil {
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
	return "claimed and not judged: " + Some(parts, 6)
}

// Remaining describes what the target needs to be conformant: "3 MUSTs with 2 causes", or "none".
func (o Overview) Remaining() string {
	r := o.Result
	passed := len(o.deciding[reports.Passed]) > 0
	notPassed := slices.Concat(o.deciding[reports.Failed], o.deciding[reports.Blocked], o.deciding[reports.Inconclusive])
	claims := o.BrokenClaims()
	text := ""
	switch {
	case len(notPassed) > 0:
		text = reports.Count(len(notPassed), r.Deciding()) + inBaseline(notPassed)
		causes := o.Causes(notPassed)
		if len(causes) < len(notPassed) {
			text += " with " + reports.Count(len(causes), "cause")
		}
	case passed && len(o.Classes[Warning]) > 0:
		text = "all MUSTs pass, " + ByLevel(o.Classes[Warning]) + " not met"
	case len(r.Unseen) > 0:
		text = "no successful response of the " + strings.ReplaceAll(strings.Join(r.Unseen, " and the "), "-", " ")
	case passed && claims == "":
		text = "none"
	}
	notJudged := ""
	if n := r.UnjudgedCount(); n > 0 {
		notJudged = fmt.Sprintf("%d of %s not judged", n, reports.Count(r.Catalogue(), "requirement"))
	}
	return cmp.Or(reports.Joined("; ", text, claims, notJudged), "no MUST was judged")
}
