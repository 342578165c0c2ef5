package html

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	scripts "github.com/agentconform/agentconform/reports/script"
)

// part is a list of requirements under one heading: those that did not pass for one kind of cause, or else a part of
// the interface. Within, they are sorted by feature.
type part struct {
	Name, Slug string // the slug is that of a part of the interface: it can be chosen
	Class      string // of a list of problems
	Passed, N  int
	Above      int // requirements of this part that are listed as problems
	Features   []*feature
}

type feature struct {
	Name         string
	Requirements []requirement
}

type requirement struct {
	*reports.Requirement
	Part      string // slug
	Label     string // the verdict in words
	Open      bool
	Warning   bool
	Beneath   bool // a failure above it explains this one
	Explained string
	Findings  []finding
	MoreFound int   // findings that are not shown
	Rule      *rule // in the page of the specification, without a verdict
}

// partNames are the parts of the interface in their order: what is deployed comes after what deploys it.
var partNames = []string{"Control plane", "Agent server", "Across both"}

func partName(profile string) string {
	at := slices.Index([]string{"control-plane", "agent-server"}, profile)
	return partNames[(at+len(partNames))%len(partNames)]
}

// parts lists the problems first, worst first: who opens the page looks for them. The rest follows by part of the
// interface, in the order of the result.
func (p *page) parts() []*part {
	var parts []*part
	above := map[*reports.Requirement]bool{}
	for _, s := range p.Problems() {
		one := &part{Class: "on-" + reports.Slug(s.Title),
			Name: fmt.Sprintf("%s (%d): %s", s.Label(), len(s.Requirements), s.What)}
		for _, q := range s.Requirements {
			above[q] = true
			v := p.requirement(q)
			v.Warning, v.Beneath = s.Class == overview.Warning, s.Beneath[q.ID]
			v.Open = s.Class == overview.Failed && len(s.Requirements) <= 3 // of many, the reader wants the list first
			one.add(v)
		}
		parts = append(parts, one)
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

// maxFindings bounds the findings of a requirement.
const maxFindings = 20

func (p *page) requirement(q *reports.Requirement) requirement {
	v := requirement{Requirement: q, Part: reports.Slug(partName(q.Profile)), Label: p.Label(q),
		Explained: p.Explained(q)}
	found := p.Overview.Findings[q.ID]
	v.MoreFound = max(len(found)-maxFindings, 0)
	for _, f := range found[:len(found)-v.MoreFound] {
		v.Findings = append(v.Findings, finding{
			Finding: f, Compare: compare(f.Expected, f.Actual), Replay: p.Result.Run.ReplayCommand(f), Script: scripts.Path(p.Result, f),
			Scenario: q.ScenarioOf(f), Chain: p.chain(f),
		})
	}
	return v
}

// Label says in words what became of a requirement.
func (p *page) Label(q *reports.Requirement) string {
	switch class := p.ClassOf(q); class {
	case overview.NotRun:
		return string(class)
	case overview.Known, overview.Warning:
		return string(class) + ": " + string(q.Verdict)
	}
	return string(q.Verdict)
}

// finding is a finding with the exchanges that led to it.
type finding struct {
	*reports.Finding
	Compare  comparison
	Replay   string // the command that judges it again
	Script   string // the script that reproduces it
	Scenario *reports.Scenario
	Chain    []chainLink
}

// chainLink is one exchange of the chain. Evidence is set for the one that shows the violation: its bodies are in the
// page for readers without scripts; those of the others are unpacked when they are opened.
type chainLink struct {
	Part     reports.Part
	Skipped  int // how many before it are not shown
	Row      exchangeRow
	Evidence *evidence
}

// evidence is an exchange shown in full.
type evidence struct {
	X               reports.Exchange
	Request, Answer body
	Repeated        string // explains that the request was sent twice
}

// Bounds of a chain that is shown: its end shows the violation, its beginning how it came about.
const (
	maxChain   = 30
	chainBegin = 10
)

// chain lists the exchanges that led to a finding, the one that shows it in any case.
func (p *page) chain(f *reports.Finding) (chain []chainLink) {
	links := f.Exchanges
	if !slices.ContainsFunc(links, func(l reports.Link) bool { return l.Exchange == f.Exchange }) {
		links = append(slices.Clone(links), reports.Link{Exchange: f.Exchange, Part: reports.Observation})
	}
	left := 0
	for i, l := range links {
		if i >= chainBegin && i < len(links)-maxChain+chainBegin && l.Exchange != f.Exchange {
			left++
			continue
		}
		x, err := p.recorded.Exchange(l.Exchange)
		if err != nil {
			continue
		}
		link := chainLink{Part: l.Part, Skipped: left, Row: p.Rows[x.ID-1]}
		left = 0
		if l.Exchange == f.Exchange {
			link.Evidence = evidenceOf(x, f.Pointer)
		}
		chain = append(chain, link)
	}
	return chain
}

// evidenceOf shows an exchange in full, with the place in the answer that a finding is about marked.
func evidenceOf(x reports.Exchange, pointer string) *evidence {
	e := &evidence{Request: prettyBody(x.Request.Body, ""), Answer: prettyBody(x.Response.Body, pointer)}
	if x.Response.Size > len(x.Response.Body) {
		e.Answer.Note = strings.TrimPrefix(fmt.Sprintf("%s; %d bytes in all", e.Answer.Note, x.Response.Size), "; ")
	}
	if x.Repeated {
		e.Repeated = reports.RepeatedNote
	}
	x.Request.Body, x.Response.Body = "", ""
	e.X = scrubbed(x, maxText)
	return e
}
