package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Maximum lengths in characters of one cause, and of a text about the whole target.
const (
	maxCause    = 300
	maxHeadline = 1000
)

// FirstLine returns the verdict and the headline.
func (o Overview) FirstLine() string { return o.Display().String() + ": " + o.Headline() }

// Headline summarizes the result after the verdict: the reason for an early end, the numbers, the first cause,
// warnings, and the next key to set.
//
//	2 causes, 8 of 82 MUSTs failed; first CP-LIST-4: expected 20 of the 23 revisions, got 10; 1 SHOULD failed
func (o Overview) Headline() string {
	r, stopped, required := o.Result, "", ""
	if r.Run.Stopped != "" {
		stopped = "stopped by " + r.Run.Stopped
	}
	if r.Run.Whole && r.Verdict == reports.Incomplete && r.UnjudgedCount() > 0 {
		required = fmt.Sprintf("--require-whole: %s not judged", reports.Count(r.UnjudgedCount(), "requirement"))
	}
	return reports.Joined("; ", stopped, o.numbers(), o.firstCause(), required, o.BrokenClaims(), o.Unclaimed(), o.warnings(),
		o.nextKey())
}

// numbers counts the requirements that decide the verdict.
func (o Overview) numbers() string {
	r := o.Result
	failed, passed := o.deciding[reports.Failed], len(o.deciding[reports.Passed])
	open := len(o.deciding[reports.Blocked]) + len(o.deciding[reports.Inconclusive])
	notApplicable := count(o.Classes[NotApplicable], (*reports.Requirement).Decides)
	judged := passed + len(failed)
	partial := r.UnjudgedCount() > 0 && !o.AgentOnly()
	all := reports.Count(judged+open+notApplicable, r.Deciding())
	switch {
	case r.Verdict == reports.NonConformant:
		text := fmt.Sprintf("%d of %s failed", len(failed), all) + inBaseline(failed)
		causes := count(failed, func(q *reports.Requirement) bool { return len(q.ExplainedBy) == 0 })
		if 0 < causes && causes < len(failed) {
			return reports.Count(causes, "cause") + ", " + text
		}
		return text
	case judged == 0 && o.Judged > 0:
		return "no MUST was judged, only " + reports.Count(o.Judged, "requirement") + " of another level"
	case judged == 0:
		return "no requirement was judged"
	case partial && (r.Verdict == reports.Conformant || open == 0):
		return fmt.Sprintf("%d of %s judged, no MUST failed", o.Judged, reports.Count(r.Catalogue(), "requirement"))
	}
	text := fmt.Sprintf("%d of %s passed", passed, all)
	if notApplicable > 0 {
		text += fmt.Sprintf(", %d not applicable", notApplicable)
	}
	if open > 0 {
		text += fmt.Sprintf(", %d could not be judged", open)
	}
	return text
}

func count(all []*reports.Requirement, match func(*reports.Requirement) bool) (n int) {
	for _, q := range all {
		if match(q) {
			n++
		}
	}
	return n
}

// inBaseline counts the known failures: " (2 in the baseline)". It is empty if there are none.
func inBaseline(all []*reports.Requirement) string {
	if n := count(all, func(q *reports.Requirement) bool { return q.Known != nil }); n > 0 {
		return fmt.Sprintf(" (%d in the baseline)", n)
	}
	return ""
}

// firstCause returns the headline of the result, or the most severe failure, or the most frequent reason why
// requirements were not judged. The headline is about the target as a whole: if its address is wrong, no single failure
// matters.
func (o Overview) firstCause() string {
	if o.Result.Headline != "" {
		return safe.Ellipsis(strings.TrimSuffix(o.Result.Headline, "."), maxHeadline)
	}
	if len(o.Classes[Failed]) > 0 {
		ordered, explained := o.orderByCause(o.Classes[Failed])
		var causes []*reports.Requirement
		for _, q := range ordered {
			if !explained[q.ID] {
				causes = append(causes, q)
			}
		}
		return o.mostSevere(causes)
	}
	open := o.Causes(slices.Concat(o.Classes[Blocked], o.Classes[Inconclusive]))
	if len(open) == 0 {
		return ""
	}
	return Some(ids(open[0].Requirements), 1) + ": " + open[0].Reason
}

// mostSevere describes the most severe failure.
func (o Overview) mostSevere(failed []*reports.Requirement) string {
	q := slices.MinFunc(failed, func(a, b *reports.Requirement) int {
		return cmp.Compare(reports.SubjectRank(a.Subject), reports.SubjectRank(b.Subject))
	})
	return "first " + q.ID + ": " + o.describe(q)
}

// warnings counts the failures that do not decide the verdict:
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
	return ByLevel(failed) + " failed, " + o.mostSevere(failed)
}

// nextKey names the key of the configuration with which most of the remaining requirements would be judged.
func (o Overview) nextKey() string {
	r := o.Result
	if r.Scope != reports.ScopePart || o.AgentOnly() || len(r.Unseen) > 0 { // a key cannot help if no request was successful
		return ""
	}
	for _, c := range o.NotJudgedCauses() {
		s := c.Requirements[0].Skip
		if s.Kind == reports.NotConfigured && s.Key != "" && s.Key != "target" {
			return fmt.Sprintf("set %s to judge %d more", s.Key, len(c.Requirements))
		}
	}
	return ""
}

// Allowed is the tone of a verdict other than conformant with which the test run passes because of the baseline.
const Allowed reports.Conclusion = "allowed"

// Display is the verdict as it is shown, with its scope and the effect of the baseline, so that it never contradicts
// the exit code.
type Display struct {
	Tone     reports.Conclusion // decides colors; differs from the verdict only because of a baseline
	Word     reports.Conclusion // the verdict
	Scope    string             // " (partial run)", " (insecure: certificates not verified)"; empty for a whole test run
	Baseline string             // " (all failures are in the baseline, exit 0)"; may be empty
	// Exit is the exit code: 0 conformant or all failures known, 1 non-conformant or baseline out of date, 3
	// incomplete.
	Exit int
}

// String returns the verdict with its scope and the effect of the baseline.
func (s Display) String() string { return string(s.Word) + s.Scope + s.Baseline }

// Display returns the verdict as it is shown.
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
	case r.UnjudgedCount() > 0:
		s.Scope = " (partial run)"
	}
	if via := r.Target.Connection; via != nil && via.Insecure {
		s.Scope += " (insecure: certificates not verified)"
	}
	if r.Baseline == nil {
		return s
	}
	withoutKnown := reports.ConcludeKnown(r)
	known := r.Verdict != reports.Conformant && withoutKnown == reports.Conformant
	outdated := safe.Ellipsis(Some(slices.Concat(r.Baseline.Stale, r.Baseline.Expired, r.Baseline.Unmatched), 1), maxCause)
	switch {
	case known && outdated == "":
		s.Tone, s.Exit, s.Baseline = Allowed, 0, " (all failures are in the baseline, exit 0)"
	case known:
		s.Tone, s.Exit, s.Baseline = reports.NonConformant, 1, " (all failures are in the baseline, but "+outdated+"; exit 1)"
	case outdated != "":
		s.Tone, s.Exit, s.Baseline = reports.NonConformant, 1, " (in the baseline "+outdated+"; exit 1)"
	case r.Verdict == reports.NonConformant && withoutKnown == reports.Incomplete:
		s.Exit, s.Baseline = 3, " (all failures are in the baseline; other MUSTs could not be judged, exit 3)"
	}
	return s
}
