package reports

// Skip says why a scenario or a requirement was not judged.
type Skip struct {
	Kind SkipKind `json:"kind"`
	// Key names what decided it: a key of the configuration, an option of the command, or, where the target lacks
	// something that the interface leaves open, what it lacks. It may be empty.
	Key string `json:"key,omitempty"`
}

// SkipKind tells skips apart.
type SkipKind string

// The kinds of skips. Only NotApplicable leaves a run whole.
const (
	NotApplicable SkipKind = "not-applicable" // the target rightly does not have what the scenario is about
	NotConfigured SkipKind = "not-configured" // the configuration lacks the key
	NotSelected   SkipKind = "not-selected"   // the command selected something else
	NotClaimed    SkipKind = "not-claimed"    // the key supports does not claim it
	OverBudget    SkipKind = "over-budget"    // the budget under the key is used up
)

// Scope says whether a run judged every requirement that applies to the target.
type Scope string

// The scopes. What is not applicable never makes a part; what was not configured, selected, claimed or affordable does.
const (
	ScopeWhole Scope = "whole"
	ScopePart  Scope = "part"
)

// NotJudged is a requirement that was left out of a run, and why.
type NotJudged struct {
	ID string `json:"id"`
	Skip
}

// Blocker is what kept a scenario from being judged: why it is blocked, or why it is inconclusive.
type Blocker struct {
	Kind BlockerKind `json:"kind"`
	Name string      `json:"name"`
}

// BlockerKind tells blockers apart.
type BlockerKind string

// The kinds of blockers, and what their names are. A word is one of the contract of the conformance graph.
const (
	ByRequirement  BlockerKind = "requirement"  // an ID: that requirement fails by itself, or is itself blocked
	ByFixture      BlockerKind = "fixture"      // what scenarios share and what could not be brought about
	ByKey          BlockerKind = "key"          // a key of the configuration that is wrong
	ByGraph        BlockerKind = "graph"        // a word that the graph does not understand
	ByTarget       BlockerKind = "target"       // the address that gave no usable answer
	ByRun          BlockerKind = "run"          // that the run ended early: "ended"
	BySuite        BlockerKind = "suite"        // a mistake of the suite itself
	ByPrecondition BlockerKind = "precondition" // the sentence that could not be brought about
	ByObservation  BlockerKind = "observation"  // the sentence that observed nothing which could show a violation
)

// Causes are the failures that explain the one of q and that no other explains: q itself where nothing explains it.
// There is always one.
func Causes(r *Result, q *Requirement) []*Requirement {
	var causes []*Requirement
	seen := map[string]bool{} // a result of another suite may have circles
	var follow func(q *Requirement)
	follow = func(q *Requirement) {
		if seen[q.ID] {
			return
		}
		seen[q.ID] = true
		explained := false
		for _, id := range q.ExplainedBy {
			if cause := r.Requirement(id); cause != nil {
				explained = true
				follow(cause)
			}
		}
		if !explained {
			causes = append(causes, q)
		}
	}
	if follow(q); causes == nil {
		return []*Requirement{q} // it is in such a circle
	}
	return causes
}

// SetScope fills the scope of r and what was not judged: the skipped requirements of r, and those that it does not
// hold.
func SetScope(r *Result, absent []NotJudged) {
	r.NotJudged = nil
	for _, q := range r.Requirements {
		if q.Verdict == Skipped && q.Skip != nil {
			r.NotJudged = append(r.NotJudged, NotJudged{q.ID, *q.Skip})
		}
	}
	r.NotJudged = append(r.NotJudged, absent...)
	r.Scope = ScopeWhole
	if r.LeftOut() > 0 {
		r.Scope = ScopePart
	}
}

// Catalogue is how many requirements there are, in the result or not.
func (r *Result) Catalogue() int { return max(r.Suite.Requirements, len(r.Requirements)) }

// LeftOut counts the requirements that a run left out: they apply to the target as far as is known, and were not
// judged, because they were not selected, or because a budget, a profile, an address or a key did not allow it.
func (r *Result) LeftOut() (n int) {
	for _, each := range r.NotJudged {
		if each.Kind != NotApplicable {
			n++
		}
	}
	return n
}
