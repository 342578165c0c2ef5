package overview

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/agentconform/agentconform/reports"
)

// Group holds requirements that were not judged for one cause.
type Group struct {
	Reason       string
	Requirements []*reports.Requirement
}

// request is how a reason names the request at which it came up.
var request = regexp.MustCompile(`\b(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /\S*: `)

// causeOf is a reason without the request: a target that is gone is one cause, whatever was asked of it.
func causeOf(reason string) string { return request.ReplaceAllLiteralString(reason, "") }

// ByCause groups requirements by the cause that their reasons tell, the largest group first. A reason that all of a
// group have is shown whole.
func ByCause(requirements []*reports.Requirement) []Group {
	var groups []Group
	index := map[string]int{}
	for _, q := range requirements {
		cause := causeOf(q.Reason)
		at, ok := index[cause]
		if !ok {
			at = len(groups)
			index[cause] = at
			groups = append(groups, Group{Reason: cmp.Or(q.Reason, "no reason was given")})
		} else if q.Reason != groups[at].Requirements[0].Reason {
			groups[at].Reason = cause
		}
		groups[at].Requirements = append(groups[at].Requirements, q)
	}
	slices.SortStableFunc(groups, func(a, b Group) int { return len(b.Requirements) - len(a.Requirements) })
	return groups
}

// SkippedInPart are the scenarios that were skipped of requirements that passed by others, as if each reason were a
// requirement's.
func SkippedInPart(r *reports.Result) []*reports.Requirement {
	var all []*reports.Requirement
	known := map[string]bool{}
	for _, q := range r.Requirements {
		for _, s := range q.Scenarios {
			if key := q.ID + " " + causeOf(s.Reason); q.Verdict == reports.Passed && s.Verdict == reports.Skipped && !known[key] {
				known[key] = true
				all = append(all, &reports.Requirement{ID: q.ID, Reason: s.Reason})
			}
		}
	}
	return all
}
