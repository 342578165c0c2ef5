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
	Limit int    // how many failures are shown in full; 0 means 20
}

// Write shows a result: the verdict and the headline in the first line, then each failure from the rule to the curl line,
// then what could not be judged and why, then the counts, and the verdict again, because a long output ends there. It
// fails only where w does.
func Write(w io.Writer, r *reports.Result, opts Options) error {
	opts.Limit = cmp.Or(opts.Limit, 20)
	p := &printer{w: w, opts: opts, result: r}
	o := overview.Of(r)
	p.opening(r)
	p.failures("FAILED", notMet(o.Failed), red, o.Failed, o)
	p.failures("WARNINGS", notMet(o.Warnings)+", verdict unaffected", yellow, o.Warnings, o)
	p.open("BLOCKED", "could not run, a precondition failed", magenta, o.Blocked)
	p.open("INCONCLUSIVE", "no evidence either way", magenta, o.Inconclusive)
	p.open("NOT RUN", cmp.Or(safe.Line(r.Run.Stopped), "the run ended early"), magenta, o.NotRun)
	p.knownFailures(o.Known)
	p.skipped(o.Skipped, overview.SkippedInPart(r))
	p.baseline(r.Baseline)
	p.notes(overview.Notes(r))
	p.closing(r)
	if p.err != nil {
		return fmt.Errorf("printing the result: %w", p.err)
	}
	return nil
}

// notMet names the levels of what failed: "MUST not met", "MUST and SHOULD not met".
func notMet(failed []*reports.Requirement) string {
	var levels []string
	for _, level := range []reports.Level{reports.Must, reports.Should, reports.May} {
		if slices.ContainsFunc(failed, func(q *reports.Requirement) bool { return q.Level == level }) {
			levels = append(levels, string(level))
		}
	}
	return strings.Join(levels, " and ") + " not met"
}

// opening prints the first line and what was judged.
func (p *printer) opening(r *reports.Result) {
	p.firstLine(r)
	p.line("%s", p.paint(dim, "  "+safe.Line(safe.Ellipsis(overview.Subject(r), 500))))
	if agent := overview.AgentBeside(r); agent != "" {
		p.line("%s", p.paint(dim, "  agent server "+safe.Line(safe.Ellipsis(agent, 500))))
	}
}

func (p *printer) heading(name, what string, c color, n int) {
	p.line("")
	p.line("%s %s", p.paint(c+bold, fmt.Sprintf("%s (%d):", name, n)), p.paint(dim, what))
}

func (p *printer) failures(name, what string, c color, failed []*reports.Requirement, o overview.Overview) {
	if len(failed) == 0 {
		return
	}
	p.heading(name, what, c, len(failed))
	for i, q := range failed {
		if i == p.opts.Limit {
			p.line("")
			p.line("  … and %d more: %s%s", len(failed)-i, overview.Names(failed[i:]), p.more())
			return
		}
		p.requirement(q, c)
		findings := o.Findings[q.ID]
		if len(findings) == 0 {
			p.reason(q)
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
	}
}

func (p *printer) more() string {
	if p.opts.Out == "" {
		return ""
	}
	return " (see " + safe.Line(p.opts.Out) + "/index.html)"
}

// requirement prints the id, the level, the section, the sentence of the rule and that of the interface.
func (p *printer) requirement(q *reports.Requirement, c color) {
	p.line("")
	p.line("  %s  %s %s", p.paint(c+bold, safe.Line(q.ID)), p.paint(bold, string(q.Level)), p.paint(dim, "· "+safe.Line(overview.Section(q.Section))))
	p.wrap("  ", "  ", safe.Line(q.Title))
	if q.Quote != "" {
		p.wrap("  ", "  ", "the interface: "+safe.Line(overview.Quote(q)))
	}
}

// reason prints why a requirement failed where no finding tells it.
func (p *printer) reason(q *reports.Requirement) {
	p.line("    %s %s", p.paint(red, "✗"), safe.Line(safe.Ellipsis(cmp.Or(q.Reason, "no reason was recorded"), 1000)))
	if s := overview.Worst(q); s != nil {
		p.place(s)
		if step := overview.FailedStep(s); step != "" {
			p.field("step", step)
		}
	}
}

func (p *printer) finding(q *reports.Requirement, f *reports.Finding) {
	step := f.Step
	if s := overview.ScenarioOf(q, f); s != nil {
		step = cmp.Or(step, overview.FailedStep(s))
		p.place(s)
	}
	what := overview.WhatIsWrong(f)
	if f.Count > 1 {
		what += fmt.Sprintf(" (%d times)", f.Count)
	}
	p.line("    %s %s", p.paint(red, "✗"), safe.Line(safe.Ellipsis(what, 1000)))
	if step != "" {
		p.field("step", step)
	}
	if !f.ObservedWhole() {
		p.difference(f.Expected, f.Actual)
	}
	switch answer := "the answer of " + cmp.Or(f.Operation, "the target"); {
	case f.Pointer != "":
		p.field("where", f.Pointer+" in "+answer)
	case f.Operation != "":
		p.field("where", answer)
	}
	if f.Compared != "" {
		p.field("compared", f.Compared)
	}
	if f.Hint != "" {
		p.field("hint", f.Hint)
	}
	if command := overview.ReplayCommand(p.result, f); command != "" {
		p.verbatim("replay", safe.Line(safe.Cut(command, 4000)))
	}
	if path := overview.ScriptPath(p.result, f); path != "" && p.opts.Out != "" {
		p.verbatim("script", safe.Line(script.Command(p.result, p.opts.Out+"/"+path)))
	}
}

func (p *printer) place(s *reports.Scenario) {
	p.line("    %s", p.paint(dim, safe.Line(fmt.Sprintf("%s:%d  %s", s.URI, s.Line, s.Name))))
}

// open prints requirements that were not judged, by reason: one cause often blocks many.
func (p *printer) open(name, what string, c color, requirements []*reports.Requirement) {
	if len(requirements) == 0 {
		return
	}
	p.heading(name, what, c, len(requirements))
	for i, g := range overview.ByCause(requirements) {
		if i == p.opts.Limit {
			p.line("  … and more reasons%s", p.more())
			return
		}
		p.wrap("  ", "  ", safe.Line(safe.Ellipsis(g.Reason, 1000)))
		if len(g.Requirements) > 5 {
			p.wrap("      ", "      ", p.paint(c, reports.Count(len(g.Requirements), "requirement"))+": "+overview.Names(g.Requirements))
			continue
		}
		for _, q := range g.Requirements {
			p.line("      %s  %s %s", p.paint(c, safe.Line(q.ID)), q.Level, p.paint(dim, safe.Line(q.Title)))
		}
	}
}

func (p *printer) knownFailures(known []*reports.Requirement) {
	if len(known) == 0 {
		return
	}
	p.heading("KNOWN", "in the baseline, do not fail the run", dim, len(known))
	for _, q := range known {
		p.wrap("  ", "      ", fmt.Sprintf("%s  %s %s: %s", safe.Line(q.ID), q.Level, q.Verdict, safe.Line(safe.Ellipsis(overview.Known(q.Known), 500))))
	}
}

func (p *printer) skipped(skipped, inPart []*reports.Requirement) {
	if len(skipped)+len(inPart) == 0 {
		return
	}
	if len(skipped) > 0 {
		p.heading("SKIPPED", "not judged", dim, len(skipped))
	} else {
		p.heading("SKIPPED IN PART", "passed, some scenarios not judged", dim, len(inPart))
	}
	for _, g := range overview.ByCause(skipped) {
		p.wrap("  ", "      ", safe.Line(safe.Ellipsis(g.Reason, 500))+": "+overview.Names(g.Requirements))
	}
	for i, g := range overview.ByCause(inPart) {
		if i == p.opts.Limit {
			p.line("  … and more reasons%s", p.more())
			return
		}
		p.wrap("  ", "      ", "partly: "+safe.Line(safe.Ellipsis(g.Reason, 500))+": "+overview.Names(g.Requirements))
	}
}

// baseline prints what is wrong with the baseline itself.
func (p *printer) baseline(b *reports.Baseline) {
	if b == nil || len(b.Stale)+len(b.Unmatched)+len(b.Expired)+len(b.New) == 0 {
		return
	}
	p.heading("BASELINE", "these fail the run; file "+safe.Line(b.File), red, len(b.Stale)+len(b.Unmatched)+len(b.Expired)+len(b.New))
	for _, sentences := range [][]string{b.New, b.Stale, b.Expired, b.Unmatched} {
		for _, s := range sentences {
			p.wrap("  ", "      ", safe.Line(safe.Ellipsis(s, 500)))
		}
	}
}

// notes prints what is no failure and worth knowing.
func (p *printer) notes(notes []string) {
	if len(notes) == 0 {
		return
	}
	p.heading("NOTES", "no failures, verdict unaffected", dim, len(notes))
	for _, note := range notes {
		p.wrap("  ", "      ", safe.Line(safe.Ellipsis(note, 1000)))
	}
}

func (p *printer) closing(r *reports.Result) {
	p.line("")
	p.wrap("Remaining       ", strings.Repeat(" ", 16), safe.Line(overview.DistanceOf(r).String()))
	p.wrap("Requirements    ", strings.Repeat(" ", 16), overview.CountsOf(r).String())
	if len(r.Target.Supports) > 0 {
		p.wrap("Claims          ", strings.Repeat(" ", 16), safe.Line(strings.Join(r.Target.Supports, ", ")))
	}
	p.line("Scenarios       %s", overview.VerdictCounts(r.Counts.Scenarios))
	effort := fmt.Sprintf("Stats           %s, %s, seed %d", reports.Count(r.Counts.Exchanges, "exchange"), overview.Duration(r.Run.DurationMS), r.Run.Seed)
	if waits := overview.Waits(r.Counts); waits != "" {
		effort += ", " + waits
	}
	p.line("%s", effort)
	p.line("Suite           %s", safe.Line(overview.Suite(r)))
	p.notCleanedUp(r)
	if p.opts.Out != "" {
		p.line("Reports         %s/index.html", safe.Line(p.opts.Out))
	}
	p.line("%s", p.verdict(r))
}

// notCleanedUp says what the run created and removed, what is still at the target, and the command that removes it.
func (p *printer) notCleanedUp(r *reports.Result) {
	c := overview.CleanupOf(r)
	if text := c.String(); text != "" {
		p.line("Cleanup         %s", safe.Line(text))
	}
	left := c.WhatIsLeft()
	if left == "" {
		return
	}
	p.wrap("Not cleaned up  ", strings.Repeat(" ", 16), safe.Line(left))
	if !c.Removable {
		return
	}
	p.line("Remove it       %s", safe.Line(overview.CleanCommand(p.result, p.opts.Out)))
}
