package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds of a text in the first line, in characters: of one cause, and of what the run has to say of the whole target.
const (
	maxCause    = 240
	maxHeadline = 1000
)

// FirstLine is what a person reads first: the verdict, how many MUSTs of how many, and the first cause.
func FirstLine(r *reports.Result) string {
	return DisplayVerdictOf(r).String() + ": " + Headline(r)
}

// Headline continues the verdict: what ended the run early, the numbers, the first cause, and what else to know.
//
//	2 causes, 8 of 82 MUSTs failed; first CP-LIST-4: expected 20 of the 23 revisions, got 10; 1 of 21 SHOULDs failed
func Headline(r *reports.Result) string {
	stopped, required := "", ""
	if r.Run.Stopped != "" {
		stopped = "stopped by " + r.Run.Stopped
	}
	if r.Run.Whole && r.Verdict == reports.Incomplete && !reports.Whole(r) {
		required = fmt.Sprintf("--require-whole: %s not judged", reports.Count(r.LeftOut(), "requirement"))
	}
	o := Of(r)
	parts := []string{stopped, numbers(r), o.firstCause(), required, BrokenClaims(r), NotClaimedText(r), o.warnings(), nextKey(r)}
	parts = append(parts, delays(r)...)
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// numbers says how many of the requirements that decide the verdict have passed or failed.
func numbers(r *reports.Result) string {
	by, known, causes, notApplicable := map[reports.Verdict]int{}, 0, 0, 0
	for q := range reports.Each(r.Requirements) {
		if !q.Decides(r.Run.Strict) {
			continue
		}
		by[q.Verdict]++
		if q.Verdict == reports.Failed && len(q.ExplainedBy) == 0 {
			causes++
		}
		if q.Verdict == reports.Failed && q.Known != nil {
			known++
		}
		if ClassOf(r, q) == NotApplicable {
			notApplicable++
		}
	}
	passed, failed, open := by[reports.Passed], by[reports.Failed], by[reports.Blocked]+by[reports.Inconclusive]
	noun := r.Deciding()
	part := !reports.Whole(r) && !AgentOnly(r)
	if part {
		noun = "selected " + noun
	}
	of, judged := reports.Count(passed+failed+open+notApplicable, noun), Judged(r)
	text := fmt.Sprintf("%d of %s failed", failed, of)
	if 0 < causes && causes < failed {
		text = reports.Count(causes, "cause") + ", " + text
	}
	switch {
	case r.Verdict == reports.NonConformant && known > 0:
		return fmt.Sprintf("%s (%d in the baseline)", text, known)
	case r.Verdict == reports.NonConformant:
		return text
	case passed+failed == 0 && judged > 0:
		return "no MUST was judged, only " + reports.Count(judged, "requirement") + " of another level"
	case passed+failed == 0:
		return "no requirement was judged"
	case part && (r.Verdict == reports.Conformant || open == 0):
		return fmt.Sprintf("%d of %s judged, no MUST failed", judged, reports.Count(r.Catalogue(), "requirement"))
	case r.Verdict == reports.Conformant && notApplicable > 0:
		return fmt.Sprintf("%d of %s passed, %d not applicable", passed, of, notApplicable)
	case r.Verdict == reports.Conformant || open == 0:
		return fmt.Sprintf("%d of %s passed", passed, of)
	}
	return fmt.Sprintf("%d of %s passed, %d could not be judged", passed, of, open)
}

// firstCause names the gravest failure, or what kept most requirements from being judged. What the run has to say of the
// target as a whole goes first: with a wrong address no single failure means anything.
func (o Overview) firstCause() string {
	if o.Result.Headline != "" {
		return safe.Ellipsis(strings.TrimSuffix(o.Result.Headline, "."), maxHeadline)
	}
	if failed := o.Classes[Failed]; len(failed) > 0 {
		causes := slices.DeleteFunc(slices.Clone(failed), func(q *reports.Requirement) bool { return o.IsBeneath(q, failed) })
		q := slices.MinFunc(causes, func(a, b *reports.Requirement) int {
			return cmp.Compare(reports.Gravity(a.Subject), reports.Gravity(b.Subject))
		})
		return "first " + q.ID + ": " + o.observed(q)
	}
	open := o.Causes(slices.Concat(o.Classes[Blocked], o.Classes[Inconclusive]))
	if len(open) == 0 {
		return ""
	}
	more := ""
	if n := len(open[0].Requirements) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return open[0].Requirements[0].ID + more + ": " + safe.Ellipsis(open[0].What, maxCause)
}

// observed says in a few words what is wrong with a failed requirement.
func (o Overview) observed(q *reports.Requirement) string {
	return safe.Ellipsis(o.inWords([]*reports.Requirement{q}), maxCause)
}

// warnings counts what failed and does not decide the verdict: "1 of 21 SHOULDs failed: CP-REV-3: expected 4xx, got
// 200".
func (o Overview) warnings() string {
	var parts []string
	for _, level := range []reports.Level{reports.Should, reports.May} {
		failed := ofLevel(o.Classes[Warning], level)
		if len(failed) == 0 {
			continue
		}
		secure := slices.DeleteFunc(slices.Clone(failed), func(q *reports.Requirement) bool { return q.Subject != "security" })
		all := 0
		for _, q := range o.Result.Requirements {
			if q.Level == level && q.Verdict != reports.Skipped {
				all++
			}
		}
		text := fmt.Sprintf("%d of %s failed", len(failed), reports.Count(all, string(level)))
		switch {
		case len(o.Classes[Failed]) == 0:
			first := slices.Concat(secure, failed)[0]
			text += ", first " + first.ID + ": " + o.observed(first)
		case len(secure) > 0:
			text += ", " + secure[0].ID + " with @security"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

// nextKey names the key of the configuration that would let judge most of what was left out.
func nextKey(r *reports.Result) string {
	if r.Scope != reports.ScopePart || AgentOnly(r) || len(r.Unseen) > 0 { // what is missing for a first successful answer was said
		return ""
	}
	for _, c := range LeftOut(r, true) {
		if s := c.Requirements[0].Skip; s.Kind == reports.NotConfigured && s.Key != "" && s.Key != "target" {
			return fmt.Sprintf("set %s to judge %d more", s.Key, len(c.Requirements))
		}
	}
	return ""
}

// delays reports requests to wait that took a large part of the run, or were longer than the suite waits.
func delays(r *reports.Result) (text []string) {
	c := r.Counts
	if c.WaitedMS >= 1000 && c.WaitedMS >= r.Run.DurationMS/4 {
		text = append(text, fmt.Sprintf("the target asked the suite to wait, %s of %s",
			Duration(min(c.WaitedMS, r.Run.DurationMS)), Duration(r.Run.DurationMS)))
	}
	if c.NotWaited > 0 {
		text = append(text, fmt.Sprintf("the target asked %s to wait longer or more often than the suite does; dependent checks are skipped",
			reports.Count(c.NotWaited, "time")))
	}
	return text
}

// Allowed is the tone of a verdict that the baseline lets pass though it is wrong.
const Allowed reports.Conclusion = "allowed"

// DisplayVerdict is the verdict as it is shown: with its scope, and with what a baseline makes of it, so that the
// words never contradict the exit code.
type DisplayVerdict struct {
	Tone     reports.Conclusion // how it is to look: differs from the verdict only where a baseline does
	Word     reports.Conclusion // the verdict
	Scope    string             // " (partial run)", " (agent server)", " (insecure: certificates not verified)"; "" for a whole run
	Baseline string             // " (all failures are in the baseline, exit 0)"; may be empty
	Exit     int                // code of the command: 0 conformant or all known, 1 non-conformant or a baseline out of date, 3 incomplete
}

// String is the verdict with its scope, and what the baseline makes of it.
func (s DisplayVerdict) String() string { return string(s.Word) + s.Scope + s.Baseline }

// DisplayVerdictOf derives how the verdict of r is shown.
func DisplayVerdictOf(r *reports.Result) DisplayVerdict {
	s := DisplayVerdict{Word: r.Verdict, Tone: r.Verdict, Exit: 3}
	switch r.Verdict {
	case reports.Conformant:
		s.Exit = 0
	case reports.NonConformant:
		s.Exit = 1
	}
	switch {
	case AgentOnly(r):
		s.Scope = " (agent server)"
	case !reports.Whole(r):
		s.Scope = " (partial run)"
	}
	if via := r.Target.Connection; via != nil && via.Insecure {
		s.Scope += " (insecure: certificates not verified)"
	}
	if r.Baseline == nil {
		return s
	}
	without := reports.ConcludeKnown(r)
	known := r.Verdict != reports.Conformant && without == reports.Conformant
	misfit := misfitOf(r.Baseline)
	switch {
	case known && misfit == "":
		s.Tone, s.Exit, s.Baseline = Allowed, 0, " (all failures are in the baseline, exit 0)"
	case known:
		s.Tone, s.Exit, s.Baseline = reports.NonConformant, 1, " (all failures are in the baseline, but "+misfit+", exit 1)"
	case misfit != "":
		s.Tone, s.Exit, s.Baseline = reports.NonConformant, 1, " (in the baseline "+misfit+", exit 1)"
	case r.Verdict == reports.NonConformant && without == reports.Incomplete:
		s.Exit, s.Baseline = 3, " (all failures are in the baseline; other MUSTs could not be judged, exit 3)"
	}
	return s
}

// misfitOf says what to do about the first entry of a baseline that does not fit, or "".
func misfitOf(b *reports.Baseline) string {
	all := slices.Concat(b.Stale, b.Expired, b.Unmatched)
	if len(all) == 0 {
		return ""
	}
	text, _, _ := strings.Cut(all[0], ": ")
	switch {
	case len(b.Stale) > 0:
		text += " passes now: remove it"
	case len(b.Expired) > 0:
		text += " has expired"
	default:
		text += " matches nothing: remove it"
	}
	if more := len(all) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
