package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// AgentOnly tells whether an agent server was judged as the whole of what there is to judge: no control plane is
// configured or claimed, and nothing else was left out but what is optional (MAY).
func (o Overview) AgentOnly() bool {
	r := o.Result
	others := []string{"control-plane", "end-to-end", "target"} // profiles, and the key of the control plane
	judged := func(q reports.Requirement) bool {
		return q.Verdict != reports.Skipped && slices.Contains(others, q.Profile)
	}
	missing := func(n reports.NotJudged) bool {
		q := r.Requirement(n.ID)
		rightly := slices.Contains(others, n.Key) || q != nil && q.Level == reports.May
		return n.Kind != reports.NotApplicable &&
			(!rightly || n.Kind != reports.NotConfigured && n.Kind != reports.NotClaimed)
	}
	return r.Target.AgentServer != "" && r.Scope == reports.ScopePart &&
		!slices.ContainsFunc(r.Requirements, judged) && !slices.ContainsFunc(r.NotJudged, missing)
}

// Unclaimed counts what the target does not claim: "12 MUSTs, 2 SHOULDs not claimed"; "" where it claims everything,
// or an agent server only.
func (o Overview) Unclaimed() string {
	if len(o.Classes[NotClaimed]) == 0 || o.AgentOnly() {
		return ""
	}
	return ByLevel(o.Classes[NotClaimed]) + " not claimed"
}

// ByLevel counts requirements: "12 MUSTs, 2 SHOULDs, 1 MAY".
func ByLevel(requirements []*reports.Requirement) string {
	return counted(reports.Levels, requirements, func(q *reports.Requirement) reports.Level { return q.Level })
}

// counted counts things by their kinds, in the order of these.
func counted[K ~string, T any](kinds []K, all []T, kindOf func(T) K) string {
	counts := map[K]int{}
	for _, each := range all {
		counts[kindOf(each)]++
	}
	var parts []string
	for _, kind := range kinds {
		if counts[kind] > 0 {
			parts = append(parts, reports.Count(counts[kind], string(kind)))
		}
	}
	return strings.Join(parts, ", ")
}

// BrokenClaims names the capabilities that the target claims and that could not be judged, each with why, and with what
// to do where a key is missing: "claimed and not judged: tags (set alternatives.tag_ref), rollback (AS-ROLLBACK-5
// blocked)"; "" where there is nothing.
func (o Overview) BrokenClaims() string {
	var parts []string
	for _, q := range reports.BrokenClaims(o.Result) {
		why := q.ID + " " + string(q.Verdict)
		if q.Skip != nil && q.Skip.Kind == reports.NotApplicable {
			why = q.ID + " does not apply here: remove " + q.Claimed + " from supports"
		} else if q.Skip != nil {
			why = remedies[q.Skip.Kind] + q.Skip.Key
		}
		if text := q.Claimed + " (" + why + ")"; !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if parts == nil {
		return ""
	}
	return "claimed and not judged: " + Some(parts, 6)
}

// Remaining says how far a target is from conformant: "3 MUSTs with 2 causes", or "none".
func (o Overview) Remaining() string {
	r, passed := o.Result, len(o.deciding[reports.Passed])
	short := slices.Concat(o.deciding[reports.Failed], o.deciding[reports.Blocked], o.deciding[reports.Inconclusive])
	claims, text, left := o.BrokenClaims(), "", ""
	switch warnings := o.Classes[Warning]; {
	case len(short) > 0:
		text = reports.Count(len(short), r.Deciding()) + inBaseline(short)
		if causes := o.Causes(short); len(causes) < len(short) {
			text += " with " + reports.Count(len(causes), "cause")
		}
	case passed > 0 && len(warnings) > 0:
		text = "all MUSTs pass, " + ByLevel(warnings) + " not met"
	case len(r.Unseen) > 0:
		text = "no successful answer of the " + strings.ReplaceAll(strings.Join(r.Unseen, " and the "), "-", " ")
	case passed > 0 && claims == "":
		text = "none"
	}
	if n := r.LeftOut(); n > 0 {
		left = fmt.Sprintf("%d of %s not judged", n, reports.Count(r.Catalogue(), "requirement"))
	}
	return cmp.Or(reports.Joined("; ", text, claims, left), "no MUST was judged")
}
