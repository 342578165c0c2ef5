package overview

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// DisplayVerdict is the verdict as a person is told it: with what the run left out, and with what a baseline makes of it,
// so that the words never contradict the exit code.
type DisplayVerdict struct {
	Tone   Tone
	Word   reports.Conclusion // the verdict
	Caveat string             // continues the word: ", all known: …" or " in what was judged: …"; may be empty
}

// Tone says how a verdict is to look. It differs from the verdict only where a baseline does.
type Tone string

// The tones of a verdict. Their texts are the names of CSS classes.
const (
	ToneGood    Tone = "conformant"
	ToneBad     Tone = "non-conformant"
	ToneOpen    Tone = "incomplete"
	ToneAllowed Tone = "allowed" // wrong, but the baseline lets it pass
)

// String is the verdict with its caveat.
func (s DisplayVerdict) String() string { return string(s.Word) + s.Caveat }

// DisplayVerdictOf derives how the verdict of r is shown.
func DisplayVerdictOf(r *reports.Result) DisplayVerdict {
	s := DisplayVerdict{Word: r.Verdict, Tone: Tone(r.Verdict)}
	if s.Tone != ToneGood && s.Tone != ToneBad {
		s.Tone = ToneOpen
	}
	left := reports.LeftOutOf(r)
	if r.Verdict == reports.Conformant && left.N > 0 {
		s.Caveat = " in what was judged: " + leftOut(left)
	}
	if r.Baseline == nil {
		return s
	}
	known := r.Verdict != reports.Conformant && reports.ConcludeKnown(r) == reports.Conformant
	misfit := misfitOf(r.Baseline)
	switch {
	case known && misfit == "":
		s.Tone, s.Caveat = ToneAllowed, ", all known: the baseline lets it pass (exit 0)"
		if left.N > 0 {
			s.Caveat += "; " + leftOut(left) + " judged"
		}
	case known:
		s.Tone, s.Caveat = ToneBad, ", all known, but the baseline does not fit (exit 1): "+misfit
	case r.Verdict == reports.NonConformant && misfit == "" && reports.ConcludeKnown(r) == reports.Incomplete:
		s.Caveat = ", all known; what else binds could not be judged (exit 3)"
	case r.Verdict == reports.Conformant && misfit != "":
		s.Tone, s.Caveat = ToneBad, s.Caveat+", but the baseline does not fit (exit 1): "+misfit
	case r.Verdict == reports.Incomplete && misfit != "":
		s.Tone, s.Caveat = ToneBad, ", and the baseline does not fit (exit 1): "+misfit
	}
	return s
}

// misfitOf says what to do about the first entry of a baseline that does not fit, or "".
func misfitOf(b *reports.Baseline) string {
	for _, kind := range []struct {
		entries []string
		advice  string
	}{{b.Stale, "remove %s"}, {b.Expired, "the day of %s is past"}, {b.Unmatched, "%s matches nothing"}} {
		if len(kind.entries) == 0 {
			continue
		}
		where, _, _ := strings.Cut(kind.entries[0], ": ")
		advice := fmt.Sprintf(kind.advice, where)
		if more := len(b.Stale) + len(b.Expired) + len(b.Unmatched) - 1; more > 0 {
			advice += fmt.Sprintf(", and %d more", more)
		}
		return advice
	}
	return ""
}

// leftOut says how many requirements a run left out: "8 of 23 requirements were not".
func leftOut(l reports.LeftOut) string {
	if l.N == 1 {
		return fmt.Sprintf("1 of %s was not", reports.Count(l.All, "requirement"))
	}
	return fmt.Sprintf("%d of %s were not", l.N, reports.Count(l.All, "requirement"))
}
