package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	scripts "github.com/agentconform/agentconform/reports/script"
)

// part is a list of requirements under one heading: a section of problems, or a part of the interface. They are grouped
// by feature.
type part struct {
	Name, Slug string // only parts of the interface have a slug: users can select them
	Class      string // CSS class of a section of problems
	Passed, N  int
	Above      int // number of requirements of this part that are listed as problems
	Features   []*feature
}

type feature struct {
	Name         string
	Requirements []requirement
}

type requirement struct {
	*reports.Requirement
	Part      string // slug
	Label     string // text for the verdict
	Open      bool
	Warning   bool
	Problem   int  // number of its problem, or 0
	Beneath   bool // a failure above explains this one
	Findings  []finding
	MoreFound int   // number of findings that are not shown
	Rule      *rule // set in the page of the specification
}

// partNames are the parts of the interface.
var partNames = []string{"Control plane", "Agent server", "Across both"}

func partName(profile string) string {
	switch profile {
	case "control-plane":
		return partNames[0]
	case "agent-server":
		return partNames[1]
	}
	return partNames[2]
}

// parts returns the requirements that failed in the order of the problems, and then the other requirements by part of the
// interface.
func (p *page) parts() []*part {
	var parts []*part
	above := map[*reports.Requirement]bool{}
	problems := &part{Class: "on-failed", Name: fmt.Sprintf("Problems (%d)", len(p.Problems))}
	for _, problem := range p.Problems {
		for i, id := range append([]string{problem.Owner.ID}, problem.Breaks...) {
			q := p.Result.Requirement(id)
			if q == nil || above[q] {
				continue
			}
			above[q] = true
			v := p.requirement(q)
			v.Problem, v.Warning, v.Beneath = problem.Number, !q.Decides(), i > 0
			v.Open = i == 0 && problem.Number == 1
			problems.add(v)
		}
	}
	if len(above) > 0 {
		parts = append(parts, problems)
	}
	for _, name := range partNames {
		one := &part{Name: name, Slug: reports.Slug(name)}
		for q := range reports.Each(p.Result.Requirements) {
			if partName(q.Profile) != name {
				continue
			}
			one.N++
			if q.Verdict == reports.Passed {
				one.Passed++
			}
			if above[q] {
				one.Above++
			} else {
				one.add(p.requirement(q))
			}
		}
		if one.N > 0 {
			parts = append(parts, one)
		}
	}
	return parts
}

func (one *part) add(q requirement) {
	if len(one.Features) == 0 || one.Features[len(one.Features)-1].Name != q.Feature {
		one.Features = append(one.Features, &feature{Name: q.Feature})
	}
	f := one.Features[len(one.Features)-1]
	f.Requirements = append(f.Requirements, q)
}

// maxFindings is the maximum number of findings of a requirement.
const maxFindings = 20

func (p *page) requirement(q *reports.Requirement) requirement {
	v := requirement{Requirement: q, Part: reports.Slug(partName(q.Profile)), Label: p.Label(q)}
	found := p.Overview.Findings[q.ID]
	v.MoreFound = max(len(found)-maxFindings, 0)
	for _, f := range found[:len(found)-v.MoreFound] {
		v.Findings = append(v.Findings, finding{
			Finding: f, Compare: compare(f.Expected, f.Actual), Replay: p.Result.Run.ReplayCommand(f.ID), Script: scripts.Path(p.Result, f),
			Scenario: q.ScenarioOf(f), Chain: p.chain(f),
		})
	}
	return v
}

// Label returns the word for the verdict of a requirement.
func (p *page) Label(q *reports.Requirement) string {
	word := string(overview.Word(q.Verdict))
	if class := p.ClassOf(q); class == overview.Known || class == overview.Warning {
		return string(class) + ": " + word
	}
	return word
}

// finding is a finding with the exchanges that led to it.
type finding struct {
	*reports.Finding
	Compare  comparison
	Replay   string // command that judges the finding again
	Script   string // path of the script that reproduces the finding
	Scenario *reports.Scenario
	Chain    []chainLink
}

// chainLink is one exchange that led to a finding. Evidence is set only for the one that shows the violation. The script
// of the page adds that of the others when they are opened.
type chainLink struct {
	Part     reports.Part
	Skipped  int // number of exchanges before it that are not shown
	Line     line
	Evidence *evidence
}

// evidence is an exchange with its bodies.
type evidence struct {
	X                 reports.Exchange
	Request, Response body
	Repeated          string // set if the request was sent twice
}

// Maximum number of exchanges in a chain, and how many of them are from its beginning. The rest are from its end.
const (
	maxChain   = 30
	chainBegin = 10
)

// chain returns the exchanges that led to a finding. It always contains the one that shows it.
func (p *page) chain(f *reports.Finding) (chain []chainLink) {
	links := f.Exchanges
	if !slices.ContainsFunc(links, func(l reports.Link) bool { return l.Exchange == f.Exchange }) {
		links = append(slices.Clone(links), reports.Link{Exchange: f.Exchange, Part: reports.Observation})
	}
	skipped := 0
	for i, l := range links {
		if i >= chainBegin && i < len(links)-maxChain+chainBegin && l.Exchange != f.Exchange {
			skipped++
			continue
		}
		x, err := p.recorded.Exchange(l.Exchange)
		if err != nil {
			continue
		}
		link := chainLink{Part: l.Part, Skipped: skipped, Line: p.line(x)}
		skipped = 0
		if l.Exchange == f.Exchange {
			link.Evidence = evidenceOf(x, f.Pointer)
		}
		chain = append(chain, link)
	}
	return chain
}

// evidenceOf returns the evidence of an exchange, with the value at pointer marked in the response.
func evidenceOf(x reports.Exchange, pointer string) *evidence {
	e := &evidence{Request: newBody(x.Request.Body, ""), Response: newBody(x.Response.Body, pointer)}
	if x.Response.Size > len(x.Response.Body) {
		e.Response.Note = strings.TrimPrefix(fmt.Sprintf("%s; the body has %d bytes", e.Response.Note, x.Response.Size), "; ")
	}
	if x.Repeated {
		e.Repeated = reports.RepeatedNote
	}
	x.Request.Body, x.Response.Body = "", ""
	e.X = scrubbed(x, maxText)
	return e
}
