// Package console writes a result for a terminal.
package console

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/script"
)

// Options are the options for a terminal.
type Options struct {
	Color bool   // use colors
	Width int    // column at which texts are wrapped; 0: they are not wrapped
	Out   string // folder of the reports, named if a text is cut; may be empty
	Quiet bool   // write only the first line
}

// maxFailures is the maximum number of failures and of reasons that are written.
const maxFailures = 20

// Write writes a result: the verdict and the headline, each failure with its rule, evidence and commands, the requirements
// that were not judged with the reasons, the counts, and the verdict again. Its errors are those of w.
func Write(w io.Writer, r *reports.Result, opts Options) error {
	p := &printer{opts: opts, Overview: overview.Of(r)}
	p.wrap("", "  ", p.verdict()+p.paint(bold, ": "+safe.Line(safe.Ellipsis(p.Headline(), 1000))))
	if !opts.Quiet {
		p.details()
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// details writes everything after the first line.
func (p *printer) details() {
	p.prose("  ", "  ", p.Subject())
	for _, s := range p.Problems() {
		switch s.Class {
		case overview.Failed:
			p.heading(s.Label(), s.Description, red, len(s.Requirements))
			p.failures(s, red)
		case overview.Warning:
			p.heading(s.Label(), s.Description, yellow, len(s.Requirements))
			p.failures(s, yellow)
		case overview.Known:
			p.heading(s.Label(), s.Description, dim, len(s.Requirements))
			for _, q := range s.Requirements {
				p.prose("  ", "      ", fmt.Sprintf("%s  %s %s: %s", q.ID, q.Level, q.Verdict, q.Known.String()))
			}
		default:
			p.heading(s.Label(), s.Description, magenta, len(s.Requirements))
			p.notJudged(s.Requirements)
		}
	}
	var skips []string
	for _, c := range p.Causes(p.Skipped()) {
		skips = append(skips, c.Reason+": "+overview.Names(c.Requirements))
	}
	for i, c := range skippedScenarios(p.Overview) {
		if i < maxFailures {
			skips = append(skips, "partly: "+c.Reason+": "+overview.Names(c.Requirements))
		}
	}
	p.list("SKIPPED", "not judged", dim, cmp.Or(len(p.Skipped()), len(skips)), skips)
	if b := p.Result.Baseline; b != nil {
		p.list("BASELINE", "entries that fail the test run, file "+b.File, red, len(b.Problems()), b.Problems())
	}
	p.list("NOTES", "no failures, verdict unaffected", dim, len(p.Notes()), p.Notes())
	p.closing()
}

// verdict returns the verdict with a sign, which distinguishes it without colors.
func (p *printer) verdict() string {
	s := p.Display()
	c, sign := yellow, "?"
	switch s.Tone {
	case reports.Conformant:
		c, sign = green, "✓"
	case reports.NonConformant:
		c, sign = red, "✗"
	case overview.Allowed:
		sign = "!"
	}
	return p.paint(c+bold, safe.Line(sign+" "+s.String()))
}

func (p *printer) heading(name, description string, c color, n int) {
	p.line("")
	p.line("%s %s", p.paint(c+bold, fmt.Sprintf("%s (%d):", name, n)), p.paint(dim, safe.Line(description)))
}

// list writes sentences below a heading with the count n.
func (p *printer) list(name, description string, c color, n int, sentences []string) {
	if n > 0 {
		p.heading(name, description, c, n)
	}
	for _, s := range sentences {
		p.prose("  ", "      ", s)
	}
}

// failures writes failed requirements. Those that another failure explains are one line each.
func (p *printer) failures(s overview.Section, c color) {
	shown := 0
	for i, q := range s.Requirements {
		findings := p.Findings[q.ID]
		if s.Explained[q.ID] {
			if len(findings) > 0 {
				p.field("", q.ID+": "+safe.Ellipsis(findings[0].Observation(), 200))
			}
			continue
		}
		p.line("")
		shown++
		if shown > maxFailures {
			p.line("  … and %d more: %s%s", len(s.Requirements)-i, safe.Line(overview.Names(s.Requirements[i:])), p.more())
			return
		}
		p.requirement(q, findings, c)
	}
}

// Story returns the text of [Write] about a requirement that has not passed, with curl lines. If s is not nil, it contains
// only the findings of that scenario.
func Story(o overview.Overview, q *reports.Requirement, s *reports.Scenario, opts Options) string {
	p := &printer{opts: opts, Overview: o, curl: true}
	var findings []*reports.Finding
	for _, f := range o.Findings[q.ID] {
		if s == nil || f.Scenario == "" || f.Scenario == s.Key() {
			findings = append(findings, f)
		}
	}
	p.requirement(q, findings, "")
	return p.b.String()
}

func (p *printer) requirement(q *reports.Requirement, findings []*reports.Finding, c color) {
	p.line("  %s  %s %s", p.paint(c+bold, safe.Line(q.ID)), p.paint(bold, string(q.Level)),
		p.paint(dim, "· "+safe.Line(reports.SectionText(q.Section))))
	p.prose("  ", "  ", q.Title)
	if q.Quote != "" {
		p.prose("  ", "  ", "the interface: "+q.Quote)
	}
	if len(findings) == 0 {
		findings = []*reports.Finding{{Summary: cmp.Or(q.Reason, "no reason was recorded")}}
	}
	for i, f := range findings {
		if i == 5 {
			p.line("    … and %d more findings%s", len(findings)-i, p.more())
			break
		}
		if i > 0 {
			p.line("")
		}
		p.finding(q, f)
	}
	p.field("causes", p.Explanation(q))
}

func (p *printer) more() string {
	if p.opts.Out == "" {
		return ""
	}
	return " (see " + safe.Line(p.opts.Out) + "/index.html)"
}

func (p *printer) finding(q *reports.Requirement, f *reports.Finding) {
	if s := q.ScenarioOf(f); s != nil {
		p.line("    %s", p.paint(dim, safe.Line(s.Key()+"  "+s.Name)))
	}
	observation := f.Observation()
	if f.Count > 1 {
		observation += fmt.Sprintf(" (%d times)", f.Count)
	}
	p.line("    %s %s", p.paint(red, "✗"), safe.Line(safe.Ellipsis(observation, 1000)))
	p.field("seen", f.SeenText())
	p.field("step", f.Step)
	if !f.IsObservationComplete() {
		p.verbatim("expected", f.Expected, green)
		p.verbatim("actual", f.Actual, red)
	}
	response := "the response of " + cmp.Or(f.Operation, "the target")
	switch {
	case f.Pointer != "":
		p.field("where", f.Pointer+" in "+response)
	case f.Operation != "":
		p.field("where", response)
	}
	p.field("compared", f.Compared)
	p.field("hint", f.Hint)
	if p.curl {
		p.verbatim("request", f.Curl, "")
	}
	p.verbatim("rule", "agentconform explain "+q.ID, "")
	p.verbatim("replay", p.Result.Run.ReplayCommand(f), "")
	if p.opts.Out != "" {
		p.verbatim("script", script.Command(p.Result, f, p.opts.Out), "")
	}
}

// notJudged writes requirements that were not judged, grouped by cause.
func (p *printer) notJudged(requirements []*reports.Requirement) {
	for i, cause := range p.Causes(requirements) {
		if i == maxFailures {
			p.line("  … and more reasons%s", p.more())
			return
		}
		p.prose("  ", "  ", cause.Reason)
		if n := len(cause.Requirements); n > 5 {
			p.prose("      ", "      ", reports.Count(n, "requirement")+": "+overview.Names(cause.Requirements))
			continue
		}
		for _, q := range cause.Requirements {
			p.line("      %s  %s %s", p.paint(magenta, safe.Line(q.ID)), q.Level, p.paint(dim, safe.Line(q.Title)))
		}
	}
}

func (p *printer) closing() {
	p.line("")
	for _, row := range p.Closing(p.opts.Out) {
		label, text := fmt.Sprintf("%-16s", row[0]), safe.Line(row[1])
		if row[0] == "Remove it" || row[0] == "Reports" { // copied by users, so it is not wrapped
			p.line("%s%s", label, text)
		} else {
			p.wrap(label, strings.Repeat(" ", len(label)), text)
		}
	}
	p.line("%s", p.verdict())
}

// skippedScenarios groups the skipped scenarios of requirements that passed by cause. It contains each cause of a
// requirement once.
func skippedScenarios(o overview.Overview) []overview.Cause {
	var all []*reports.Requirement
	for _, q := range o.Classes[overview.Passed] {
		named := map[reports.Skip]bool{}
		for s := range reports.Each(q.Scenarios) {
			if s.Verdict == reports.Skipped && s.Skip != nil && !named[*s.Skip] {
				named[*s.Skip] = true
				all = append(all, &reports.Requirement{ID: q.ID, Verdict: s.Verdict, Reason: s.Reason, Skip: s.Skip})
			}
		}
	}
	return o.Causes(all)
}
