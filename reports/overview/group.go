package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
)

// Group holds requirements that were not judged for one cause.
type Group struct {
	Reason       string // why, for people
	Requirements []*reports.Requirement
}

// ByCause groups requirements by their typed causes ([reports.SameCause]), the largest group first. A requirement
// without a typed cause is a separate group: code does not decide by its reason.
func ByCause(requirements []*reports.Requirement) []Group {
	var groups []Group
	for _, q := range requirements {
		at := slices.IndexFunc(groups, func(g Group) bool { return reports.SameCause(g.Requirements[0], q) })
		if at < 0 {
			at = len(groups)
			groups = append(groups, Group{})
		}
		groups[at].Requirements = append(groups[at].Requirements, q)
	}
	for i := range groups {
		groups[i].Reason = reasonOf(groups[i].Requirements)
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return len(b.Requirements) - len(a.Requirements) })
	return groups
}

// reasonOf says why requirements with one cause were not judged: the reason that all of them give, else a sentence made
// from the cause itself.
func reasonOf(requirements []*reports.Requirement) string {
	first := requirements[0]
	for _, q := range requirements[1:] {
		if q.Reason != first.Reason {
			return cmp.Or(causeInWords(first)+sharedError(requirements), first.Reason, "no reason was given")
		}
	}
	return cmp.Or(first.Reason, causeInWords(first), "no reason was given")
}

// sharedError is what requests to one address have failed with, where all that the reasons tell of have the same error:
// "GET /threads: connection refused" and "GET /threads/x: connection refused".
func sharedError(requirements []*reports.Requirement) string {
	shared := ""
	for _, q := range requirements {
		at := strings.LastIndex(q.Reason, ": ")
		if at < 0 || shared != "" && q.Reason[at:] != shared || len(q.BlockedBy) != 1 || q.BlockedBy[0].Kind != reports.ByTarget {
			return ""
		}
		shared = q.Reason[at:]
	}
	return shared
}

// causeInWords makes a sentence of the typed cause of q; it is empty where q has none.
func causeInWords(q *reports.Requirement) string {
	if q.Skip != nil {
		return skipInWords(*q.Skip)
	}
	var blockers []string
	for _, b := range q.BlockedBy {
		blockers = append(blockers, blockerInWords(b))
	}
	return strings.Join(blockers, "; ")
}

func skipInWords(s reports.Skip) string {
	what := map[reports.SkipKind]string{
		reports.NotApplicable: "not applicable",
		reports.NotConfigured: "not configured",
		reports.NotSelected:   "not selected",
		reports.NotClaimed:    "not claimed",
		reports.OverBudget:    "over budget",
	}
	text := cmp.Or(what[s.Kind], string(s.Kind))
	switch {
	case s.Key == "":
		return text
	case s.Kind == reports.NotConfigured:
		return text + ": set " + s.Key
	}
	return text + ": " + s.Key
}

func blockerInWords(b reports.Blocker) string {
	switch b.Kind {
	case reports.ByRequirement:
		return b.Name + " failed or could not be judged"
	case reports.ByFixture:
		return fmt.Sprintf("the fixture %q could not be created", b.Name)
	case reports.ByKey:
		return "the configuration key " + b.Name + " is wrong"
	case reports.ByGraph:
		return "the graph does not keep its contract: " + b.Name
	case reports.ByTarget:
		return b.Name + " gave no usable answer"
	case reports.ByRun:
		return "the run was stopped before it was judged"
	case reports.BySuite:
		return "a mistake of the suite: " + b.Name
	case reports.ByPrecondition:
		return "a precondition failed: " + b.Name
	case reports.ByObservation:
		return "no evidence either way: " + b.Name
	}
	return fmt.Sprintf("%s: %s", b.Kind, b.Name)
}

// SkippedInPart are the skipped scenarios of requirements that passed by others, each as a requirement that was skipped
// for the scenario's cause. A cause that several scenarios of a requirement have is listed once.
func SkippedInPart(r *reports.Result) []*reports.Requirement {
	type cause struct {
		id   string
		skip reports.Skip
	}
	var all []*reports.Requirement
	known := map[cause]bool{}
	for _, q := range r.Requirements {
		if q.Verdict != reports.Passed {
			continue
		}
		for _, s := range q.Scenarios {
			key := cause{id: q.ID}
			if s.Skip != nil {
				key.skip = *s.Skip
			}
			if s.Verdict == reports.Skipped && !known[key] {
				known[key] = true
				all = append(all, &reports.Requirement{ID: q.ID, Verdict: s.Verdict, Reason: s.Reason, Skip: s.Skip})
			}
		}
	}
	return all
}
