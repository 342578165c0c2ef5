package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Cause is what requirements have in common that did not pass.
type Cause struct {
	What         string // why, for people
	Requirements []*reports.Requirement
}

// Causes groups requirements that did not pass by what they have in common: failures before all else, then the largest
// group first. Code does not decide by reasons: a requirement without a typed cause is a group of its own.
func (o Overview) Causes(requirements []*reports.Requirement) []Cause {
	listed := map[string]*reports.Requirement{}
	for _, q := range requirements {
		listed[q.ID] = q
	}
	failuresFirst := func(a, b *reports.Requirement) int {
		return map[bool]int{true: 1}[b.Verdict == reports.Failed] - map[bool]int{true: 1}[a.Verdict == reports.Failed]
	}
	var causes []Cause
	known := map[string]int{} // which cause, by what tells it
	for _, q := range slices.SortedStableFunc(slices.Values(requirements), failuresFirst) {
		root := o.root(q, listed)
		key := root.ID
		if root.Skip != nil {
			key = fmt.Sprint(*root.Skip)
		} else if root.Verdict != reports.Failed && len(root.BlockedBy) > 0 {
			key = fmt.Sprint(root.Verdict, root.BlockedBy)
		}
		at, there := known[key]
		if !there {
			at, known[key] = len(causes), len(causes)
			causes = append(causes, Cause{What: o.inWords(root)})
		}
		causes[at].Requirements = append(causes[at].Requirements, q)
	}
	slices.SortStableFunc(causes, func(a, b Cause) int {
		return cmp.Or(failuresFirst(a.Requirements[0], b.Requirements[0]), len(b.Requirements)-len(a.Requirements))
	})
	return causes
}

// root follows what explains a requirement, or alone blocks it, to what nothing else does.
func (o Overview) root(q *reports.Requirement, listed map[string]*reports.Requirement) *reports.Requirement {
	for range listed { // a result of another suite may have circles
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

// inWords says what was found where a requirement failed, else why it was not judged.
func (o Overview) inWords(q *reports.Requirement) string {
	text := q.Reason
	if found := o.Findings[q.ID]; q.Verdict == reports.Failed && len(found) > 0 {
		text = found[0].Observation()
	}
	if q.Skip != nil {
		text = cmp.Or(text, skipInWords(*q.Skip))
	}
	return safe.Ellipsis(strings.TrimSuffix(cmp.Or(text, q.Title, "no reason was given"), "."), maxCause)
}

// remedies are what to do with the key of a skip.
var remedies = map[reports.SkipKind]string{reports.NotConfigured: "set ", reports.OverBudget: "raise "}

// skipInWords names a cause and, where a key of the configuration would change it, what to do.
func skipInWords(s reports.Skip) string {
	text := cmp.Or(strings.ReplaceAll(string(s.Kind), "-", " "), "no cause recorded")
	if s.Key != "" {
		text += ": " + remedies[s.Kind] + s.Key
	}
	return text
}

// LeftOut groups by cause what a run did not judge, the largest group first: what makes it a part, or what does not
// apply. Those that the result does not hold have no title.
func (o Overview) LeftOut(applies bool) []Cause {
	var all []*reports.Requirement
	for _, n := range o.Result.NotJudged {
		q := o.Result.Requirement(n.ID)
		if q == nil || q.Skip == nil {
			q = &reports.Requirement{ID: n.ID, Verdict: reports.Skipped, Skip: &n.Skip}
		}
		if (n.Kind != reports.NotApplicable) == applies {
			all = append(all, q)
		}
	}
	return o.Causes(all)
}

// byCause has each failure of a list beneath the first one of the list that explains it, and tells which these are.
func (o Overview) byCause(list []*reports.Requirement) (ordered []*reports.Requirement, beneath map[string]bool) {
	place, beneath := map[*reports.Requirement]int{}, map[string]bool{}
	for i, q := range list {
		place[q] = 2 * i
		if q.Verdict != reports.Failed {
			continue
		}
		causes := reports.Causes(o.Result, q)
		at := slices.IndexFunc(list, func(other *reports.Requirement) bool {
			return other != q && slices.Contains(causes, other)
		})
		if at >= 0 {
			place[q], beneath[q.ID] = 2*at+1, true
		}
	}
	byPlace := func(a, b *reports.Requirement) int { return place[a] - place[b] }
	return slices.SortedStableFunc(slices.Values(list), byPlace), beneath
}

// Explained names the failures that explain one and those that it explains, in a sentence; "" where there is none.
func (o Overview) Explained(q *reports.Requirement) string {
	var parts, beneath []string
	if len(q.ExplainedBy) > 0 {
		parts = append(parts, "explained by the failure of "+Some(q.ExplainedBy, 10))
	}
	for other := range reports.Each(o.Result.Requirements) {
		if other != q && slices.Contains(reports.Causes(o.Result, other), q) {
			beneath = append(beneath, other.ID)
		}
	}
	if beneath != nil {
		parts = append(parts, "explains the failure of "+Some(beneath, 12))
	}
	return strings.Join(parts, "; ")
}
