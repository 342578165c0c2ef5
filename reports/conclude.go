package reports

import "slices"

// Decides tells whether a requirement of this level decides the verdict: a MUST does, and in a strict run a SHOULD too.
func (l Level) Decides(strict bool) bool { return l == Must || strict && l == Should }

// Decides tells whether the requirement decides the verdict: by its level, because --fail-on named a tag that it carries, or because its capability is claimed by name.
func (q *Requirement) Decides(strict bool) bool { return q.Binding || q.Level.Decides(strict) }

// BeyondMusts tells whether requirements of other levels than MUST may decide the verdict: in a strict run, by --fail-on, or by a claim.
func (r *Result) BeyondMusts() bool {
	return r.Run.Strict || r.Run.FailOn != "" || slices.ContainsFunc(r.Requirements, func(q Requirement) bool { return q.Binding && q.Level != Must })
}

// Conclude derives the conclusion: non-conformant when a MUST failed; conformant when no MUST failed, is blocked
// or is inconclusive and at least one passed; else incomplete. With strict, a SHOULD counts as a MUST, and
// so does every requirement that is binding.
func Conclude(requirements []Requirement, strict bool) Conclusion {
	passed, open := 0, 0
	for _, r := range requirements {
		if !r.Decides(strict) {
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
	if known == 0 || r.Verdict != ConcludeRun(r) {
		return r.Verdict // the run had another reason, such as a mistake of the suite
	}
	other := *r
	other.Requirements = rest
	return ConcludeRun(&other)
}

// ConcludeRun is the conclusion of a run: [Conclude], and incomplete where the run was stopped, where no successful answer of
// a half was seen that was judged, where something that is claimed could not be judged, or where a part does not do.
func ConcludeRun(r *Result) Conclusion {
	c := Conclude(r.Requirements, r.Run.Strict)
	if c == Conformant && (r.Run.Stopped != "" || len(r.Unseen) > 0 || len(BrokenClaims(r)) > 0 || r.Run.Whole && !Whole(r)) {
		return Incomplete
	}
	return c
}

// BrokenClaims are the requirements that the target claims and that could not be judged: blocked, inconclusive, not configured or
// over budget, and those of a capability that is named in Target.Supports where none of its requirements applies. They point into r.
func BrokenClaims(r *Result) []*Requirement {
	applies := map[string]bool{} // by capability
	for i := range r.Requirements {
		q := &r.Requirements[i]
		applies[q.Claimed] = applies[q.Claimed] || !q.skipped(NotApplicable)
	}
	var all []*Requirement
	for i := range r.Requirements {
		q := &r.Requirements[i]
		if q.Claimed == "" {
			continue
		}
		unjudged := q.Verdict == Blocked || q.Verdict == Inconclusive || q.skipped(NotConfigured) || q.skipped(OverBudget)
		if unjudged || !applies[q.Claimed] && slices.Contains(r.Target.Supports, q.Claimed) {
			all = append(all, q)
		}
	}
	return all
}

func (q *Requirement) skipped(kind SkipKind) bool {
	return q.Verdict == Skipped && q.Skip != nil && q.Skip.Kind == kind
}

// Filtered tells whether the result lacks requirements of the catalogue, because a filter left them out.
func (r *Result) Filtered() bool { return len(r.Requirements) < r.Suite.Requirements }
