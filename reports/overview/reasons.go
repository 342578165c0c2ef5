package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Reason explains why requirements were not tested, or why the test run could not tell whether the target meets
// them.
type Reason struct {
	Text         string // for people
	Help         string // a remedy: "set users.1.token"; may be empty
	Requirements []*reports.Requirement
}

// String returns the requirements with the reason and the remedy: "CP-LIST-7 (over budget: raise max_revisions)".
func (r Reason) String() string { return some(ids(r.Requirements), 6) + " (" + r.Because() + ")" }

// Texts returns each reason as a sentence.
func Texts(reasons []Reason) (all []string) {
	for _, r := range reasons {
		all = append(all, r.String())
	}
	return all
}

// Because returns the reason and the remedy: "over budget: raise max_revisions".
func (r Reason) Because() string { return reports.Joined(": ", r.Text, r.Help) }

// NotTested groups the skipped and absent requirements by cause. The keys that add the most requirements are first,
// followed by reasons without a key. Absent requirements have no title.
func (o Overview) NotTested() []Reason {
	var all []*reports.Requirement
	for _, n := range o.Result.NotJudged {
		if o.Result.IsOutside(n) {
			continue
		}
		q := o.Result.Requirement(n.ID)
		if q == nil || q.Skip == nil {
			q = &reports.Requirement{ID: n.ID, Verdict: reports.Skipped, Skip: &n.Skip}
		}
		all = append(all, q)
	}
	reasons := o.grouped(all)
	slices.SortStableFunc(reasons, func(a, b Reason) int {
		switch {
		case a.Help != "" && b.Help == "":
			return -1
		case a.Help == "" && b.Help != "":
			return 1
		}
		return len(b.Requirements) - len(a.Requirements)
	})
	return reasons
}

// CouldNotTell groups the requirements that are blocked or inconclusive by cause, the largest group first.
func (o Overview) CouldNotTell() []Reason {
	reasons := o.grouped(o.Classes[CouldNotTell])
	slices.SortStableFunc(reasons, func(a, b Reason) int { return len(b.Requirements) - len(a.Requirements) })
	return reasons
}

// grouped groups requirements by their typed causes, in their order. Causes with the same text are one group.
func (o Overview) grouped(requirements []*reports.Requirement) []Reason {
	var reasons []Reason
	known := map[string]int{} // index in reasons, by cause
	for _, q := range requirements {
		root := o.root(q)
		key := causeKey(root)
		at, found := known[key]
		if !found {
			reason := o.reason(root)
			at = slices.IndexFunc(reasons, func(other Reason) bool { return other.Because() == reason.Because() })
			if at < 0 {
				at = len(reasons)
				reasons = append(reasons, reason)
			}
			known[key] = at
		}
		reasons[at].Requirements = append(reasons[at].Requirements, q)
	}
	return reasons
}

// causeKey returns the same text for requirements with the same typed cause.
func causeKey(q *reports.Requirement) string {
	if q.Skip != nil {
		return skipReason(q).Because() // requirements with the same kind of skip can have different reasons
	}
	if q.Verdict != reports.Failed && len(q.BlockedBy) > 0 {
		return fmt.Sprint(q.Verdict, q.BlockedBy)
	}
	return q.ID
}

// root returns the requirement at the end of the chain of blockers of q. The chain ends at a requirement that has failed,
// or that is not blocked by exactly one other requirement. This may be q itself.
func (o Overview) root(q *reports.Requirement) *reports.Requirement {
	for range o.Result.Requirements { // a result of another suite may have cycles
		if q.Verdict == reports.Failed || len(q.BlockedBy) != 1 || q.BlockedBy[0].Kind != reports.ByRequirement {
			return q
		}
		blocker := o.Result.Requirement(q.BlockedBy[0].Name)
		if blocker == nil || !blocker.Verdict.Problem() {
			return q
		}
		q = blocker
	}
	return q
}

// reason returns the reason for requirements with the root.
func (o Overview) reason(root *reports.Requirement) Reason {
	if root.Verdict == reports.Failed {
		p := o.ProblemOf(root)
		if p == nil {
			return Reason{Text: "depends on " + root.ID + ", which failed"}
		}
		return Reason{Text: fmt.Sprintf("depends on problem %d", p.Number)}
	}
	if root.Skip != nil {
		return skipReason(root)
	}
	return Reason{Text: shortReason(root)}
}

func shortReason(q *reports.Requirement) string {
	text := withoutPeriod(cmp.Or(q.Reason, q.Title, "no reason was recorded"))
	return safe.Ellipsis(safe.ShortIDs(text), maxCause)
}

// remedies are the verbs for the key of a skip.
var remedies = map[reports.SkipKind]string{reports.NotConfigured: "set ", reports.OtherHalf: "set ", reports.OverBudget: "raise "}

// skipTexts are the reasons for kinds of skips without a specific text.
var skipTexts = map[reports.SkipKind]string{
	reports.NotApplicable: "does not apply to this target",
	reports.NotConfigured: "not configured",
	reports.OtherHalf:     "not configured",
	reports.NotSelected:   "not selected",
	reports.NotClaimed:    "not claimed by the target",
	reports.OverBudget:    "over budget",
}

func skipReason(q *reports.Requirement) Reason {
	s := *q.Skip
	text, verb := cmp.Or(skipTexts[s.Kind], "no reason was recorded"), remedies[s.Kind]
	switch {
	case verb != "" && s.Key != "":
		return Reason{Text: text, Help: verb + s.Key}
	case q.Reason != "":
		return Reason{Text: strings.TrimPrefix(shortReason(q), "not applicable: ")}
	}
	return Reason{Text: reports.Joined(": ", text, s.Key)}
}
