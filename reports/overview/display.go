package overview

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// DisplayVerdict is the verdict as it is shown: with its scope, and with what a baseline makes of it, so that the
// words never contradict the exit code.
type DisplayVerdict struct {
	Tone     Tone
	Word     reports.Conclusion // the verdict
	Scope    string             // continues it: " (partial run)", " (agent server)", and " (insecure: certificates not verified)"; empty for a whole run
	Baseline string             // continues it: " (all failures are in the baseline, exit 0)"; may be empty
	Exit     int                // code of the command: 0 conformant or all known, 1 non-conformant or a baseline out of date, 3 incomplete
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

// String is the verdict with its scope, and what the baseline makes of it.
func (s DisplayVerdict) String() string { return string(s.Word) + s.Scope + s.Baseline }

// DisplayVerdictOf derives how the verdict of r is shown.
func DisplayVerdictOf(r *reports.Result) DisplayVerdict {
	s := DisplayVerdict{Word: r.Verdict, Tone: Tone(r.Verdict)}
	switch s.Tone {
	case ToneGood:
	case ToneBad:
		s.Exit = 1
	default:
		s.Tone, s.Exit = ToneOpen, 3
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
	known := r.Verdict != reports.Conformant && reports.ConcludeKnown(r) == reports.Conformant
	misfit := misfitOf(r.Baseline)
	switch {
	case known && misfit == "":
		s.Tone, s.Exit, s.Baseline = ToneAllowed, 0, " (all failures are in the baseline, exit 0)"
	case known:
		s.Tone, s.Exit, s.Baseline = ToneBad, 1, " (all failures are in the baseline, but "+misfit+", exit 1)"
	case r.Verdict == reports.NonConformant && misfit == "" && reports.ConcludeKnown(r) == reports.Incomplete:
		s.Exit, s.Baseline = 3, " (all failures are in the baseline; other MUSTs could not be judged, exit 3)"
	case misfit != "":
		s.Tone, s.Exit, s.Baseline = ToneBad, 1, " (in the baseline "+misfit+", exit 1)"
	}
	return s
}

// misfitOf says what to do about the first entry of a baseline that does not fit, or "".
func misfitOf(b *reports.Baseline) string {
	for _, kind := range []struct {
		entries []string
		what    string
	}{{b.Stale, "%s passes now: remove it"}, {b.Expired, "%s has expired"}, {b.Unmatched, "%s matches nothing: remove it"}} {
		if len(kind.entries) == 0 {
			continue
		}
		where, _, _ := strings.Cut(kind.entries[0], ": ")
		text := fmt.Sprintf(kind.what, where)
		if more := len(b.Stale) + len(b.Expired) + len(b.Unmatched) - 1; more > 0 {
			text += fmt.Sprintf(", and %d more", more)
		}
		return text
	}
	return ""
}
