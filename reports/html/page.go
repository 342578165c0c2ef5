package html

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// page is what the template of the HTML page shows. All text in it is scrubbed.
type page struct {
	Policy    string
	Style     template.CSS
	Script    template.JS
	R         *reports.Result
	Display   overview.DisplayVerdict
	Headline  string
	Subject   string
	Link      string // address of the implementation, if it is one that can be followed
	Distance  string
	Causes    []namedCause
	Todo      []todo
	TodoLeft  int
	NotJudged []notJudged
	Bar       []barPart
	Scenarios string
	Waits     string // how often the target asked to wait
	Levels    []reports.Level
	Parts     []*part
	Coverage  []operationView
	Enums     []reports.EnumCoverage
	Chart     *chart
	Problems  []string // of the baseline
	Files     []string

	exchanges *exchangeList
}

// part is one part of the interface, with its features.
type part struct {
	Name, Slug string // no slug: it is no part of the interface, and cannot be chosen
	Passed, N  int
	Above      int // failures that are shown before all parts
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
	KnownText string
	Open      bool
	Warning   bool // something is wrong that does not decide the verdict
	Findings  []findingView
	Text      string // what the search looks into
}

type findingView struct {
	*reports.Finding
	Replay    string // the command that judges it again
	What      string
	Scenario  *reports.Scenario
	KnownText string
	Diff      []overview.DiffLine // nil where expected and actual have nothing in common
	Exchange  *evidence
}

// evidence is an exchange shown in full.
type evidence struct {
	X               reports.Exchange
	Request, Answer body
	RequestHeaders  [][2]string
	AnswerHeaders   [][2]string
}

// maxText bounds each text in the page.
const maxText = 8 << 10

func pageOf(original *reports.Result, a *pageAssets) *page {
	exchanges := original.Exchanges
	shallow := *original
	shallow.Exchanges = nil
	r := scrubbed(&shallow, maxText)
	p := &page{
		Policy: a.policy, Style: a.style, Script: a.script, R: r, Display: overview.DisplayVerdictOf(r), Headline: overview.Headline(r), Subject: overview.Subject(r),
		Chart: chartOf(r.Timeline), Enums: r.Coverage.Enums, Levels: []reports.Level{reports.Must, reports.Should, reports.May},
		exchanges: &exchangeList{all: exchanges, result: r},
	}
	distance := overview.DistanceOf(r)
	p.Distance, p.Causes = distance.String(), namedCauses(r, distance.Causes)
	if link := r.Target.Implementation.URL; strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		p.Link = link
	}
	if b := r.Baseline; b != nil {
		p.Problems = slices.Concat(b.New, b.Stale, b.Expired, b.Unmatched)
	}
	p.Bar, p.Scenarios, p.Waits = barParts(r), overview.VerdictCounts(r.Counts.Scenarios), overview.Waits(r.Counts)
	p.Todo, p.TodoLeft = todosOf(r)
	p.NotJudged = notJudgedOf(r)
	p.Parts = partsOf(r, exchanges)
	p.Coverage = coverageOf(r)
	return p
}

// partsOf groups the requirements by part of the interface and feature, in the order of the result. What failed comes
// before all parts: who opens the page looks for that.
func partsOf(r *reports.Result, exchanges reports.Exchanges) []*part {
	var parts []*part
	o := overview.Of(r)
	failures := len(o.Failed)
	failed := &part{Name: "Failed", N: failures}
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
		if slices.Contains(o.Failed, q) {
			view.Open = failures <= 3 // of many, the reader wants the list first
			p.Above++
			p = failed
		}
		p.add(q.Feature, view)
	}
	slices.SortStableFunc(parts, func(a, b *part) int { return slices.Index(partOrder, a.Name) - slices.Index(partOrder, b.Name) })
	if failures > 0 {
		parts = slices.Insert(parts, 0, failed)
	}
	return parts
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

func requirementViewOf(r *reports.Result, o overview.Overview, q *reports.Requirement, exchanges reports.Exchanges) requirementView {
	v := requirementView{Requirement: q, Where: overview.Section(q.Section)}
	v.Warning = q.Verdict == reports.Failed && !q.Level.Decides(r.Run.Strict)
	if q.Known != nil {
		v.KnownText = overview.Known(q.Known)
	}
	words := []string{q.ID, string(q.Level), q.Title, q.Reason, q.Feature}
	for _, s := range q.Scenarios {
		words = append(words, s.Name)
	}
	for i, f := range o.Findings[q.ID] {
		if i == 20 { // the rest is in result.json
			break
		}
		fv := findingView{Finding: f, Replay: overview.ReplayCommand(r, f), What: overview.WhatIsWrong(f), Scenario: overview.ScenarioOf(q, f), Exchange: evidenceFor(exchanges, f), Diff: overview.Difference(f.Expected, f.Actual)}
		if f.Known != nil {
			fv.KnownText = overview.Known(f.Known)
		}
		v.Findings = append(v.Findings, fv)
		words = append(words, f.Summary, f.Operation)
	}
	v.Text = strings.ToLower(strings.Join(words, " "))
	return v
}

// evidenceFor shows the exchange behind a finding, with the place it is about marked.
func evidenceFor(exchanges reports.Exchanges, f *reports.Finding) *evidence {
	if exchanges == nil || f.Exchange == 0 {
		return nil
	}
	x, err := exchanges.Get(f.Exchange)
	if err != nil {
		return nil // the list of all exchanges tells of the error
	}
	e := &evidence{Request: prettyBody(x.Request.Body, ""), Answer: prettyBody(x.Response.Body, f.Pointer)}
	if x.Response.Size > len(x.Response.Body) {
		e.Answer.Note = strings.TrimPrefix(fmt.Sprintf("%s; %d bytes in all", e.Answer.Note, x.Response.Size), "; ")
	}
	x.Request.Body, x.Response.Body = "", ""
	e.X = scrubbed(x, maxText)
	e.RequestHeaders, e.AnswerHeaders = sortedHeaders(e.X.Request.Headers), sortedHeaders(e.X.Response.Headers)
	return e
}

// operationView is the coverage of one operation.
type operationView struct {
	reports.OperationCoverage
	Statuses   []reports.StatusCoverage
	Parameters []reports.ParameterCoverage
	Contract   []string // requirements about its contract
}

func coverageOf(r *reports.Result) []operationView {
	var views []operationView
	for _, o := range r.Coverage.Operations {
		v := operationView{OperationCoverage: o}
		for _, s := range r.Coverage.Statuses {
			if s.Operation == o.Operation {
				v.Statuses = append(v.Statuses, s)
			}
		}
		for _, p := range r.Coverage.Parameters {
			if p.Operation == o.Operation {
				v.Parameters = append(v.Parameters, p)
			}
		}
		for _, q := range r.Requirements {
			if strings.HasSuffix(q.ID, "-CONTRACT-"+o.Operation) {
				v.Contract = append(v.Contract, q.ID)
			}
		}
		views = append(views, v)
	}
	return views
}
