package overview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Halves of the interface and what needs both, as [reports.Requirement] names them.
const (
	controlPlane = "control-plane"
	endToEnd     = "end-to-end"
)

// AgentOnly tells whether an agent server was judged as the whole of what there is to judge: no control plane is
// configured or claimed, and nothing else was left out but what is optional (MAY).
func AgentOnly(r *reports.Result) bool {
	beyond := func(q reports.Requirement) bool {
		return (q.Profile == controlPlane || q.Profile == endToEnd) && q.Verdict != reports.Skipped
	}
	optional := func(id string) bool {
		return slices.ContainsFunc(r.Requirements, func(q reports.Requirement) bool { return q.ID == id && q.Level == reports.May })
	}
	leftOut := func(n reports.NotJudged) bool {
		switch n.Kind {
		case reports.NotApplicable:
			return false
		case reports.NotConfigured:
			return n.Key != "target" && !optional(n.ID)
		case reports.NotClaimed:
			return n.Key != controlPlane && n.Key != endToEnd && !optional(n.ID)
		}
		return true
	}
	return r.Target.AgentServer != "" && r.Scope == reports.ScopePart && !slices.ContainsFunc(r.Requirements, beyond) &&
		!slices.ContainsFunc(r.NotJudged, leftOut)
}

// NotClaimedText counts what the target does not claim: "12 MUSTs and 2 SHOULDs not claimed"; "" where it claims
// everything, or an agent server only.
func NotClaimedText(r *reports.Result) string {
	unclaimed := Of(r).Classes[NotClaimed]
	if len(unclaimed) == 0 || AgentOnly(r) {
		return ""
	}
	return byLevel(unclaimed) + " not claimed"
}

// byLevel counts requirements: "12 MUSTs, 2 SHOULDs and 1 MAY".
func byLevel(requirements []*reports.Requirement) string {
	var parts []string
	for _, level := range reports.Levels {
		if n := len(ofLevel(requirements, level)); n > 0 {
			parts = append(parts, reports.Count(n, string(level)))
		}
	}
	if last := len(parts) - 1; last > 0 {
		return strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return strings.Join(parts, "")
}

func ofLevel(requirements []*reports.Requirement, level reports.Level) []*reports.Requirement {
	return slices.DeleteFunc(slices.Clone(requirements), func(q *reports.Requirement) bool { return q.Level != level })
}

// BrokenClaims names what the target claims and could not be judged, by capability, with what to do where a key is
// missing: "claimed and not judged: tags (set alternatives.tag_ref), rollback (AS-ROLLBACK-5 blocked)"; "" where there
// is nothing.
func BrokenClaims(r *reports.Result) string {
	var names []string
	why := map[string][]string{}
	for _, q := range reports.BrokenClaims(r) {
		if why[q.Claimed] == nil {
			names = append(names, q.Claimed)
		}
		cause := q.ID + " " + string(q.Verdict)
		switch {
		case q.Skip == nil:
		case q.Skip.Kind == reports.OverBudget:
			cause = "raise " + q.Skip.Key
		case q.Skip.Kind == reports.NotApplicable:
			cause = q.ID + " does not apply here: remove " + q.Claimed + " from supports"
		default:
			cause = "set " + q.Skip.Key
		}
		if !slices.Contains(why[q.Claimed], cause) {
			why[q.Claimed] = append(why[q.Claimed], cause)
		}
	}
	if names == nil {
		return ""
	}
	var parts []string
	for _, name := range names {
		parts = append(parts, name+" ("+Some(why[name], 4)+")")
	}
	return "claimed and not judged: " + Some(parts, 4)
}

// LeftOut groups by cause what a run did not judge, the largest group first: what makes it a part, or what does not
// apply. Those that the result holds have their titles, and say why they do not apply.
func LeftOut(r *reports.Result, applies bool) []Cause {
	held := map[string]reports.Requirement{}
	for _, q := range r.Requirements {
		held[q.ID] = q
	}
	var all []*reports.Requirement
	for _, n := range r.NotJudged {
		if (n.Kind != reports.NotApplicable) == applies {
			q := reports.Requirement{ID: n.ID, Title: held[n.ID].Title, Verdict: reports.Skipped, Skip: &reports.Skip{Kind: n.Kind, Key: n.Key}}
			if !applies {
				q.Reason = safe.Ellipsis(held[n.ID].Reason, maxCause)
			}
			all = append(all, &q)
		}
	}
	return Overview{}.Causes(all)
}

// SkippedInPart groups by cause the skipped scenarios of requirements that passed by others. A cause that several
// scenarios of a requirement have is listed once.
func (o Overview) SkippedInPart() []Cause {
	var all []*reports.Requirement
	for _, q := range o.Classes[Passed] {
		before := len(all)
		for _, s := range q.Scenarios {
			part := &reports.Requirement{ID: q.ID, Verdict: s.Verdict, Reason: s.Reason, Skip: s.Skip}
			listed := slices.ContainsFunc(all[before:], func(other *reports.Requirement) bool { return reports.SameCause(part, other) })
			if s.Verdict == reports.Skipped && !listed {
				all = append(all, part)
			}
		}
	}
	return o.Causes(all)
}

// Facts names and tells what every format shows of the whole run: what was judged, how much of it, by what, and with
// which verdict.
func Facts(r *reports.Result) [][2]string {
	facts := [][2]string{
		{"verdict", DisplayVerdictOf(r).String()}, {"scope", string(r.Scope)}, {"supports", strings.Join(r.Target.Supports, ", ")},
		{"claims", BrokenClaims(r)}, {"requirements", CountsOf(r).String()}, {"target", Subject(r)},
		{"suite", r.Suite.Version}, {"commit", r.Suite.Commit}, {"interface", r.Suite.Interface}, {"digest", r.Suite.Digest},
		{"run", r.Run.ID}, {"seed", fmt.Sprint(r.Run.Seed)}, {"stopped", r.Run.Stopped},
	}
	for _, c := range slices.Concat(LeftOut(r, true), LeftOut(r, false)) {
		facts = append(facts, [2]string{"not_judged", fmt.Sprintf("%s (%d): %s", c.What, len(c.Requirements), strings.Join(c.IDs(), ", "))})
	}
	for _, note := range Notes(r) {
		facts = append(facts, [2]string{"note", note})
	}
	return slices.DeleteFunc(facts, func(f [2]string) bool { return f[1] == "" })
}

// FactsText joins the facts: "verdict: conformant; scope: whole".
func FactsText(r *reports.Result, separator string) string {
	var facts []string
	for _, f := range Facts(r) {
		facts = append(facts, f[0]+": "+f[1])
	}
	return strings.Join(facts, separator)
}
