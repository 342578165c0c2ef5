// Package console shows a result to a person in a terminal.
package console

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/script"
)

// Options say how a result is shown on a console.
type Options struct {
	Color bool   // whether to use colours; the caller knows the terminal and NO_COLOR
	Width int    // columns to wrap prose at; 0 does not wrap
	Out   string // folder of the written reports, named as the place where there is more; may be empty
	Quiet bool   // whether the first line is all that is shown
}

// maxFailures is how many failures are shown in full, and how many reasons.
const maxFailures = 20

// Write shows a result: the verdict and the headline in the first line, then each failure from the rule to the
// commands, then what could not be judged and why, then the counts, and the verdict again, because a long output ends
// there. It fails only where w does.
func Write(w io.Writer, r *reports.Result, opts Options) error {
	p := &printer{opts: opts, Overview: overview.Of(r)}
	p.wrap("", "  ", p.verdict()+p.paint(bold, ": "+safe.Line(safe.Ellipsis(p.Headline(), 1000))))
	if !opts.Quiet {
		p.rest()
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// rest shows all that comes after the first line.
func (p *printer) rest() {
	p.prose("  ", "  ", p.Subject())
	for _, s := range p.Problems() {
		c := map[overview.Class]color{overview.Failed: red, overview.Warning: yellow, overview.Known: dim}[s.Class]
		p.heading(s.Label(), s.What, cmp.Or(c, magenta), len(s.Requirements))
		switch s.Class {
		case overview.Failed, overview.Warning:
			p.failures(s, c)
		case overview.Known:
			for _, q := range s.Requirements {
				p.prose("  ", "      ", fmt.Sprintf("%s  %s %s: %s", q.ID, q.Level, q.Verdict, q.Known.String()))
			}
		default:
			p.open(s.Requirements)
		}
	}
	var skips []string
	for _, c := range p.Causes(p.Skipped()) {
		skips = append(skips, c.What+": "+overview.Names(c.Requirements))
	}
	for i, c := range skippedInPart(p.Overview) {
		if i < maxFailures {
			skips = append(skips, "partly: "+c.What+": "+overview.Names(c.Requirements))
		}
	}
	p.list("SKIPPED", "not judged", dim, cmp.Or(len(p.Skipped()), len(skips)), skips)
	if b := p.Result.Baseline; b != nil {
		p.list("BASELINE", "these fail the run; file "+b.File, red, len(b.Problems()), b.Problems())
	}
	p.list("NOTES", "no failures, verdict unaffected", dim, len(p.Notes()), p.Notes())
	p.closing()
}

// verdict returns the run's verdict with a sign, so that it is distinct without colours.
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

func (p *printer) heading(name, what string, c color, n int) {
	p.line("")
	p.line("%s %s", p.paint(c+bold, fmt.Sprintf("%s (%d):", name, n)), p.paint(dim, safe.Line(what)))
}

// list shows sentences about so many things below a heading.
func (p *printer) list(name, what string, c color, n int, sentences []string) {
	if n > 0 {
		p.heading(name, what, c, n)
	}
	for _, s := range sentences {
		p.prose("  ", "      ", s)
	}
}

// failures shows the causes, and with each what it explains.
func (p *printer) failures(s overview.Section, c color) {
	shown := 0
	for i, q := range s.Requirements {
		if s.Beneath[q.ID] { // it comes after its cause
			for _, f := range p.Findings[q.ID][:min(len(p.Findings[q.ID]), 1)] {
				p.field("", q.ID+": "+safe.Ellipsis(f.Observation(), 200))
			}
			continue
		}
		p.line("")
		if shown++; shown > maxFailures {
			p.line("  … and %d more: %s%s", len(s.Requirements)-i, safe.Line(overview.Names(s.Requirements[i:])), p.more())
			return
		}
		p.requirement(q, p.Findings[q.ID], c)
	}
}

// Story tells of a requirement that has not passed as [Write] does, in one of its scenarios where s is not nil, with
// the requests as curl lines.
func Story(o overview.Overview, q *reports.Requirement, s *reports.Scenario, opts Options) string {
	p := &printer{opts: opts, Overview: o, curl: true}
	elsewhere := func(f *reports.Finding) bool { return s != nil && f.Scenario != "" && f.Scenario != s.Key() }
	p.requirement(q, slices.DeleteFunc(slices.Clone(o.Findings[q.ID]), elsewhere), "")
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
	p.field("causes", p.Explained(q))
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
	what := f.Observation()
	if f.Count > 1 {
		what += fmt.Sprintf(" (%d times)", f.Count)
	}
	p.line("    %s %s", p.paint(red, "✗"), safe.Line(safe.Ellipsis(what, 1000)))
	p.field("seen", f.SeenText())
	p.field("step", f.Step)
	if !f.IsObservationComplete() {
		p.verbatim("expected", f.Expected, green)
		p.verbatim("actual", f.Actual, red)
	}
	switch answer := "the answer of " + cmp.Or(f.Operation, "the target"); {
	case f.Pointer != "":
		p.field("where", f.Pointer+" in "+answer)
	case f.Operation != "":
		p.field("where", answer)
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

// open prints requirements that were not judged, by cause: one often keeps many from it.
func (p *printer) open(requirements []*reports.Requirement) {
	for i, cause := range p.Causes(requirements) {
		if i == maxFailures {
			p.line("  … and more reasons%s", p.more())
			return
		}
		p.prose("  ", "  ", cause.What)
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
		if row[0] == "Remove it" || row[0] == "Reports" { // to be copied
			p.line("%s%s", label, text)
		} else {
			p.wrap(label, strings.Repeat(" ", len(label)), text)
		}
	}
	p.line("%s", p.verdict())
}

// skippedInPart groups by cause the skipped scenarios of requirements that passed by others, each cause of a
// requirement once.
func skippedInPart(o overview.Overview) []overview.Cause {
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
