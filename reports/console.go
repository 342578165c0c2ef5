package reports

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/agentconform/agentconform/reports/safe"
)

// ConsoleOptions say how a result is shown on a console.
type ConsoleOptions struct {
	Color bool   // whether to use colours; the caller knows the terminal and NO_COLOR
	Width int    // columns to wrap prose at; 0 does not wrap
	Out   string // folder of the written reports, named as the place where there is more; may be empty
	Limit int    // how many failures are shown in full; 0 means 20
}

// Console shows a result to a person: the verdict and what it is about in the first line, then each failure from
// the rule to the curl line, then what could not be judged and why, then the counts, and the verdict again, because
// a long output ends there.
func Console(w io.Writer, r *Result, opts ConsoleOptions) error {
	opts.Limit = cmp.Or(opts.Limit, 20)
	p := &printer{w: w, opts: opts}
	o := overviewOf(r)
	p.opening(r)
	p.failures("FAILED", "these violate the interface", red, o.failed, o)
	p.failures("WARNINGS", "these leave the verdict alone", yellow, o.warnings, o)
	p.open("BLOCKED", "not judged, because something before them went wrong", magenta, o.blocked)
	p.open("INCONCLUSIVE", "judged, but nothing was observed that could have shown a violation", magenta, o.inconclusive)
	p.knownFailures(o.known)
	p.skipped(o.skipped, skippedInPart(r))
	p.baseline(r.Baseline)
	p.closing(r)
	if p.err != nil {
		return fmt.Errorf("printing the result: %w", p.err)
	}
	return nil
}

// opening prints the verdict, the headline and what was judged.
func (p *printer) opening(r *Result) {
	told := p.paint(bold, safe.Line(safe.Ellipsis(headline(r), 500)))
	if standingOf(r).Caveat == "" {
		p.line("%s  %s", p.standing(r), told)
	} else {
		p.line("%s", p.standing(r))
		p.line("  %s", told)
	}
	p.line("%s", p.paint(dim, "  "+safe.Line(safe.Ellipsis(subject(r), 500))))
	if agent := agentBeside(r); agent != "" {
		p.line("%s", p.paint(dim, "  agent server "+safe.Line(safe.Ellipsis(agent, 500))))
	}
}

func (p *printer) heading(name, what string, c color, n int) {
	p.line("")
	p.line("%s %s", p.paint(c+bold, fmt.Sprintf("%s (%d)", name, n)), p.paint(dim, what))
}

func (p *printer) failures(name, what string, c color, failed []*Requirement, o overview) {
	if len(failed) == 0 {
		return
	}
	p.heading(name, what, c, len(failed))
	for i, q := range failed {
		if i == p.opts.Limit {
			p.line("")
			p.line("  … and %d more: %s%s", len(failed)-i, names(failed[i:]), p.more())
			return
		}
		p.requirement(q, c)
		findings := o.findings[q.ID]
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

// requirement prints the id, the level, the section and the sentence of the rule.
func (p *printer) requirement(q *Requirement, c color) {
	p.line("")
	p.line("  %s  %s %s", p.paint(c+bold, safe.Line(q.ID)), p.paint(bold, string(q.Level)), p.paint(dim, "· "+safe.Line(sectionInWords(q.Section))))
	p.wrap("  ", "  ", safe.Line(q.Title))
}

// reason prints why a requirement failed where no finding tells it.
func (p *printer) reason(q *Requirement) {
	if s := worst(q); s != nil {
		p.scenario(s, failedStep(s))
	}
	p.field("why", cmp.Or(q.Reason, "no reason was recorded"))
}

func (p *printer) finding(q *Requirement, f *Finding) {
	step := f.Step
	if s := scenarioOf(q, f); s != nil {
		step = cmp.Or(step, failedStep(s))
		p.scenario(s, step)
	}
	times := ""
	if f.Count > 1 {
		times = fmt.Sprintf(" (%d times)", f.Count)
	}
	if times != "" || !strings.HasSuffix(step, f.Summary) { // else the step has said it
		p.field("what", f.Summary+times)
	}
	p.difference(f.Expected, f.Actual)
	if f.Pointer != "" {
		p.field("where", f.Pointer+" in the answer of "+cmp.Or(f.Operation, "the target"))
	}
	if f.Hint != "" {
		p.field("hint", f.Hint)
	}
	if f.Curl != "" {
		p.verbatim("try it", safe.Line(safe.Cut(f.Curl, 4000)))
	}
}

func (p *printer) scenario(s *Scenario, step string) {
	p.line("    %s", p.paint(dim, safe.Line(fmt.Sprintf("%s:%d  %s", s.URI, s.Line, s.Name))))
	if step != "" {
		p.line("    %s %s", p.paint(red, "✗"), safe.Line(safe.Ellipsis(step, 1000)))
	}
}

// open prints requirements that were not judged, by reason: one cause often blocks many.
func (p *printer) open(name, what string, c color, requirements []*Requirement) {
	if len(requirements) == 0 {
		return
	}
	p.heading(name, what, c, len(requirements))
	for i, g := range byReason(requirements) {
		if i == p.opts.Limit {
			p.line("  … and more reasons%s", p.more())
			return
		}
		p.wrap("  ", "  ", safe.Line(safe.Ellipsis(g.reason, 1000)))
		for j, q := range g.requirements {
			if j == 8 {
				p.wrap("      ", "      ", "… and "+names(g.requirements[j:]))
				break
			}
			p.line("      %s  %s %s", p.paint(c, safe.Line(q.ID)), q.Level, p.paint(dim, safe.Line(q.Title)))
		}
	}
}

func (p *printer) knownFailures(known []*Requirement) {
	if len(known) == 0 {
		return
	}
	p.heading("KNOWN", "these are in the baseline and do not fail the run", dim, len(known))
	for _, q := range known {
		p.wrap("  ", "      ", fmt.Sprintf("%s  %s %s: %s", safe.Line(q.ID), q.Level, q.Verdict, safe.Line(safe.Ellipsis(knownInWords(q.Known), 500))))
	}
}

// knownInWords tells of an entry of the baseline: "the reason (owner, until 2026-12-31)".
func knownInWords(k *Known) string {
	details := []string{}
	if k.Owner != "" {
		details = append(details, k.Owner)
	}
	if k.Expires != "" {
		details = append(details, "until "+k.Expires)
	}
	if k.Flaky {
		details = append(details, "flaky")
	}
	if len(details) == 0 {
		return k.Reason
	}
	return k.Reason + " (" + strings.Join(details, ", ") + ")"
}

func (p *printer) skipped(skipped, inPart []*Requirement) {
	if len(skipped)+len(inPart) == 0 {
		return
	}
	if len(skipped) > 0 {
		p.heading("SKIPPED", "these were not judged, for the reason given", dim, len(skipped))
	} else {
		p.heading("SKIPPED IN PART", "these passed, and some of their scenarios were not judged", dim, len(inPart))
	}
	for _, g := range byReason(skipped) {
		p.wrap("  ", "      ", safe.Line(safe.Ellipsis(g.reason, 500))+": "+names(g.requirements))
	}
	for i, g := range byReason(inPart) {
		if i == p.opts.Limit {
			p.line("  … and more reasons%s", p.more())
			return
		}
		p.wrap("  ", "      ", "in part, "+safe.Line(safe.Ellipsis(g.reason, 500))+": "+names(g.requirements))
	}
}

// baseline prints what is wrong with the baseline itself.
func (p *printer) baseline(b *Baseline) {
	if b == nil || len(b.Stale)+len(b.Unmatched)+len(b.Expired)+len(b.New) == 0 {
		return
	}
	p.heading("BASELINE", "these make the run fail; the file is "+safe.Line(b.File), red, len(b.Stale)+len(b.Unmatched)+len(b.Expired)+len(b.New))
	for _, sentences := range [][]string{b.New, b.Stale, b.Expired, b.Unmatched} {
		for _, s := range sentences {
			p.wrap("  ", "      ", safe.Line(safe.Ellipsis(s, 500)))
		}
	}
}

func (p *printer) closing(r *Result) {
	p.line("")
	p.wrap("Distance      ", strings.Repeat(" ", 14), safe.Line(DistanceOf(r).String()))
	p.line("Requirements  %s", requirementsInWords(r))
	p.line("Scenarios     %s", countsInWords(r.Counts.Scenarios))
	effort := fmt.Sprintf("Effort        %s, %s, seed %d", count(r.Counts.Exchanges, "exchange"), duration(r.Run.DurationMS), r.Run.Seed)
	if waits := waitsInWords(r.Counts); waits != "" {
		effort += ", " + waits
	}
	p.line("%s", effort)
	p.leftBehind(r)
	if p.opts.Out != "" {
		p.line("Reports       %s/index.html", safe.Line(p.opts.Out))
	}
	p.line("%s", p.standing(r))
}

// leftBehind tells of deployments that are still at the target, and how they are removed.
func (p *printer) leftBehind(r *Result) {
	n := 0
	for _, e := range r.Ledger {
		if e.Kind == "deployment" && !e.Removed {
			n++
		}
	}
	if n == 0 {
		return
	}
	command := "agentconform clean"
	if p.opts.Out != "" {
		command += " --ledger " + safe.Line(p.opts.Out) + "/ledger.jsonl"
	}
	p.line("Left behind   %s: %s", count(n, "deployment"), command)
}

// names lists ids: "CP-LIST-1, CP-LIST-2 and 5 more".
func names(requirements []*Requirement) string {
	var ids []string
	for i, q := range requirements {
		if i == 12 {
			return strings.Join(ids, ", ") + fmt.Sprintf(" and %d more", len(requirements)-i)
		}
		ids = append(ids, safe.Line(q.ID))
	}
	return strings.Join(ids, ", ")
}
