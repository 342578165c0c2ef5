package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Cause is a group of requirements that did not pass for the same reason.
type Cause struct {
	Reason       string // for people
	Requirements []*reports.Requirement
}

// Causes groups requirements that did not pass by their typed causes. Failures come first, then the largest groups. A
// requirement without a typed cause is a group of its own.
func (o Overview) Causes(requirements []*reports.Requirement) []Cause {
	listed := map[string]*reports.Requirement{}
	for _, q := range requirements {
		listed[q.ID] = q
	}
	var causes []Cause
	known := map[string]int{} // index in causes, by the key of the root
	for _, q := range slices.SortedStableFunc(slices.Values(requirements), failuresFirst) {
		root := o.root(q, listed)
		key := causeKey(root)
		at, found := known[key]
		if !found {
			at = len(causes)
			known[key] = at
			causes = append(causes, Cause{Reason: o.describe(root)})
		}
		causes[at].Requirements = append(causes[at].Requirements, q)
	}
	slices.SortStableFunc(causes, func(a, b Cause) int {
		return cmp.Or(failuresFirst(a.Requirements[0], b.Requirements[0]), len(b.Requirements)-len(a.Requirements))
	})
	return causes
}

// failuresFirst orders failed requirements before others.
func failuresFirst(a, b *reports.Requirement) int {
	failedA, failedB := a.Verdict == reports.Failed, b.Verdict == reports.Failed
	switch {
	case failedA && !failedB:
		return -1
	case failedB && !failedA:
		return 1
	}
	return 0
}

// causeKey returns the same text for requirements with the same typed cause.
func causeKey(q *reports.Requirement) string {
	if q.Skip != nil {
		return fmt.Sprint(*q.Skip)
	}
	if q.Verdict != reports.Failed && len(q.BlockedBy) > 0 {
		return fmt.Sprint(q.Verdict, q.BlockedBy)
	}
	return q.ID
}

// root returns the requirement that explains the failure of q, or that blocks q as the only blocker, directly or through
// others. It returns q if there is none.
func (o Overview) root(q *reports.Requirement, listed map[string]*reports.Requirement) *reports.Requirement {
	for range listed { // a result of another suite may have cycles
		if q.Verdict == reports.Failed {
			return reports.Causes(o.Result, q)[0]
		}
		if len(q.BlockedBy) != 1 || q.BlockedBy[0].Kind != reports.ByRequirement || listed[q.BlockedBy[0].Name] == nil {
			return q
		}
		q = listed[q.BlockedBy[0].Name]
	}
	return q
}

// describe returns the first finding of a failed requirement, or the reason why another one was not judged.
func (o Overview) describe(q *reports.Requirement) string {
	text := q.Reason
	findings := o.Findings[q.ID]
	if q.Verdict == reports.Failed && len(findings) > 0 {
		text = findings[0].Observation()
	}
	if text == "" && q.Skip != nil {
		text = describeSkip(*q.Skip)
	}
	return safe.Ellipsis(strings.TrimSuffix(cmp.Or(text, q.Title, "no reason was recorded"), "."), maxCause)
}

// remedies are the verbs for the key of a skip.
var remedies = map[reports.SkipKind]string{reports.NotConfigured: "set ", reports.OverBudget: "raise "}

// describeSkip returns the kind and the key of a skip, and what to do with the key.
func describeSkip(s reports.Skip) string {
	text := cmp.Or(strings.ReplaceAll(string(s.Kind), "-", " "), "no cause recorded")
	if s.Key != "" {
		text += ": " + remedies[s.Kind] + s.Key
	}
	return text
}

// NotJudgedCauses groups the skipped and absent requirements that apply to the target, the largest group first. Absent
// requirements have no title.
func (o Overview) NotJudgedCauses() []Cause {
	return o.skipCauses(func(k reports.SkipKind) bool { return k != reports.NotApplicable })
}

// NotApplicableCauses groups the requirements that do not apply to the target like [Overview.NotJudgedCauses].
func (o Overview) NotApplicableCauses() []Cause {
	return o.skipCauses(func(k reports.SkipKind) bool { return k == reports.NotApplicable })
}

func (o Overview) skipCauses(include func(reports.SkipKind) bool) []Cause {
	var all []*reports.Requirement
	for _, n := range o.Result.NotJudged {
		if !include(n.Kind) {
			continue
		}
		q := o.Result.Requirement(n.ID)
		if q == nil || q.Skip == nil {
			q = &reports.Requirement{ID: n.ID, Verdict: reports.Skipped, Skip: &n.Skip}
		}
		all = append(all, q)
	}
	return o.Causes(all)
}

// orderByCause returns the list with each failure after the first failure of the list that explains it, and the IDs of
// the explained failures.
func (o Overview) orderByCause(list []*reports.Requirement) (ordered []*reports.Requirement, explained map[string]bool) {
	position := map[*reports.Requirement]int{}
	explained = map[string]bool{}
	for i, q := range list {
		position[q] = 2 * i
		if q.Verdict != reports.Failed {
			continue
		}
		causes := reports.Causes(o.Result, q)
		at := slices.IndexFunc(list, func(other *reports.Requirement) bool {
			return other != q && slices.Contains(causes, other)
		})
		if at >= 0 {
			position[q] = 2*at + 1
			explained[q.ID] = true
		}
	}
	byPosition := func(a, b *reports.Requirement) int { return position[a] - position[b] }
	return slices.SortedStableFunc(slices.Values(list), byPosition), explained
}

// Explanation names the failures that explain q and those that q explains. It is empty if there are none.
func (o Overview) Explanation(q *reports.Requirement) string {
	var parts, effects []string
	if len(q.ExplainedBy) > 0 {
		parts = append(parts, "explained by the failure of "+Some(q.ExplainedBy, 10))
	}
	for other := range reports.Each(o.Result.Requirements) {
		if other != q && slices.Contains(reports.Causes(o.Result, other), q) {
			effects = append(effects, other.ID)
		}
	}
	if effects != nil {
		parts = append(parts, "explains the failure of "+Some(effects, 12))
	}
	return strings.Join(parts, "; ")
}
