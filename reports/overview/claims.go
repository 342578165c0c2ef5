package overview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Halves of the interface and what needs both, as [reports.Requirement] names them.
const (
	controlPlane = "control-plane"
	endToEnd     = "end-to-end"
)

// AgentOnly tells whether an agent server was judged as the whole of what there is to judge: no control plane is configured or
// claimed, and nothing else was left out but what is optional (MAY).
func AgentOnly(r *reports.Result) bool {
	beyond := func(q reports.Requirement) bool {
		return (q.Profile == controlPlane || q.Profile == endToEnd) && q.Verdict != reports.Skipped
	}
	optional := func(id string) bool {
		return slices.ContainsFunc(r.Requirements, func(q reports.Requirement) bool { return q.ID == id && q.Level == reports.May })
	}
	return r.Target.AgentServer != "" && r.Scope == reports.ScopePart && !slices.ContainsFunc(r.Requirements, beyond) &&
		!slices.ContainsFunc(r.NotJudged, func(n reports.NotJudged) bool {
			switch n.Kind {
			case reports.NotApplicable:
				return false
			case reports.NotConfigured:
				return n.Key != "target" && !optional(n.ID)
			case reports.NotClaimed:
				return n.Key != controlPlane && n.Key != endToEnd && !optional(n.ID)
			}
			return true
		})
}

// NotClaimed counts what the target does not claim: "12 MUSTs and 2 SHOULDs not claimed"; "" where it claims everything, or an
// agent server only.
func NotClaimed(r *reports.Result) string {
	counts := map[reports.Level]int{}
	for _, q := range r.Requirements {
		if q.Verdict == reports.Skipped && q.Skip != nil && q.Skip.Kind == reports.NotClaimed {
			counts[q.Level]++
		}
	}
	if len(counts) == 0 || AgentOnly(r) {
		return ""
	}
	var parts []string
	for _, l := range []reports.Level{reports.Must, reports.Should, reports.May} {
		if n := counts[l]; n > 0 {
			parts = append(parts, reports.Count(n, string(l)))
		}
	}
	return andJoined(parts) + " not claimed"
}

// andJoined lists texts: "a, b and c".
func andJoined(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// maxBroken limits how many claims a line names.
const maxBroken = 4

// BrokenClaims names what the target claims and could not be judged, by capability, with what to do where a key is missing:
// "claimed and not judged: tags (set alternatives.tag_ref), rollback (AS-ROLLBACK-5 blocked)"; "" where there is nothing.
func BrokenClaims(r *reports.Result) string {
	var names []string
	why := map[string][]string{}
	for _, q := range reports.BrokenClaims(r) {
		if why[q.Claimed] == nil {
			names = append(names, q.Claimed)
		}
		cause := q.ID + " " + string(q.Verdict)
		if q.Skip != nil {
			cause = claimRemedy(q)
		}
		if !slices.Contains(why[q.Claimed], cause) {
			why[q.Claimed] = append(why[q.Claimed], cause)
		}
	}
	if len(names) == 0 {
		return ""
	}
	var parts []string
	for _, name := range names[:min(len(names), maxBroken)] {
		parts = append(parts, name+" ("+shortened(why[name])+")")
	}
	if more := len(names) - maxBroken; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more", more))
	}
	return "claimed and not judged: " + strings.Join(parts, ", ")
}

// claimRemedy is what to do about a skip of what is claimed.
func claimRemedy(q *reports.Requirement) string {
	switch q.Skip.Kind {
	case reports.OverBudget:
		return "raise " + q.Skip.Key
	case reports.NotApplicable:
		return q.ID + " does not apply here: remove " + q.Claimed + " from supports"
	}
	return "set " + q.Skip.Key
}

func shortened(causes []string) string {
	text := strings.Join(causes[:min(len(causes), maxBroken)], ", ")
	if more := len(causes) - maxBroken; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
