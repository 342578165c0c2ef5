package html

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// part is a list of requirements under one heading: those that did not pass for one kind of cause, or else a part of the
// interface. Within, they are sorted by feature.
type part struct {
	Name, Slug string // the slug is that of a part of the interface: it can be chosen
	Class      string // of a list of problems
	Passed, N  int
	Above      int // requirements of this part that are listed as problems
	Features   []*featureView
}

type featureView struct {
	Name         string
	Requirements []requirementView
}

type requirementView struct {
	*reports.Requirement
	Part      string // slug
	Where     string
	Quoted    string // the sentence of the interface
	KnownText string
	Open      bool
	Warning   bool // something is wrong that does not decide the verdict
	Findings  []findingView
	MoreFound int    // findings that are not shown
	Text      string // what the search looks into
}

// maxFindings bounds the findings of a requirement.
const maxFindings = 20

// partsOf lists the problems first, worst first: who opens the page looks for them. The rest follows by part of the
// interface, in the order of the result.
func partsOf(r *reports.Result, exchanges *exchangeList) []*part {
	problems, parts := problemParts(r), []*part{}
	o := overview.Of(r)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		name := partName(q.Profile)
		at := slices.IndexFunc(parts, func(p *part) bool { return p.Name == name })
		if at < 0 {
			at = len(parts)
			parts = append(parts, &part{Name: name, Slug: cmp.Or(overview.Slug(name), "part")})
		}
		p := parts[at]
		p.N++
		if q.Verdict == reports.Passed {
			p.Passed++
		}
		view := requirementViewOf(r, o, q, exchanges)
		view.Part = p.Slug
		if class := problemClass(r, q); class != "" {
			view.Open = class == "failures" && len(o.Failed) <= 3 // of many, the reader wants the list first
			p.Above++
			p = problems[slices.IndexFunc(problems, func(p *part) bool { return p.Class == class })]
			p.N++
		}
		p.add(q.Feature, view)
	}
	slices.SortStableFunc(parts, func(a, b *part) int { return slices.Index(partOrder, a.Name) - slices.Index(partOrder, b.Name) })
	return append(slices.DeleteFunc(problems, func(p *part) bool { return p.N == 0 }), parts...)
}

// problemParts are the lists of problems, still empty, in their order.
func problemParts(r *reports.Result) []*part {
	levels, warned := "MUST", "SHOULD"
	if r.Run.Strict {
		levels, warned = "MUST or SHOULD", "MAY"
	}
	if r.Run.FailOn != "" {
		levels += " or " + r.Run.FailOn
	}
	return []*part{
		{Class: "failures", Name: levels + " not met"},
		{Class: "warnings", Name: warned + " not met, verdict unaffected"},
		{Class: "known", Name: "covered by the baseline"},
		{Class: "blocked", Name: "could not run, a precondition failed"},
		{Class: "inconclusive", Name: "no evidence either way"},
		{Class: "not-run", Name: cmp.Or(r.Run.Stopped, "the run ended early")},
	}
}

// problemClass names the list of problems that a requirement belongs to, or "".
func problemClass(r *reports.Result, q *reports.Requirement) string {
	byRun := slices.ContainsFunc(q.BlockedBy, func(b reports.Blocker) bool { return b.Kind == reports.ByRun })
	switch {
	case !q.Verdict.Problem():
		return ""
	case q.Known != nil:
		return "known"
	case q.Verdict == reports.Failed && q.Decides(r.Run.Strict):
		return "failures"
	case q.Verdict == reports.Failed:
		return "warnings"
	case byRun:
		return "not-run"
	}
	return string(q.Verdict)
}

// Label is the word in capitals before the heading of a list of problems.
func (p *part) Label() string {
	return map[string]string{
		"failures": "FAILED", "warnings": "WARNINGS", "known": "KNOWN", "blocked": "BLOCKED", "inconclusive": "INCONCLUSIVE", "not-run": "NOT RUN",
	}[p.Class]
}

func (p *part) add(feature string, view requirementView) {
	if len(p.Features) == 0 || p.Features[len(p.Features)-1].Name != feature {
		p.Features = append(p.Features, &featureView{Name: feature})
	}
	f := p.Features[len(p.Features)-1]
	f.Requirements = append(f.Requirements, view)
}

// partOrder is the order of the interface: what is deployed comes after what deploys it.
var partOrder = []string{"Control plane", "Agent server", "Across both"}

func partName(profile string) string {
	switch profile {
	case "control-plane":
		return "Control plane"
	case "agent-server":
		return "Agent server"
	case "end-to-end", "":
		return "Across both"
	}
	return profile
}

func requirementViewOf(r *reports.Result, o overview.Overview, q *reports.Requirement, exchanges *exchangeList) requirementView {
	v := requirementView{Requirement: q, Where: overview.Section(q.Section), Quoted: overview.Quote(q)}
	v.Warning = q.Verdict == reports.Failed && !q.Decides(r.Run.Strict)
	if q.Known != nil {
		v.KnownText = overview.Known(q.Known)
	}
	words := []string{q.ID, string(q.Level), q.Title, q.Reason, q.Feature}
	for _, s := range q.Scenarios {
		words = append(words, s.Name, s.Key())
	}
	found := o.Findings[q.ID]
	v.MoreFound = max(len(found)-maxFindings, 0)
	for _, f := range found[:len(found)-v.MoreFound] {
		v.Findings = append(v.Findings, findingViewOf(r, q, f, exchanges))
		words = append(words, f.ID, f.Summary, f.Operation)
	}
	v.Text = strings.ToLower(strings.Join(words, " "))
	return v
}
