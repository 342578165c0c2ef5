package reports

import "slices"

// SetScope fills the scope of r and what was not judged: the skipped requirements of r, and those that it does not hold.
func SetScope(r *Result, absent []NotJudged) {
	r.NotJudged = nil
	for _, q := range r.Requirements {
		if q.Verdict == Skipped && q.Skip != nil {
			r.NotJudged = append(r.NotJudged, NotJudged{q.ID, q.Skip.Kind, q.Skip.Key})
		}
	}
	r.NotJudged = append(r.NotJudged, absent...)
	r.Scope = ScopeWhole
	if slices.ContainsFunc(r.NotJudged, NotJudged.leftOut) {
		r.Scope = ScopePart
	}
}

func (n NotJudged) leftOut() bool { return n.Kind != NotApplicable }

// LeftOut counts the requirements that a run left out: they apply to the target as far as is known, and were not
// judged, because they were not selected, or because a budget, a profile, an address or a key did not allow it.
type LeftOut struct {
	N   int // left out
	All int // in the catalogue
}

// LeftOutOf counts what the run r left out.
func LeftOutOf(r *Result) LeftOut {
	l := LeftOut{All: max(r.Suite.Requirements, len(r.Requirements))}
	for _, n := range r.NotJudged {
		if n.leftOut() {
			l.N++
		}
	}
	return l
}

// Whole tells whether the run judged every requirement that applies to the target. Only the verdict of such a run is shown
// as conformant without a caveat.
func Whole(r *Result) bool { return LeftOutOf(r).N == 0 }
