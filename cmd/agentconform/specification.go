package main

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/html"
)

// listHTML writes the page of the specification with examples from result files: that of a fault has its name, each
// other one is of a server that keeps the rules which it passed.
func listHTML(w io.Writer, c *features.Catalogue, files []string) error {
	page := html.Specification{Suite: suiteOf(c)}
	for _, e := range features.Excluded() {
		page.Excluded = append(page.Excluded, [3]string{e.Subject, e.Section, e.Reason})
	}
	for _, q := range c.Requirements {
		page.Rules = append(page.Rules, ruleOf(c, explain(q)))
	}
	var kept []*reports.Result
	for _, file := range files {
		result, err := reports.ReadFile(file)
		if err != nil {
			return err
		}
		known := false
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		for r := range reports.Each(page.Rules) {
			at := slices.IndexFunc(r.Faults, func(f html.Fault) bool { return f.Name == name })
			if at >= 0 {
				known = true
				r.Breaks = cmp.Or(r.Breaks, breaking(r.ID, r.Faults[at], result))
			}
		}
		if !known {
			kept = append(kept, result)
		}
	}
	for r := range reports.Each(page.Rules) {
		for _, result := range kept {
			r.Keeps = cmp.Or(r.Keeps, keeping(r, result))
		}
	}
	return html.WriteSpecification(w, page)
}

// ruleOf is a requirement of the catalogue, as explain tells it.
func ruleOf(c *features.Catalogue, e explanation) html.Rule {
	r := html.Rule{After: e.After, Requirement: e.InResult()}
	for _, s := range e.Interface {
		r.Sections = append(r.Sections, "section "+s.Section+": "+s.Title)
	}
	if e.Needs != "" {
		r.Facts = append(r.Facts, [2]string{"Needs in the configuration", e.Needs})
	}
	r.Facts = append(r.Facts, [2]string{"Claimed in the key supports by", e.claimedBy()})
	for _, s := range e.Scenarios {
		r.Scenarios = append(r.Scenarios, s.InResult())
	}
	for _, f := range e.Faults {
		r.Faults = append(r.Faults, html.Fault{Name: f.Name, Breaks: f.Description + e.through(f)})
	}
	at := slices.IndexFunc(c.Files, func(f features.File) bool { return f.URI == e.URI })
	r.Varies = c.Files[at].Variations()
	return r
}

// breaking is the first finding of a rule that a fault breaks.
func breaking(rule string, fault html.Fault, result *reports.Result) *html.Example {
	for _, f := range result.Findings {
		if x, err := result.Exchange(f.Exchange); err == nil && f.Requirement == rule {
			return &html.Example{Fault: fault, Finding: f, Exchange: x}
		}
	}
	return nil
}

// keeping is the exchange of a requirement that passed which is most like the one that breaks it; the last one where
// none is.
func keeping(r *html.Rule, result *reports.Result) (found *html.Example) {
	q := result.Requirement(r.ID)
	if q == nil || q.Verdict != reports.Passed {
		return nil
	}
	own := map[string]bool{} // scenarios; none of a rule about all answers sends anything
	for _, s := range q.Scenarios {
		if len(s.Exchanges) > 0 {
			own[s.Key()+" "+s.Name] = true
		}
	}
	breaks := cmp.Or(r.Breaks, &html.Example{}).Exchange
	best := 0
	for _, x := range result.Exchanges {
		likeness := 0
		if x.Method == breaks.Method && x.Operation == breaks.Operation {
			likeness = 1
			if x.Scenario == breaks.Scenario {
				likeness = 2
			}
		}
		judged := own[x.Scenario] || len(own) == 0 && likeness > 0
		if judged && likeness >= best {
			best, found = likeness, &html.Example{Exchange: x}
		}
	}
	return found
}
