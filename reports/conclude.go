package reports

// Decides tells whether a requirement of this level decides the verdict: a MUST does, and in a strict run a SHOULD too.
func (l Level) Decides(strict bool) bool { return l == Must || strict && l == Should }

// Conclude derives the conclusion: non-conformant when a MUST failed; conformant when no MUST failed, is blocked
// or is inconclusive and at least one passed; else incomplete. With strict, a SHOULD counts as a MUST.
func Conclude(requirements []Requirement, strict bool) Conclusion {
	passed, open := 0, 0
	for _, r := range requirements {
		if !r.Level.Decides(strict) {
			continue
		}
		switch r.Verdict {
		case Failed:
			return NonConformant
		case Passed:
			passed++
		case Blocked, Inconclusive:
			open++
		}
	}
	if passed > 0 && open == 0 {
		return Conformant
	}
	return Incomplete
}

// ConcludeKnown is the conclusion of a run if what its baseline covers counts as not judged.
func ConcludeKnown(r *Result) Conclusion {
	rest := make([]Requirement, len(r.Requirements))
	known := 0
	for i, q := range r.Requirements {
		if q.Known != nil && q.Verdict.Problem() {
			q.Verdict = Skipped
			known++
		}
		rest[i] = q
	}
	if known == 0 || r.Verdict != Conclude(r.Requirements, r.Run.Strict) {
		return r.Verdict // the run had another reason, such as an interruption
	}
	return Conclude(rest, r.Run.Strict)
}

// LeftOut counts the requirements that a run left out: they apply to the target as far as is known, and were not
// judged, because they were not selected, or because a budget, a profile, an address or a key did not allow it.
type LeftOut struct {
	N   int // left out; 0 where none of them decides the verdict
	All int // in the catalogue
}

// LeftOutOf counts what the run r left out.
func LeftOutOf(r *Result) LeftOut {
	l := LeftOut{All: max(r.Suite.Requirements, len(r.Requirements))}
	l.N = l.All - len(r.Requirements)
	decides := l.N > 0 // a requirement that was not selected is not in the result: its level is unknown
	for _, q := range r.Requirements {
		if q.Verdict == Skipped && leavesOut(q.Skip) {
			l.N++
			decides = decides || q.Level.Decides(r.Run.Strict)
		}
	}
	if !decides {
		l.N = 0
	}
	return l
}

// leavesOut tells whether a skipped requirement counts as left out. A skip without a typed cause, as in files of older
// versions, does: otherwise such a file would claim a complete run that nobody can verify.
func leavesOut(s *Skip) bool { return s == nil || s.Kind != NotApplicable }

// Whole tells whether the run judged every requirement that decides the verdict and applies to the target. Only the
// verdict of such a run is shown as conformant without a caveat.
func Whole(r *Result) bool { return LeftOutOf(r).N == 0 }

// Filtered tells whether the result lacks requirements of the catalogue, because a filter or a shard left them out.
func (r *Result) Filtered() bool { return len(r.Requirements) < r.Suite.Requirements }
