package overview

import (
	"fmt"

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

// Headline summarizes the result after the verdict: the reason for an early end, the numbers, what is wrong with the
// target as a whole or else why most requirements could not be judged, and broken claims.
//
//	2 problems, 8 of 82 MUSTs failed (120 of 140 requirements passed)
func (o Overview) Headline() string {
	r, stopped, required := o.Result, "", ""
	if r.Run.Stopped != "" {
		stopped = "stopped by " + r.Run.Stopped
	}
	if r.Run.Whole && r.Verdict == reports.Incomplete && r.UnjudgedCount() > 0 {
		required = fmt.Sprintf("--require-whole: %s not tested", reports.Count(r.UnjudgedCount(), "requirement"))
	}
	return reports.Joined("; ", stopped, o.numbers(), o.reasonOfAll(), required, o.BrokenClaims(), o.Unclaimed())
}

// numbers counts the problems and the requirements that decide the verdict.
func (o Overview) numbers() string {
	r := o.Result
	failed, open := len(o.deciding[Failed]), len(o.deciding[CouldNotTell])
	passed := len(o.deciding[Passed])
	tested := passed + failed
	all := reports.Count(tested+open, r.Deciding())
	problems, warnings, text := "", "", ""
	if n := len(o.Problems); n > 0 {
		problems = reports.Count(n, "problem")
	}
	if n := len(o.Classes[Warning]); n > 0 {
		warnings = ByLevel(o.Classes[Warning]) + " failed"
	}
	partial := r.UnjudgedCount() > 0 && !o.agentOnly()
	switch {
	case failed > 0:
		text = fmt.Sprintf("%d of %s failed", failed, all) + inBaseline(o.deciding[Failed])
	case tested == 0 && o.Tested > 0:
		return reports.Joined(", ", problems, "no MUST was tested, only "+reports.Count(o.Tested, "requirement")+" of another level")
	case tested == 0:
		return "no requirement was tested"
	case partial && open == 0:
		text = fmt.Sprintf("%d of %s tested, no MUST failed", o.Tested, reports.Count(r.Catalogue(), "requirement"))
		return reports.Joined(", ", problems, text, warnings)
	case open == 0 && tested > 1:
		text = fmt.Sprintf("all %s passed", all)
	default:
		text = fmt.Sprintf("%d of %s passed", passed, all)
	}
	if open > 0 {
		text += fmt.Sprintf(", %d could not tell", open)
	}
	total := fmt.Sprintf(" (%d of %s passed)", len(o.Classes[Passed]), reports.Count(o.whole(), "requirement"))
	return reports.Joined(", ", problems, text, warnings) + total
}

// whole returns the number of requirements of the suite. If only an agent server is tested, it returns the number of
// requirements about the agent server.
func (o Overview) whole() int {
	if o.agentOnly() {
		return o.Result.Catalogue() - o.Result.UnjudgedCount()
	}
	return o.Result.Catalogue()
}

func isInapplicable(q *reports.Requirement) bool {
	return q.Skip != nil && q.Skip.Kind == reports.NotApplicable
}

func count(all []*reports.Requirement, match func(*reports.Requirement) bool) (n int) {
	for _, q := range all {
		if match(q) {
			n++
		}
	}
	return n
}

// inBaseline counts the known failures: ", 2 in the baseline". It is empty if there are none.
func inBaseline(all []*reports.Requirement) string {
	if n := count(all, func(q *reports.Requirement) bool { return q.Known != nil }); n > 0 {
		return fmt.Sprintf(", %d in the baseline", n)
	}
	return ""
}

// reasonOfAll returns the headline of the result, which is about the target as a whole: if its address is wrong, no
// single failure matters. If nothing failed and the test run was not stopped, it returns the reason for
// which most requirements could not be judged.
func (o Overview) reasonOfAll() string {
	if o.Result.Headline != "" {
		return safe.Ellipsis(withoutPeriod(o.Result.Headline), maxHeadline)
	}
	open := o.CouldNotTell()
	if len(o.Problems) > 0 || len(open) == 0 || o.Result.Run.Stopped != "" {
		return ""
	}
	return some(ids(open[0].Requirements), 1) + ": " + open[0].Text
}

// NextStep returns a label and one command or change as the next step for the reader. Both may be empty.
func (o Overview) NextStep() (label, text string) {
	r := o.Result
	if r.Headline != "" {
		return "", "" // it names the next step
	}
	for _, p := range o.Problems {
		if p.First() != nil && !p.Known {
			return "Fix first", p.Replay
		}
	}
	if r.Scope != reports.ScopePart || o.agentOnly() || len(r.Unseen) > 0 { // a key cannot help if no request was successful
		return "", ""
	}
	if len(r.MissingKeys) > 0 {
		next := r.MissingKeys[0]
		return "Next", fmt.Sprintf("set %s: %s more", next.Key, reports.Count(next.Adds, "requirement"))
	}
	return "", ""
}

// Allowed is the tone of a verdict other than conformant if the test run passes because of the baseline.
const Allowed reports.Conclusion = "allowed"

// Display is the verdict as it is shown, with its scope and the effect of the baseline, so that it never contradicts
// the exit code.
type Display struct {
	Tone     reports.Conclusion // determines colors; differs from the verdict only because of a baseline
	Word     reports.Conclusion // the verdict
	Scope    string             // " (partial run)", " (insecure: certificates not verified)"; empty for a whole test run
	Baseline string             // " (all failures are in the baseline, exit 0)"; may be empty
	// Exit is the exit code: 0 conformant or all failures known, 1 non-conformant or baseline out of date, 3
	// incomplete. A recording that shows no violation has 0, and 3 if nothing in it could be judged.
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
	isRecording := r.Run.Recording != nil
	if isRecording && r.Verdict == reports.Incomplete && o.Tested > 0 { // it cannot be conformant
		s.Exit = 0
	}
	switch {
	case isRecording:
		s.Scope = " (recording)"
	case o.agentOnly():
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
	outdated := safe.Ellipsis(some(r.Baseline.Outdated(), 1), maxCause)
	switch {
	case known && outdated == "":
		s.Tone, s.Exit, s.Baseline = Allowed, 0, " (all failures are in the baseline, exit 0)"
	case known:
		s.Tone, s.Exit, s.Baseline = reports.NonConformant, 1, " (all failures are in the baseline, but "+outdated+"; exit 1)"
	case outdated != "":
		s.Tone, s.Exit, s.Baseline = reports.NonConformant, 1, " (in the baseline "+outdated+"; exit 1)"
	case r.Verdict == reports.NonConformant && withoutKnown == reports.Incomplete:
		s.Exit, s.Baseline = 3, " (all failures are in the baseline; "+o.otherMusts()+", exit 3)"
	}
	return s
}

// otherMusts returns the reason why a test run whose failures are all in the baseline is incomplete.
func (o Overview) otherMusts() string {
	switch {
	case len(o.deciding[CouldNotTell]) > 0:
		return "other MUSTs could not be told"
	case len(o.deciding[Passed]) == 0:
		return "no other MUST was tested"
	}
	return "the test run is incomplete"
}
