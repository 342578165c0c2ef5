package reports

import (
	"cmp"
	"slices"

	"github.com/agentconform/agentconform/reports/safe"
)

// Problem is a root cause: the failure of a requirement that no other failure explains, with all failures that it
// explains. All reports for people show problems in the order of their numbers.
type Problem struct {
	Number      int      `json:"number"` // counts from 1
	Title       string   `json:"title"`  // what the server does: "limit=101 is accepted"
	Level       Level    `json:"level"`
	Requirement string   `json:"requirement"`        // ID of the requirement that owns the behavior
	Findings    []string `json:"findings,omitempty"` // IDs: those of the requirement first, then those of Breaks
	Breaks      []string `json:"breaks,omitempty"`   // IDs of the requirements whose failure it explains
	Known       bool     `json:"known,omitempty"`    // the baseline covers the failure of the requirement
}

// maxTitle is the maximum length of the title of a problem, in characters.
const maxTitle = 200

// SetProblems sets the problems of r: first leaks between users or tenants, then by level, then in the order of the
// features. Known failures come last.
func SetProblems(r *Result) {
	broken := map[string][]string{} // by the ID of the cause
	var roots []*Requirement
	for q := range Each(r.Requirements) {
		if q.Verdict != Failed {
			continue
		}
		for _, cause := range Causes(r, q) {
			if cause == q {
				roots = append(roots, q)
			} else {
				broken[cause.ID] = append(broken[cause.ID], q.ID)
			}
		}
	}
	slices.SortStableFunc(roots, func(a, b *Requirement) int { return cmp.Compare(problemRank(a), problemRank(b)) })
	r.Problems = nil
	for i, q := range roots {
		p := Problem{Number: i + 1, Title: q.Title, Level: q.Level, Requirement: q.ID, Breaks: broken[q.ID],
			Known: q.Known != nil}
		for _, id := range slices.Concat([]string{q.ID}, p.Breaks) {
			for f := range Each(r.Findings) {
				if f.Requirement != id {
					continue
				}
				if len(p.Findings) == 0 {
					p.Title = safe.Ellipsis(f.Summary, maxTitle)
				}
				p.Findings = append(p.Findings, f.ID)
			}
		}
		r.Problems = append(r.Problems, p)
	}
}

// problemRank returns a small number for an important problem.
func problemRank(q *Requirement) int {
	switch {
	case q.Known != nil:
		return len(Levels) + 1
	case q.Subject == "isolation":
		return 0
	case q.Binding:
		return 1
	}
	return 1 + slices.Index(Levels, q.Level)
}
