package reports

import (
	"slices"
	"strings"
)

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

// DoesNotApply begins the reason of a skip that is [NotApplicable], for people: no program decides anything by it.
const DoesNotApply = "not applicable: "

// SkipKinds lists the kinds of skips.
var SkipKinds = []SkipKind{NotApplicable, NotConfigured, NotSelected, NotClaimed, OverBudget}

// Scope says whether a run judged every requirement that applies to the target.
type Scope string

// The scopes. What is not applicable never makes a part; what was not configured, selected, claimed or affordable does.
const (
	ScopeWhole Scope = "whole"
	ScopePart  Scope = "part"
)

// NotJudged is a requirement that was left out of a run, and why.
type NotJudged struct {
	ID   string   `json:"id"`
	Kind SkipKind `json:"kind"`
	Key  string   `json:"key,omitempty"` // as in [Skip]
}

// Blocker is what kept a scenario from being judged: why it is blocked, or why it is inconclusive.
type Blocker struct {
	Kind BlockerKind `json:"kind"`
	Name string      `json:"name"`
}

// BlockerKind tells blockers apart.
type BlockerKind string

// The kinds of blockers, and what their names are.
const (
	ByRequirement  BlockerKind = "requirement"  // an ID: that requirement fails by itself, or is itself blocked
	ByFixture      BlockerKind = "fixture"      // what scenarios share and what could not be brought about
	ByKey          BlockerKind = "key"          // a key of the configuration that is wrong
	ByGraph        BlockerKind = "graph"        // a word of the contract of the conformance graph that the graph does not understand
	ByTarget       BlockerKind = "target"       // the address that gave no usable answer
	ByRun          BlockerKind = "run"          // that the run ended early: "ended"
	BySuite        BlockerKind = "suite"        // a mistake of the suite itself
	ByPrecondition BlockerKind = "precondition" // the sentence that could not be brought about
	ByObservation  BlockerKind = "observation"  // the sentence that observed nothing which could show a violation
)

// BlockerKinds lists the kinds of blockers.
var BlockerKinds = []BlockerKind{ByRequirement, ByFixture, ByKey, ByGraph, ByTarget, ByRun, BySuite, ByPrecondition, ByObservation}

// SameCause tells whether two requirements were not judged for one cause: they were skipped for the same reason, or the
// same kept both from being judged.
func SameCause(a, b *Requirement) bool {
	switch {
	case a.Verdict != b.Verdict:
		return false
	case a.Skip != nil && b.Skip != nil:
		return *a.Skip == *b.Skip
	}
	return a.Skip == nil && b.Skip == nil && len(a.BlockedBy) > 0 && slices.Equal(a.BlockedBy, b.BlockedBy)
}

// Causes are the failures that explain the one of q and that no other explains: q itself where nothing explains it.
func Causes(r *Result, q *Requirement) []*Requirement {
	var causes []*Requirement
	seen := map[string]bool{}
	var follow func(q *Requirement)
	follow = func(q *Requirement) {
		if seen[q.ID] {
			return
		}
		seen[q.ID] = true
		explained := false
		for i := range r.Requirements {
			if cause := &r.Requirements[i]; slices.Contains(q.ExplainedBy, cause.ID) {
				explained = true
				follow(cause)
			}
		}
		if !explained {
			causes = append(causes, q)
		}
	}
	follow(q)
	return causes
}

// Among tells whether an ID is in a list of IDs. A star at the end of one stands for any rest: "CP-AUTH-*".
func Among(ids []string, id string) bool {
	return slices.ContainsFunc(ids, func(each string) bool {
		family, all := strings.CutSuffix(each, "*")
		return id == each || all && strings.HasPrefix(id, family)
	})
}

// Gravity orders requirements by their subject ([Requirement.Subject]), the gravest first, from 0: what one user or tenant has of
// another, then what else others can see or change, then lost data, then wrong behaviour, then forms and errors.
func Gravity(subject string) int {
	if at := slices.Index([]string{"isolation", "security", "rollback", "", "form"}, subject); at >= 0 {
		return at
	}
	return Gravity("") // a subject of another version
}
