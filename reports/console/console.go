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
}

// maxFailures is how many failures are shown in full, and how many reasons.
const maxFailures = 20

// Write shows a result: the verdict and the headline in the first line, then each failure from the rule to the commands,
// then what could not be judged and why, then the counts, and the verdict again, because a long output ends there. It
// fails only where w does.
func Write(w io.Writer, r *reports.Result, opts Options) error {
	p := &printer{w: w, opts: opts, Overview: overview.Of(r)}
	p.firstLine()
	p.wrap("  ", "  ", p.paint(dim, safe.Line(safe.Ellipsis(overview.Subject(r), 1000))))
	for _, s := range p.Problems() {
		c := map[overview.Class]color{overview.Failed: red, overview.Warning: yellow, overview.Known: dim}[s.Class]
		p.heading(s.Label(), s.What, cmp.Or(c, magenta), len(s.Requirements))
		switch s.Class {
		case overview.Failed, overview.Warning:
			p.failures(s.Requirements, c)
		case overview.Known:
			for _, q := range s.Requirements {
				p.prose("  ", "      ", fmt.Sprintf("%s  %s %s: %s", q.ID, q.Level, q.Verdict, overview.KnownText(q.Known)))
			}
		default:
			p.open(s.Requirements)
		}
	}
	p.skipped()
	if b := r.Baseline; b != nil {
		p.list("BASELINE", "these fail the run; file "+b.File, red, b.Misfits())
	}
	p.list("NOTES", "no failures, verdict unaffected", dim, overview.Notes(r))
	p.closing()
	if p.err != nil {
		return fmt.Errorf("printing the result: %w", p.err)
	}
	return nil
}

// WriteVerdict shows only the first line: the verdict and the headline. It fails only where w does.
func WriteVerdict(w io.Writer, r *reports.Result, opts Options) error {
	p := &printer{w: w, opts: opts, Overview: overview.Of(r)}
	p.firstLine()
	if p.err != nil {
		return fmt.Errorf("printing the verdict: %w", p.err)
	}
	return nil
}

func (p *printer) firstLine() {
	p.wrap("", "  ", p.verdict()+p.paint(bold, ": "+safe.Line(safe.Ellipsis(overview.Headline(p.Result), 1000))))
}

// verdict returns the run's verdict with a sign, so that it is distinct without colours.
func (p *printer) verdict() string {
	s := overview.DisplayVerdictOf(p.Result)
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

func (p *printer) list(name, what string, c color, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	p.heading(name, what, c, len(sentences))
	for _, s := range sentences {
		p.prose("  ", "      ", s)
	}
}

// failures shows the causes, and beneath each what it explains.
func (p *printer) failures(failed []*reports.Requirement, c color) {
	all := failed
	failed = slices.DeleteFunc(slices.Clone(all), func(q *reports.Requirement) bool { return p.IsBeneath(q, all) })
	for i, q := range failed {
		p.line("")
		if i == maxFailures {
			p.line("  … and %d more: %s%s", len(failed)-i, safe.Line(overview.Names(failed[i:])), p.more())
			return
		}
		p.line("  %s  %s %s", p.paint(c+bold, safe.Line(q.ID)), p.paint(bold, string(q.Level)), p.paint(dim, "· "+safe.Line(overview.WhereFrom(q.Section))))
		p.prose("  ", "  ", q.Title)
		if q.Quote != "" {
			p.prose("  ", "  ", "the interface: "+overview.Quote(q))
		}
		findings := p.Findings[q.ID]
		if len(findings) == 0 {
			findings = []*reports.Finding{{Summary: cmp.Or(q.Reason, "no reason was recorded")}}
		}
		for j, f := range findings {
			if j == 5 {
				p.line("    … and %d more findings%s", len(findings)-j, p.more())
				break
			}
			if j > 0 {
				p.line("")
			}
			p.finding(q, f)
		}
		if text := p.Explained(q); text != "" {
			p.prose("    ", "    ", text)
		}
	}
}

func (p *printer) more() string {
	if p.opts.Out == "" {
		return ""
	}
	return " (see " + safe.Line(p.opts.Out) + "/index.html)"
}

func (p *printer) finding(q *reports.Requirement, f *reports.Finding) {
	if s := overview.ScenarioOf(q, f); s != nil {
		p.line("    %s", p.paint(dim, safe.Line(fmt.Sprintf("%s:%d  %s", s.URI, s.Line, s.Name))))
	}
	what := overview.WhatIsWrong(f)
	if f.Count > 1 {
		what += fmt.Sprintf(" (%d times)", f.Count)
	}
	p.line("    %s %s", p.paint(red, "✗"), safe.Line(safe.Ellipsis(what, 1000)))
	p.field("seen", overview.Seen(f))
	p.field("step", f.Step)
	if !f.ObservedWhole() {
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
	p.verbatim("replay", overview.ReplayCommand(p.Result, f), "")
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

// skipped prints the requirements that were skipped, and those of which some scenarios were.
func (p *printer) skipped() {
	inPart := p.SkippedInPart()
	n := 0
	for _, c := range inPart {
		n += len(c.Requirements)
	}
	if n = cmp.Or(len(p.Skipped), n); n > 0 {
		p.heading("SKIPPED", "not judged", dim, n)
	}
	for _, c := range p.Causes(p.Skipped) {
		p.prose("  ", "      ", safe.Ellipsis(c.What, 500)+": "+overview.Names(c.Requirements))
	}
	for i, c := range inPart {
		if i == maxFailures {
			p.line("  … and more reasons%s", p.more())
			return
		}
		p.prose("  ", "      ", "partly: "+safe.Ellipsis(c.What, 500)+": "+overview.Names(c.Requirements))
	}
}

func (p *printer) closing() {
	p.line("")
	for _, row := range overview.Closing(p.Result, p.opts.Out) {
		label, text := fmt.Sprintf("%-16s", row[0]), safe.Line(row[1])
		if row[0] == "Remove it" || row[0] == "Reports" { // to be copied
			p.line("%s%s", label, text)
		} else {
			p.wrap(label, strings.Repeat(" ", len(label)), text)
		}
	}
	p.line("%s", p.verdict())
}
