package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/faults"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/html"
)

// listHTML writes the page of the specification with examples from result files. A file with the name of a fault shows a
// server that breaks the rule. Any other file shows a server that meets the rules that it passed.
func listHTML(w io.Writer, c *features.Catalogue, files []string) error {
	page := html.Specification{Suite: suiteOf(c)}
	for _, e := range features.Excluded() {
		page.Excluded = append(page.Excluded, [3]string{e.Subject, e.Section, e.Reason})
	}
	known := faults.All()
	for _, q := range c.Requirements {
		page.Rules = append(page.Rules, ruleOf(c, explain(q, known)))
	}
	var others []*reports.Result
	for _, file := range files {
		result, err := reports.ReadFile(file)
		if err != nil {
			return err
		}
		fault := strings.TrimSuffix(filepath.Base(file), ".json")
		if !addViolations(page.Rules, fault, result) {
			others = append(others, result)
		}
	}
	for r := range reports.Each(page.Rules) {
		for _, result := range others {
			if r.Keeps == nil {
				r.Keeps = counterpart(r, result)
			}
		}
	}
	return html.WriteSpecification(w, page)
}

// addViolations adds an example to the rules that a fault breaks. It reports whether there is such a fault.
func addViolations(rules []html.Rule, fault string, result *reports.Result) (isFault bool) {
	for r := range reports.Each(rules) {
		for _, f := range r.Faults {
			if f.Name != fault {
				continue
			}
			isFault = true
			if r.Breaks == nil {
				r.Breaks = violation(r.ID, f, result)
			}
		}
	}
	return isFault
}

// ruleOf returns a requirement of the catalogue with the facts that explain prints.
func ruleOf(c *features.Catalogue, e explanation) html.Rule {
	r := html.Rule{After: e.After, Requirement: e.InResult()}
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

// violation returns the first finding of a rule that a fault breaks, or nil if there is none.
func violation(rule string, fault html.Fault, result *reports.Result) *html.Example {
	for _, f := range result.Findings {
		if f.Requirement != rule {
			continue
		}
		x, err := result.Exchange(f.Exchange)
		if err == nil {
			return &html.Example{Fault: fault, Finding: f, Exchange: x}
		}
	}
	return nil
}

// counterpart returns the exchange of a passed requirement that is most similar to the exchange that breaks the rule.
// If several are equally similar it returns the last.
func counterpart(r *html.Rule, result *reports.Result) (found *html.Example) {
	q := result.Requirement(r.ID)
	if q == nil || q.Verdict != reports.Passed {
		return nil
	}
	own := map[string]bool{} // scenarios that send requests; a rule about all responses has none
	for _, s := range q.Scenarios {
		if len(s.Exchanges) > 0 {
			own[s.Attribution()] = true
		}
	}
	var broken reports.Exchange
	if r.Breaks != nil {
		broken = r.Breaks.Exchange
	}
	best := 0
	for _, x := range result.Exchanges {
		similarity := 0
		if x.Method == broken.Method && x.Operation == broken.Operation {
			similarity = 1
			if x.Scenario == broken.Scenario {
				similarity = 2
			}
		}
		isOwn := own[x.Scenario] || len(own) == 0 && similarity > 0
		if isOwn && similarity >= best {
			best = similarity
			found = &html.Example{Exchange: x}
		}
	}
	return found
}
