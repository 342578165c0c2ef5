package reports

// Skip is the reason why a scenario or a requirement was skipped.
type Skip struct {
	Kind SkipKind `json:"kind"`
	// Key is the key of the configuration or the option of the command that caused the skip. If the target lacks an
	// optional feature, Key is the name of the feature. It may be empty.
	Key string `json:"key,omitempty"`
}

// SkipKind is the kind of a skip.
type SkipKind string

// The kinds of skips. A skip makes a test run partial, except NotApplicable, and OtherHalf without --require-whole.
const (
	NotApplicable SkipKind = "not-applicable" // the target need not have the tested feature
	NotConfigured SkipKind = "not-configured" // the key is not in the configuration
	NotSelected   SkipKind = "not-selected"   // an option of the command excludes it
	NotClaimed    SkipKind = "not-claimed"    // the key supports does not include it
	OverBudget    SkipKind = "over-budget"    // the budget under the key is used up
	OtherHalf     SkipKind = "other-half"     // the other half has no address (Key is its key): only the agent server is tested
)

// Scope reports whether a test run judged every requirement that applies to the target.
type Scope string

// The scopes of test runs.
const (
	ScopeWhole Scope = "whole"
	ScopePart  Scope = "part"
)

// NotJudged is a requirement that a test run did not judge, with the reason.
type NotJudged struct {
	ID string `json:"id"`
	Skip
}

// MissingKey is a key of the configuration that is not set, with the number of requirements that a test run judges in
// addition if only this key is set.
type MissingKey struct {
	Key  string `json:"key"`
	Adds int    `json:"adds"`
}

// Blocker is a reason why a scenario is blocked or inconclusive.
type Blocker struct {
	Kind BlockerKind `json:"kind"`
	Name string      `json:"name"`
}

// BlockerKind is the kind of a blocker.
type BlockerKind string

// The kinds of blockers, and the meaning of their names.
const (
	ByRequirement  BlockerKind = "requirement"  // the ID of a requirement that failed or is blocked
	ByFixture      BlockerKind = "fixture"      // a shared fixture that could not be created
	ByKey          BlockerKind = "key"          // a wrong key of the configuration
	ByGraph        BlockerKind = "graph"        // a word of its contract that the conformance graph does not understand
	ByTarget       BlockerKind = "target"       // an address without a usable response
	ByRun          BlockerKind = "run"          // "ended": the test run ended early
	BySuite        BlockerKind = "suite"        // an error of the suite
	ByPrecondition BlockerKind = "precondition" // the text of a Given step that failed
	ByObservation  BlockerKind = "observation"  // the text of a step that found no evidence
)

// Causes returns the failures that explain the failure of q, directly or through others, and that no failure explains.
// It returns q if no failure explains q.
func Causes(r *Result, q *Requirement) []*Requirement {
	var causes []*Requirement
	seen := map[string]bool{} // a result of another suite may have cycles
	var follow func(q *Requirement)
	follow = func(q *Requirement) {
		if seen[q.ID] {
			return
		}
		seen[q.ID] = true
		explained := false
		for _, id := range q.ExplainedBy {
			if cause := r.Requirement(id); cause != nil && cause.Verdict == Failed {
				explained = true
				follow(cause)
			}
		}
		if !explained {
			causes = append(causes, q)
		}
	}
	follow(q)
	if causes == nil {
		return []*Requirement{q} // it is part of a cycle
	}
	return causes
}

// SetScope sets the scope and the list of requirements that were not judged: the skipped requirements of r, and absent,
// which r does not contain.
func SetScope(r *Result, absent []NotJudged) {
	r.NotJudged = nil
	for _, q := range r.Requirements {
		if q.Verdict == Skipped && q.Skip != nil {
			r.NotJudged = append(r.NotJudged, NotJudged{q.ID, *q.Skip})
		}
	}
	r.NotJudged = append(r.NotJudged, absent...)
	r.Scope = ScopeWhole
	if r.UnjudgedCount() > 0 {
		r.Scope = ScopePart
	}
}

// Catalogue returns the number of requirements of the suite, including those that the result does not contain. If only an
// agent server is tested, it returns the number of requirements about the agent server.
func (r *Result) Catalogue() int {
	all := max(r.Suite.Requirements, len(r.Requirements))
	for _, each := range r.NotJudged {
		if r.IsOutside(each) {
			all--
		}
	}
	return all
}

// IsOutside reports whether a requirement is about the half that is not tested. With --require-whole it returns false.
func (r *Result) IsOutside(n NotJudged) bool { return n.Kind == OtherHalf && !r.Run.Whole }

// UnjudgedCount returns the number of skipped requirements that apply to the target as far as is known. They were not
// selected, or a budget, a profile, an address or a key excluded them.
func (r *Result) UnjudgedCount() (n int) {
	for _, each := range r.NotJudged {
		if each.Kind != NotApplicable && !r.IsOutside(each) {
			n++
		}
	}
	return n
}
