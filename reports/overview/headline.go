package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Bounds in characters: of one cause, and of what the run has to say of the whole target.
const (
	maxCause    = 300
	maxHeadline = 1000
)

// FirstLine is what a person reads first: the verdict, how many MUSTs of how many, and the first cause.
func (o Overview) FirstLine() string { return o.Display().String() + ": " + o.Headline() }

// Headline continues the verdict: what ended the run early, the numbers, the first cause, and what else to know.
//
//	2 causes, 8 of 82 MUSTs failed; first CP-LIST-4: expected 20 of the 23 revisions, got 10; 1 SHOULD failed
func (o Overview) Headline() string {
	r, stopped, required := o.Result, "", ""
	if r.Run.Stopped != "" {
		stopped = "stopped by " + r.Run.Stopped
	}
	if r.Run.Whole && r.Verdict == reports.Incomplete && r.LeftOut() > 0 {
		required = fmt.Sprintf("--require-whole: %s not judged", reports.Count(r.LeftOut(), "requirement"))
	}
	return reports.Joined("; ", stopped, o.numbers(), o.firstCause(), required, o.BrokenClaims(), o.Unclaimed(), o.warnings(),
		o.nextKey())
}

// numbers says how many of the requirements that decide the verdict have passed or failed.
func (o Overview) numbers() string {
	r, failed, passed := o.Result, o.deciding[reports.Failed], len(o.deciding[reports.Passed])
	open := len(o.deciding[reports.Blocked]) + len(o.deciding[reports.Inconclusive])
	notApplicable := count(o.Classes[NotApplicable], (*reports.Requirement).Decides)
	judged, part := passed+len(failed), r.LeftOut() > 0 && !o.AgentOnly()
	of := reports.Count(judged+open+notApplicable, r.Deciding())
	text := fmt.Sprintf("%d of %s failed", len(failed), of) + inBaseline(failed)
	causes := count(failed, func(q *reports.Requirement) bool { return len(q.ExplainedBy) == 0 })
	if 0 < causes && causes < len(failed) {
		text = reports.Count(causes, "cause") + ", " + text
	}
	switch {
	case r.Verdict == reports.NonConformant:
		return text
	case judged == 0 && o.Judged > 0:
		return "no MUST was judged, only " + reports.Count(o.Judged, "requirement") + " of another level"
	case judged == 0:
		return "no requirement was judged"
	case part && (r.Verdict == reports.Conformant || open == 0):
		return fmt.Sprintf("%d of %s judged, no MUST failed", o.Judged, reports.Count(r.Catalogue(), "requirement"))
	}
	text = fmt.Sprintf("%d of %s passed", passed, of)
	if notApplicable > 0 {
		text += fmt.Sprintf(", %d not applicable", notApplicable)
	}
	if open > 0 {
		text += fmt.Sprintf(", %d could not be judged", open)
	}
	return text
}

func count(all []*reports.Requirement, holds func(*reports.Requirement) bool) (n int) {
	for _, q := range all {
		if holds(q) {
			n++
		}
	}
	return n
}

// inBaseline counts those that the baseline covers: " (2 in the baseline)"; "" where there is none.
func inBaseline(all []*reports.Requirement) string {
	if n := count(all, func(q *reports.Requirement) bool { return q.Known != nil }); n > 0 {
		return fmt.Sprintf(" (%d in the baseline)", n)
	}
	return ""
}

// firstCause names the gravest failure, or what kept most requirements from being judged. What the run has to say of
// the target as a whole goes first: with a wrong address no single failure means anything.
func (o Overview) firstCause() string {
	if o.Result.Headline != "" {
		return safe.Ellipsis(strings.TrimSuffix(o.Result.Headline, "."), maxHeadline)
	}
	if failed, beneath := o.byCause(o.Classes[Failed]); len(failed) > 0 {
		return o.gravest(slices.DeleteFunc(failed, func(q *reports.Requirement) bool { return beneath[q.ID] }))
	}
	open := o.Causes(slices.Concat(o.Classes[Blocked], o.Classes[Inconclusive]))
	if len(open) == 0 {
		return ""
	}
	return Some(ids(open[0].Requirements), 1) + ": " + open[0].What
}

// gravest says in a few words what is wrong with the gravest of some failures.
func (o Overview) gravest(failed []*reports.Requirement) string {
	q := slices.MinFunc(failed, func(a, b *reports.Requirement) int {
		return cmp.Compare(reports.SubjectRank(a.Subject), reports.SubjectRank(b.Subject))
	})
	return "first " + q.ID + ": " + o.inWords(q)
}

// warnings counts what failed and does not decide the verdict:
//
//	1 SHOULD failed, first CP-REV-3: expected 4xx, got 200
func (o Overview) warnings() string {
	failed := o.Classes[Warning]
	switch {
	case len(failed) == 0:
		return ""
	case len(o.Classes[Failed]) > 0:
		return ByLevel(failed) + " failed"
	}
	return ByLevel(failed) + " failed, " + o.gravest(failed)
}

// nextKey names the key of the configuration that would let judge most of what was left out.
func (o Overview) nextKey() string {
	if r := o.Result; r.Scope != reports.ScopePart || o.AgentOnly() || len(r.Unseen) > 0 {
		return "" // what is missing for a first successful answer was said
	}
	for _, c := range o.LeftOut(true) {
		if s := c.Requirements[0].Skip; s.Kind == reports.NotConfigured && s.Key != "" && s.Key != "target" {
			return fmt.Sprintf("set %s to judge %d more", s.Key, len(c.Requirements))
		}
	}
	return ""
}

// Allowed is the tone of a verdict that the baseline lets pass though it is wrong.
const Allowed reports.Conclusion = "allowed"

// Display is the verdict as it is shown: with its scope, and with what a baseline makes of it, so that the words never
// contradict the exit code.
type Display struct {
	Tone     reports.Conclusion // how it is to look: differs from the verdict only where a baseline does
	Word     reports.Conclusion // the verdict
	Scope    string             // " (partial run)", " (insecure: certificates not verified)"; "" for a whole run
	Baseline string             // " (all failures are in the baseline, exit 0)"; may be empty
	// Exit is the code of the command: 0 conformant or all known, 1 non-conformant or a baseline out of date, 3
	// incomplete.
	Exit int
}

// String is the verdict with its scope, and what the baseline makes of it.
func (s Display) String() string { return string(s.Word) + s.Scope + s.Baseline }

// Display derives how the verdict is shown.
func (o Overview) Display() Display {
	r := o.Result
	s := Display{Word: r.Verdict, Tone: r.Verdict, Exit: 3}
	switch r.Verdict {
	case reports.Conformant:
		s.Exit = 0
	case reports.NonConformant:
		s.Exit = 1
	}
	switch {
	case o.AgentOnly():
		s.Scope = " (agent server)"
	case r.LeftOut() > 0:
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
	misfit := safe.Ellipsis(Some(slices.Concat(r.Baseline.Stale, r.Baseline.Expired, r.Baseline.Unmatched), 1), maxCause)
	switch {
	case known && misfit == "":
		s.Tone, s.Exit, s.Baseline = Allowed, 0, " (all failures are in the baseline, exit 0)"
	case known:
		s.Tone, s.Exit, s.Baseline = reports.NonConformant, 1, " (all failures are in the baseline, but "+misfit+"; exit 1)"
	case misfit != "":
		s.Tone, s.Exit, s.Baseline = reports.NonConformant, 1, " (in the baseline "+misfit+"; exit 1)"
	case r.Verdict == reports.NonConformant && without == reports.Incomplete:
		s.Exit, s.Baseline = 3, " (all failures are in the baseline; other MUSTs could not be judged, exit 3)"
	}
	return s
}
