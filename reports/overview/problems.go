package overview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Problem is a numbered problem with the texts that explain it.
type Problem struct {
	*reports.Problem
	Owner     *reports.Requirement // the requirement that owns the behavior
	Findings  []*reports.Finding   // findings of Owner that belong to this problem
	Request   string               // "GET /v2/deployments/…bc98/revisions?limit=101", or empty
	Sent      string               // the body of the request: `{"repo_ref":"main"}`; empty if it has no members
	Expected  string               // one line; may be empty
	Got       string               // one line; may be empty
	Also      []string             // titles of the other findings
	BreaksToo string               // IDs of other requirements: "CP-GET-3, CP-LIST-6 too"; may be empty
	Anchor    string               // ID of the requirement; for further problems of it, a name of the problem
	Replay    string               // command that judges it again; may be empty
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
		p := Problem{Problem: each, Owner: owner, Anchor: owner.ID}
		for _, f := range o.Findings[owner.ID] {
			if slices.Contains(each.Findings, f.ID) {
				p.Findings = append(p.Findings, f)
			}
		}
		if len(p.Breaks) > 0 {
			p.BreaksToo = some(p.Breaks, 10) + " too"
		}
		p.Replay = o.replay(p)
		if slices.ContainsFunc(all, func(other Problem) bool { return other.Owner == owner }) {
			p.Anchor = fmt.Sprintf("problem-%d", p.Number)
		}
		for i, f := range p.Findings {
			if i == 0 {
				p.Request, p.Sent, p.Expected, p.Got = o.request(f), Sent(o.Result, f), f.ExpectedLine(), f.ActualLine()
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

// replay returns the command that judges a problem again: all findings of its requirement, or one if these are several
// problems.
func (o Overview) replay(p Problem) string {
	run := &o.Result.Run
	isShared := len(p.Findings) < len(o.Findings[p.Owner.ID])
	switch {
	case len(p.Findings) == 0:
		return ""
	case isShared && run.ReplayCommand(p.First().ID) != "":
		return run.ReplayCommand(p.First().ID)
	}
	return run.ReplayCommand(p.Owner.ID)
}

// Entry returns the entry of the baseline that covers a known problem.
func (p Problem) Entry() *reports.Known {
	if p.Owner.Known != nil || len(p.Findings) == 0 {
		return p.Owner.Known
	}
	return p.First().Known
}

// request returns the method and the path of the request that shows a finding, or "" if it has none.
func (o Overview) request(f *reports.Finding) string {
	x, err := o.Result.Exchange(f.Exchange)
	if err != nil {
		return ""
	}
	return safe.Ellipsis(x.Method+" "+safe.ShortIDs(cmp.Or(o.Result.Target.PathOf(x.URL), x.URL)), maxCause)
}

// maxSent is the maximum length of the body of a request, in characters.
const maxSent = 140

// Sent returns the body of the request that shows a finding, or "" if it has no members. It omits the name and the secrets
// of a deployment, which would hide its source.
func Sent(r *reports.Result, f *reports.Finding) string {
	x, err := r.Exchange(f.Exchange)
	if err != nil {
		return ""
	}
	text := safe.ShortIDs(strings.TrimSpace(x.Request.Body))
	if body := gjson.Parse(text); x.Operation == "create-deployment" && gjson.Valid(text) && body.IsObject() {
		var members []string
		body.ForEach(func(name, value gjson.Result) bool {
			if name.Str != "name" && name.Str != "secrets" {
				members = append(members, name.Raw+":"+value.Raw)
			}
			return true
		})
		text = "{" + strings.Join(members, ",") + "}"
	}
	if text == "{}" {
		return ""
	}
	return safe.CutJSON(text, maxSent)
}

// ProblemOf returns the first problem that contains the failure of a requirement, or nil.
func (o Overview) ProblemOf(q *reports.Requirement) *Problem {
	for i, p := range o.Problems {
		if p.Owner == q || slices.Contains(p.Breaks, q.ID) {
			return &o.Problems[i]
		}
	}
	return nil
}

// problemOf returns the problem that a scenario of a requirement shows, or nil if that is unknown.
func (o Overview) problemOf(q *reports.Requirement, s *reports.Scenario) *Problem {
	var all []*Problem
	for i, p := range o.Problems {
		isShown := func(f *reports.Finding) bool { return f.Scenario == s.Key() }
		switch {
		case p.Owner == q && slices.ContainsFunc(p.Findings, isShown):
			return &o.Problems[i]
		case p.Owner == q || slices.Contains(p.Breaks, q.ID):
			all = append(all, &o.Problems[i])
		}
	}
	if len(all) == 1 || len(all) > 1 && all[0].Owner != q {
		return all[0]
	}
	return nil
}
