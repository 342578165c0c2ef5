package html

import (
	"html/template"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// page is what the templates of the HTML page show. All text in it is scrubbed.
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
	Scope     scopeView
	Bar       []barPart
	Scenarios string
	Waits     string            // how often the target asked to wait
	Verdicts  []reports.Verdict // that occur
	Levels    []reports.Level
	Parts     []*part
	Coverage  *coverageView // nil: no operation is known
	Chart     *chart        // nil: no status was polled
	Cleanup   cleanupView
	Notes     []string // what is no failure and worth knowing
	Problems  []string // of the baseline
	Files     []string

	exchanges *exchangeList
}

// maxText bounds each text in the page.
const maxText = 8 << 10

func pageOf(original *reports.Result, a *pageAssets) *page {
	shallow := *original
	shallow.Exchanges = nil
	r := scrubbed(&shallow, maxText)
	exchanges := newExchangeList(original.Exchanges, r)
	p := &page{
		Policy: a.policy, Style: a.style, Script: a.script, R: r, Display: overview.DisplayVerdictOf(r), Headline: overview.Headline(r), Subject: overview.Subject(r),
		Levels: []reports.Level{reports.Must, reports.Should, reports.May}, exchanges: exchanges,
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
	p.Verdicts = slices.DeleteFunc(slices.Clone(reports.Verdicts), func(v reports.Verdict) bool {
		return !slices.ContainsFunc(r.Requirements, func(q reports.Requirement) bool { return q.Verdict == v })
	})
	p.Todo, p.TodoLeft = todosOf(r)
	p.Notes = overview.Notes(r)
	p.Scope, p.Coverage, p.Cleanup = scopeOf(r), coverageOf(r), cleanupOf(r)
	p.Parts = partsOf(r, exchanges)
	p.Chart = chartOf(r.Timeline, originsOf(r, original.Exchanges))
	return p
}
