// Package markdown writes a short summary of a result, for the page of a CI job or a pull request.
package markdown

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

// maxMarkdown bounds the summary: the place where CI systems show it takes at most 1 MiB for all steps together.
const maxMarkdown = 200 << 10

// Write writes the summary of r, failures first, bounded so that CI systems show it. It fails only where w does.
func Write(w io.Writer, r *reports.Result) error {
	m := &markdown{result: r}
	o := overview.Of(r)
	m.opening(r)
	m.failures("Failed", o.Failed, o)
	m.failures("Warnings", o.Warnings, o)
	m.open("Blocked", o.Blocked)
	m.open("Inconclusive", o.Inconclusive)
	m.open("Not run", o.NotRun)
	m.known(o.Known)
	m.baseline(r.Baseline)
	m.open("Skipped", o.Skipped)
	m.closing(r)
	if _, err := io.WriteString(w, m.b.String()); err != nil {
		return fmt.Errorf("writing the Markdown summary: %w", err)
	}
	return nil
}

type markdown struct {
	b      strings.Builder
	result *reports.Result
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.b, format, args...) }

// full tells whether there is no room for more detail; what is left out is counted elsewhere.
func (m *markdown) full() bool { return m.b.Len() > maxMarkdown }

func (m *markdown) opening(r *reports.Result) {
	s := overview.DisplayVerdictOf(r)
	sign := map[overview.Tone]string{overview.ToneGood: "✅", overview.ToneBad: "❌"}[s.Tone]
	m.printf("## %s %s\n\n", cmp.Or(sign, "⚠️"), safe.Prose(s.String(), 500))
	m.printf("**%s**\n\n", safe.Prose(overview.Headline(r), 1000))
	m.printf("Target: %s\n\n", safe.MarkdownCode(safe.Ellipsis(overview.Subjects(r), 300)))
}

func (m *markdown) failures(title string, failed []*reports.Requirement, o overview.Overview) {
	if len(failed) == 0 {
		return
	}
	m.printf("### %s (%d)\n\n| Requirement | Level | What is wrong | Expected | Actual |\n|---|---|---|---|---|\n", title, len(failed))
	for _, q := range failed {
		if m.full() {
			m.printf("| … | | and more: see the other reports | | |\n")
			break
		}
		findings := o.Findings[q.ID]
		if len(findings) == 0 {
			m.printf("| %s | %s | %s | | |\n", safe.MarkdownCode(q.ID), q.Level, safe.Prose(q.Reason, 300))
		}
		for i, f := range findings {
			if i == 3 {
				m.printf("| %s | | and %d more | | |\n", safe.MarkdownCode(q.ID), len(findings)-i)
				break
			}
			m.printf("| %s | %s | %s | %s | %s |\n", safe.MarkdownCode(q.ID), q.Level, safe.Prose(overview.WhatIsWrong(f), 300), cell(f.Expected), cell(f.Actual))
		}
	}
	m.printf("\n")
	m.reproducers(failed, o)
}

// reproducers folds the commands away: they are long, and only who repairs the fault needs them.
func (m *markdown) reproducers(failed []*reports.Requirement, o overview.Overview) {
	var b strings.Builder
	for _, q := range failed {
		for i, f := range o.Findings[q.ID] {
			if f.Curl == "" || i == 3 || m.b.Len()+b.Len() > maxMarkdown {
				break
			}
			fmt.Fprintf(&b, "**%s** — %s\n\n", safe.Prose(q.ID, 100), safe.Prose(q.Title, 300))
			if q.Quote != "" {
				fmt.Fprintf(&b, "> %s\n\n", safe.Prose(overview.Quote(q), 400))
			}
			if f.Step != "" {
				fmt.Fprintf(&b, "Failed at: %s\n\n", safe.Prose(f.Step, 300))
			}
			lines := safe.Line(safe.Cut(f.Curl, 2000))
			if command := overview.ReplayCommand(m.result, f); command != "" {
				lines = safe.Line(safe.Cut(command, 2000)) + "\n" + lines
			}
			if path := overview.ScriptPath(m.result, f); path != "" { // below the folder of the reports
				lines += "\n" + safe.Line(safe.Cut(script.Command(m.result, path), 2000))
			}
			b.WriteString(safe.MarkdownBlock("sh", lines) + "\n")
		}
	}
	if b.Len() > 0 {
		m.printf("<details><summary>How to see it: the replay commands, and the requests as curl lines</summary>\n\n%s</details>\n\n", b.String())
	}
}

func (m *markdown) open(title string, requirements []*reports.Requirement) {
	if len(requirements) == 0 {
		return
	}
	m.printf("### %s (%d)\n\n", title, len(requirements))
	for _, g := range overview.ByCause(requirements) {
		if m.full() {
			m.printf("- … and more\n")
			break
		}
		m.printf("- %s: %s\n", safe.Prose(g.Reason, 500), codes(g.Requirements))
	}
	m.printf("\n")
}

func (m *markdown) known(known []*reports.Requirement) {
	if len(known) == 0 {
		return
	}
	m.printf("### Known failures (%d)\n\n", len(known))
	for _, q := range known {
		m.printf("- %s %s: %s\n", safe.MarkdownCode(q.ID), q.Verdict, safe.Prose(overview.Known(q.Known), 500))
	}
	m.printf("\n")
}

func (m *markdown) baseline(b *reports.Baseline) {
	if b == nil || len(b.Stale)+len(b.Unmatched)+len(b.Expired)+len(b.New) == 0 {
		return
	}
	m.printf("### Baseline: entries that fail the run\n\n")
	for _, sentences := range [][]string{b.New, b.Stale, b.Expired, b.Unmatched} {
		for _, s := range sentences {
			if !m.full() {
				m.printf("- %s\n", safe.Prose(s, 500))
			}
		}
	}
	m.printf("\n")
}

func (m *markdown) closing(r *reports.Result) {
	m.printf("| | |\n|---|---|\n| Requirements | %s |\n| Scenarios | %s |\n| Remaining | %s |\n| Stats | %s in %s, seed %d |\n| Suite | %s |\n",
		overview.CountsOf(r), overview.VerdictCounts(r.Counts.Scenarios), safe.Markdown(overview.DistanceOf(r).String()), reports.Count(r.Counts.Exchanges, "exchange"),
		overview.Duration(r.Run.DurationMS), r.Run.Seed, safe.Prose(overview.Suite(r), 300))
	if len(r.Target.Supports) > 0 {
		m.printf("| Claims | %s |\n", safe.Prose(strings.Join(r.Target.Supports, ", "), 1000))
	}
}

// codes lists ids as code.
func codes(requirements []*reports.Requirement) string {
	var ids []string
	for i, q := range requirements {
		if i == 30 {
			ids = append(ids, fmt.Sprintf("and %d more", len(requirements)-i))
			break
		}
		ids = append(ids, safe.MarkdownCode(q.ID))
	}
	return strings.Join(ids, ", ")
}

// cell shows what the target has sent as code, in a cell of a table.
func cell(s string) string {
	if s == "" {
		return ""
	}
	return safe.MarkdownCode(safe.Ellipsis(s, 200))
}
