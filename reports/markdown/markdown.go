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
	m := &markdown{Overview: overview.Of(r)}
	m.opening()
	for _, s := range m.Problems() {
		m.printf("### %s (%d)\n\n", s.Title, len(s.Requirements))
		switch s.Class {
		case overview.Failed, overview.Warning:
			m.failures(s.Requirements)
		case overview.Known:
			for _, q := range s.Requirements {
				m.printf("- %s %s: %s\n", safe.MarkdownCode(q.ID), q.Verdict, safe.Prose(overview.KnownText(q.Known), 500))
			}
			m.printf("\n")
		default:
			m.causes(s.Requirements)
		}
	}
	m.baseline(r.Baseline)
	if len(m.Skipped) > 0 {
		m.printf("### Skipped (%d)\n\n", len(m.Skipped))
		m.causes(m.Skipped)
	}
	m.closing()
	_, err := io.WriteString(w, m.b.String())
	return err
}

type markdown struct {
	overview.Overview
	b strings.Builder
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.b, format, args...) }

// full tells whether there is no room for more detail; what is left out is counted elsewhere.
func (m *markdown) full() bool { return m.b.Len() > maxMarkdown }

func (m *markdown) opening() {
	s := overview.DisplayVerdictOf(m.Result)
	sign := map[reports.Conclusion]string{reports.Conformant: "✅", reports.NonConformant: "❌"}[s.Tone]
	m.printf("## %s %s\n\n", cmp.Or(sign, "⚠️"), safe.Prose(s.String(), 500))
	m.printf("**%s**\n\n", safe.Prose(overview.Headline(m.Result), 1000))
	m.printf("Target: %s\n\n", safe.MarkdownCode(safe.Ellipsis(overview.Subject(m.Result), 300)))
}

func (m *markdown) failures(failed []*reports.Requirement) {
	m.printf("| Requirement | Level | What is wrong | Expected | Actual |\n|---|---|---|---|---|\n")
	for _, q := range failed {
		if m.full() {
			m.printf("| … | | and more: see the other reports | | |\n")
			break
		}
		findings := m.Findings[q.ID]
		if m.IsBeneath(q, failed) {
			m.printf("| %s | %s | %s | | |\n", linked(q.ID), q.Level, safe.Prose(m.Explained(q), 300))
			continue
		}
		if len(findings) == 0 {
			m.printf("| %s | %s | %s | | |\n", linked(q.ID), q.Level, safe.Prose(q.Reason, 300))
		}
		for i, f := range findings {
			if i == 3 {
				m.printf("| %s | | and %d more | | |\n", linked(q.ID), len(findings)-i)
				break
			}
			m.printf("| %s | %s | %s | %s | %s |\n", linked(q.ID), q.Level, safe.Prose(overview.WhatIsWrong(f), 300),
				cell(f.Expected), cell(f.Actual))
		}
	}
	m.printf("\n")
	m.reproducers(failed)
}

// reproducers folds the commands away: they are long, and only who repairs the fault needs them.
func (m *markdown) reproducers(failed []*reports.Requirement) {
	var b strings.Builder
	for _, q := range failed {
		for i, f := range m.Findings[q.ID] {
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
			var lines []string
			for _, command := range []string{overview.ReplayCommand(m.Result, f), f.Curl, script.Command(m.Result, f, "")} {
				if command != "" {
					lines = append(lines, safe.Line(safe.Cut(command, 2000)))
				}
			}
			b.WriteString(safe.MarkdownBlock("sh", strings.Join(lines, "\n")) + "\n")
		}
	}
	if b.Len() > 0 {
		m.printf("<details><summary>How to see it: the replay commands, and the requests as curl lines</summary>\n\n%s</details>\n\n", b.String())
	}
}

// causes lists requirements that were not judged by what kept them from it.
func (m *markdown) causes(requirements []*reports.Requirement) {
	for _, c := range m.Causes(requirements) {
		if m.full() {
			m.printf("- … and more\n")
			break
		}
		var ids []string
		for _, id := range c.IDs() {
			ids = append(ids, safe.MarkdownCode(id))
		}
		m.printf("- %s: %s\n", safe.Prose(c.What, 500), overview.Some(ids, 30))
	}
	m.printf("\n")
}

func (m *markdown) baseline(b *reports.Baseline) {
	if b == nil || len(b.Misfits()) == 0 {
		return
	}
	m.printf("### Baseline: entries that fail the run\n\n")
	for _, s := range b.Misfits() {
		if !m.full() {
			m.printf("- %s\n", safe.Prose(s, 500))
		}
	}
	m.printf("\n")
}

func (m *markdown) closing() {
	m.printf("| | |\n|---|---|\n")
	for _, row := range overview.Closing(m.Result, m.Result.Run.Flag("--out")) {
		m.printf("| %s | %s |\n", row[0], safe.Prose(row[1], 1000))
	}
}

// linked is an ID that leads to its rule in the specification.
func linked(id string) string {
	if at := overview.RuleURL(id); at != "" {
		return "[" + safe.MarkdownCode(id) + "](" + at + ")"
	}
	return safe.MarkdownCode(id)
}

// cell shows what the target has sent as code, in a cell of a table.
func cell(s string) string {
	if s == "" {
		return ""
	}
	return safe.MarkdownCode(safe.Ellipsis(s, 200))
}
