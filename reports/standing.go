package reports

import (
	"fmt"
	"strings"
)

// standing is the verdict as a person is told it: with what the run left out, and with what a baseline makes of it,
// so that the words never contradict the exit code.
type standing struct {
	Tone   tone
	Word   Conclusion // the verdict
	Caveat string     // continues the word: ", all known: …" or " in what was judged: …"; may be empty
}

// tone says how a verdict is to look. It differs from the verdict only where a baseline does.
type tone string

const (
	toneGood    tone = "conformant"
	toneBad     tone = "non-conformant"
	toneOpen    tone = "incomplete"
	toneAllowed tone = "allowed" // wrong, but the baseline lets it pass
)

func (s standing) String() string { return string(s.Word) + s.Caveat }

func standingOf(r *Result) standing {
	s := standing{Word: r.Verdict, Tone: tone(r.Verdict)}
	if s.Tone != toneGood && s.Tone != toneBad {
		s.Tone = toneOpen
	}
	left := leftOutOf(r)
	if r.Verdict == Conformant && left.n > 0 {
		s.Caveat = " in what was judged: " + left.String()
	}
	if r.Baseline == nil {
		return s
	}
	known := r.Verdict != Conformant && ConcludeKnown(r) == Conformant
	misfit := misfitOf(r.Baseline)
	switch {
	case known && misfit == "":
		s.Tone, s.Caveat = toneAllowed, ", all known: the baseline lets it pass (exit 0)"
		if left.n > 0 {
			s.Caveat += "; " + left.String() + " judged"
		}
	case known:
		s.Tone, s.Caveat = toneBad, ", all known, but the baseline does not fit (exit 1): "+misfit
	case r.Verdict == NonConformant && misfit == "" && ConcludeKnown(r) == Incomplete:
		s.Caveat = ", all known; what else binds could not be judged (exit 3)"
	case r.Verdict == Conformant && misfit != "":
		s.Tone, s.Caveat = toneBad, s.Caveat+", but the baseline does not fit (exit 1): "+misfit
	case r.Verdict == Incomplete && misfit != "":
		s.Tone, s.Caveat = toneBad, ", and the baseline does not fit (exit 1): "+misfit
	}
	return s
}

// misfitOf says what to do about the first entry of a baseline that does not fit, or "".
func misfitOf(b *Baseline) string {
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

// ConcludeKnown is the verdict of a run where what its baseline knows counts as if it had not been judged.
func ConcludeKnown(r *Result) Conclusion {
	rest := make([]Requirement, len(r.Requirements))
	known := 0
	for i, q := range r.Requirements {
		if q.Known != nil && q.Verdict != Passed && q.Verdict != Skipped {
			q.Verdict = Skipped
			known++
		}
		rest[i] = q
	}
	if known == 0 || r.Verdict != Conclude(r.Requirements, r.Run.Strict) {
		return r.Verdict // the run knows better: it was interrupted, say
	}
	return Conclude(rest, r.Run.Strict)
}

// leftOut counts the requirements that apply to the target for all that is known, and that the run did not judge:
// those that were not selected, and those for which a budget, a profile, an address or a key left no room. It counts
// none where none of them binds.
type leftOut struct{ n, all int }

func (l leftOut) String() string {
	if l.n == 1 {
		return fmt.Sprintf("1 of %s was not", count(l.all, "requirement"))
	}
	return fmt.Sprintf("%d of %s were not", l.n, count(l.all, "requirement"))
}

func leftOutOf(r *Result) leftOut {
	l := leftOut{all: max(r.Suite.Requirements, len(r.Requirements))}
	l.n = l.all - len(r.Requirements)
	binds := l.n > 0 // what was not selected is not in the result, and may bind
	for _, q := range r.Requirements {
		if q.Verdict == Skipped && !strings.HasPrefix(q.Reason, DoesNotApply) {
			l.n++
			binds = binds || binding(q.Level, r.Run.Strict)
		}
	}
	if !binds {
		l.n = 0
	}
	return l
}

// DoesNotApply begins the reason of a skip that lies in what the target is, and not in how the run was started or
// configured: nothing is missing where such a requirement was not judged.
const DoesNotApply = "does not apply: "

// Whole tells whether the run judged every requirement that binds and applies to the target. Only such a run finds a
// target plainly conformant.
func Whole(r *Result) bool { return leftOutOf(r).n == 0 }
