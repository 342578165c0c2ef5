package overview

import (
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Problem is a numbered problem with what people need to understand it.
type Problem struct {
	*reports.Problem
	Owner    *reports.Requirement // the requirement that owns the behavior
	Findings []*reports.Finding   // of this requirement
	Request  string               // "GET /v2/deployments/…bc98/revisions?limit=101", or empty
	Expected string               // in one line; may be empty
	Got      string               // in one line; may be empty
	Also     []string             // titles of the other findings of the requirement
}

// First returns the finding that the problem shows, or nil.
func (p Problem) First() *reports.Finding {
	if len(p.Findings) == 0 {
		return nil
	}
	return p.Findings[0]
}

func (o Overview) problems() (all []Problem) {
	for each := range reports.Each(o.Result.Problems) {
		owner := o.Result.Requirement(each.Requirement)
		if owner == nil {
			continue // the result is of another program
		}
		p := Problem{Problem: each, Owner: owner, Findings: o.Findings[owner.ID]}
		for i, f := range p.Findings {
			if i == 0 {
				p.Request, p.Expected, p.Got = o.request(f), f.ExpectedLine(), f.ActualLine()
				continue
			}
			if title := safe.Ellipsis(f.Summary, maxCause); title != p.Title && !slices.Contains(p.Also, title) {
				p.Also = append(p.Also, title)
			}
		}
		all = append(all, p)
	}
	return all
}

// request returns the method and the path of the request that shows a finding, or "" if it has none.
func (o Overview) request(f *reports.Finding) string {
	x, err := o.Result.Exchange(f.Exchange)
	if err != nil {
		return ""
	}
	return safe.Ellipsis(x.Method+" "+safe.ShortIDs(reports.PathOf(x.URL)), maxCause)
}

// ProblemOf returns the problem to which the failure of a requirement belongs, or nil.
func (o Overview) ProblemOf(q *reports.Requirement) *Problem {
	for i, p := range o.Problems {
		if p.Owner == q || slices.Contains(p.Breaks, q.ID) {
			return &o.Problems[i]
		}
	}
	return nil
}
