// Package console writes a result for a terminal. Start with [Write].
package console

import (
	"cmp"
	"fmt"
	"io"
	"path"
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
	Quiet bool   // write only the line with the verdict
	Links string // URL of the folder of the reports, for a terminal with links (OSC 8); empty: there are no links
}

// The maximum numbers of problems, of reasons in a list, and of lines about further inputs of a problem. The page has all.
const (
	maxProblems = 20
	maxReasons  = 10
	maxAlso     = 3
)

// Write writes a result: the problems with the request that shows each, the requirements that were not tested or could
// not be judged with the reasons, the cleanup, and the verdict with its numbers, the page and the next command. It
// returns the errors of w.
func Write(w io.Writer, r *reports.Result, opts Options) error {
	p := &printer{opts: opts, Overview: overview.Of(r)}
	if !opts.Quiet {
		p.details()
	}
	headline := p.Headline()
	if opts.Quiet && len(p.Problems) > 0 {
		first := p.Problems[0]
		headline += "; first " + first.Owner.ID + ": " + first.Title
	}
	p.wrap("", "  ", p.verdict()+p.paint(bold, ": "+safe.Line(safe.Ellipsis(headline, 1000))))
	if !opts.Quiet {
		p.closing()
	}
	_, err := io.WriteString(w, p.b.String())
	return err
}

// details writes everything before the verdict.
func (p *printer) details() {
	if p.Result.Headline != "" && len(p.Problems) > 1 {
		p.prose("Check first: ", "  ", p.Result.Headline)
		p.line("")
	}
	for i, problem := range p.Problems {
		if i == maxProblems {
			p.line("… and %s%s", reports.Count(len(p.Problems)-i, "more problem"), p.more())
			p.line("")
			break
		}
		p.problem(problem)
	}
	if p.Tested > 0 || p.Result.Headline == "" { // otherwise the line with the verdict has the reason
		p.list("Could not tell", "reason", overview.Texts(p.CouldNotTell()))
	}
	p.list("Not tested", "reason", overview.Texts(p.NotTested()))
	p.list("Differs", "requirement", p.Rates())
	if b := p.Result.Baseline; b != nil {
		for _, s := range b.Problems() {
			p.prose("Baseline: ", "  ", s)
		}
	}
	for _, note := range p.Notes() {
		p.prose("Note: ", "  ", note)
	}
	cleanup := p.Cleanup(p.opts.Out)
	if cleanup.Summary != "" {
		p.prose("Cleanup: ", "  ", cleanup.Summary)
	}
	if cleanup.NotRemoved != "" {
		p.prose("Not removed: ", "  ", cleanup.NotRemoved)
	}
	if cleanup.Command != "" {
		p.line("Remove it: %s", safe.Line(cleanup.Command))
	}
	p.line("")
	p.support()
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

// problem writes one problem: its title, the request that shows it, what was expected and returned, and the commands.
func (p *printer) problem(problem overview.Problem) {
	c := red
	if problem.Known || !problem.Owner.Decides() {
		c = yellow
	}
	heading := safe.Line(fmt.Sprintf("%d. %s", problem.Number, problem.Problem.Requirement))
	if f := problem.First(); f != nil {
		heading = p.link(script.Path(p.Result, f), heading)
	}
	p.wrap(p.paint(c+bold, heading+"  "), "   ", p.paint(bold, safe.Line(problem.Title)))
	p.line("")
	p.evidence(problem)
	p.line("")
	p.field("Rule", fmt.Sprintf("%s: %s (%s)", problem.Level, problem.Owner.Title, reports.SectionText(problem.Owner.Section)))
	for i, also := range problem.Also {
		if i == maxAlso {
			p.field("", fmt.Sprintf("and %d more%s", len(problem.Also)-i, p.more()))
			break
		}
		p.field("Also", also)
	}
	p.field("Breaks", problem.BreaksToo)
	p.field("Rate", problem.Owner.Repetitions.String())
	if problem.Known {
		p.field("Baseline", problem.Entry().String())
	}
	if f := problem.First(); f != nil {
		p.field("Hint", f.Hint)
		p.verbatim("Try", problem.Replay)
	}
	p.line("")
}

// evidence writes the request and the values of the finding that shows a problem.
func (p *printer) evidence(problem overview.Problem) {
	f := problem.First()
	if f == nil {
		p.prose(indent, indent, cmp.Or(problem.Owner.Reason, "no evidence was recorded"))
		return
	}
	if problem.Request != "" {
		p.prose(indent, indent, problem.Request)
	}
	p.field("sent", problem.Sent)
	p.colored("expected", problem.Expected, green)
	got := problem.Got
	if f.Seen < f.Judged {
		got += " (" + f.Attempts() + ")"
	}
	p.colored("got", got, red)
}

// list writes sentences, each after the name of the list. noun is for the number of sentences that are omitted.
func (p *printer) list(name, noun string, sentences []string) {
	for i, sentence := range sentences {
		if i == maxReasons {
			p.line("%s: … %s%s", name, reports.Count(len(sentences)-i, "more "+noun), p.more())
			return
		}
		p.prose(p.paint(magenta, name)+": ", "  ", sentence)
	}
}

// Story returns the text of [Write] about the problem of a requirement that has not passed, or its reason, with curl
// lines. If s is not nil, it contains only the findings of that scenario. out is the folder of the reports and may be
// empty.
func Story(o overview.Overview, q *reports.Requirement, s *reports.Scenario, out string) string {
	p := &printer{opts: Options{Out: out}, Overview: o}
	var findings []*reports.Finding
	for _, f := range o.Findings[q.ID] {
		if s == nil || f.Scenario == "" || f.Scenario == s.Key() {
			findings = append(findings, f)
		}
	}
	p.requirement(q, findings)
	return p.b.String()
}

// maxFindings is the maximum number of findings of a requirement in its story.
const maxFindings = 5

func (p *printer) requirement(q *reports.Requirement, findings []*reports.Finding) {
	p.prose(q.ID+"  ", "  ", fmt.Sprintf("%s: %s (%s)", q.Level, q.Title, reports.SectionText(q.Section)))
	p.field("Interface", q.Quote)
	problem := p.ProblemOf(q)
	switch {
	case problem == nil:
	case problem.Owner == q:
		p.field("Problem", fmt.Sprint(problem.Number))
	default:
		p.field("Problem", fmt.Sprintf("%d, broken by %s", problem.Number, problem.Owner.ID))
	}
	if len(findings) == 0 {
		findings = []*reports.Finding{{Summary: cmp.Or(q.Reason, "no reason was recorded")}}
	}
	for i, f := range findings {
		if i == maxFindings {
			p.line("… and %s%s", reports.Count(len(findings)-i, "more finding"), p.more())
			break
		}
		p.line("")
		p.finding(q, f)
	}
}

func (p *printer) more() string {
	if p.opts.Out == "" {
		return ""
	}
	return " (see " + safe.Line(p.Result.Run.Page(p.opts.Out)) + ")"
}

func (p *printer) finding(q *reports.Requirement, f *reports.Finding) {
	title := f.Summary
	if f.Count > 1 {
		title += fmt.Sprintf(" (%d times)", f.Count)
	}
	p.prose(p.paint(red, "✗")+" ", "  ", title)
	p.colored("expected", f.Expected, green)
	p.colored("got", f.Actual, red)
	p.field("Hint", f.Hint)
	if s := q.ScenarioOf(f); s != nil {
		p.field("Scenario", s.Key()+"  "+s.Name)
	}
	p.field("Step", f.Step)
	p.field("Rate", q.Repetitions.String())
	p.field("Seen", f.Attempts())
	p.verbatim("Request", f.Curl)
	p.field("", p.Result.CurlNote(f))
	p.verbatim("Try", p.Result.Run.ReplayCommand(f.ID))
	if p.opts.Out != "" {
		p.verbatim("Script", script.Command(p.Result, f, p.opts.Out))
	}
}

// closing writes the numbers, the page and the next command.
func (p *printer) closing() {
	r := p.Result
	row := func(label, text string) {
		if text != "" {
			p.wrap(fmt.Sprintf("  %-9s  ", label), strings.Repeat(" ", 13), safe.Line(text))
		}
	}
	row("Result", p.Counts().String())
	row("Test run", p.Stats())
	row("Repeated", p.Repetitions())
	row("Claims", strings.Join(r.Target.Supports, ", "))
	row("Suite", r.Suite.String())
	if p.opts.Out != "" { // users copy the folder and the next command, so they are not wrapped
		page := r.Run.Page(p.opts.Out)
		p.line("  %-9s  %s", "Report", p.link(path.Base(page), safe.Line(page)))
		if len(r.Findings) > 0 && r.Run.Writes(reports.ReportScripts) {
			p.line("  %-9s  %s, with curl only", "Scripts", p.link("scripts", safe.Line(p.opts.Out)+"/scripts"))
		}
	}
	if label, text := p.NextStep(); text != "" {
		p.line("  %-9s  %s", label, safe.Line(text))
	}
}

// indent is the indentation of the parts of a problem.
var indent = strings.Repeat(" ", 5)
