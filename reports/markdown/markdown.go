// Package markdown writes a short summary of a result for the page of a CI job or a pull request.
package markdown

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/script"
)

// maxMarkdown is the length after which details are omitted. CI systems show at most 1 MiB for all steps together.
const maxMarkdown = 200 << 10

// maxFindings is the maximum number of findings of a requirement.
const maxFindings = 3

// Write writes the summary of r, failures first. Errors are those of w.
func Write(w io.Writer, r *reports.Result) error {
	m := &markdown{Overview: overview.Of(r)}
	m.opening()
	for _, s := range m.Problems() {
		m.printf("### %s (%d)\n\n", s.Title, len(s.Requirements))
		switch s.Class {
		case overview.Failed, overview.Warning:
			m.failures(s)
		case overview.Known:
			for _, q := range s.Requirements {
				m.printf("- %s %s: %s\n", safe.MarkdownCode(q.ID), q.Verdict, safe.Prose(q.Known.String(), 500))
			}
			m.printf("\n")
		default:
			m.causes(s.Requirements)
		}
	}
	if r.Baseline != nil && len(r.Baseline.Problems()) > 0 {
		m.printf("### Baseline: entries that fail the test run\n\n")
		for _, s := range r.Baseline.Problems() {
			if !m.full() {
				m.printf("- %s\n", safe.Prose(s, 500))
			}
		}
		m.printf("\n")
	}
	if skipped := m.Skipped(); len(skipped) > 0 {
		m.printf("### Skipped (%d)\n\n", len(skipped))
		m.causes(skipped)
	}
	m.printf("| | |\n|---|---|\n")
	for _, row := range m.Closing(r.Run.Flag("--out")) {
		m.printf("| %s | %s |\n", row[0], safe.Prose(row[1], 1000))
	}
	_, err := io.WriteString(w, m.b.String())
	return err
}

type markdown struct {
	overview.Overview
	b strings.Builder
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(&m.b, format, args...) }

// full reports whether further details must be omitted.
func (m *markdown) full() bool { return m.b.Len() > maxMarkdown }

func (m *markdown) opening() {
	s := m.Display()
	sign := "⚠️"
	switch s.Tone {
	case reports.Conformant:
		sign = "✅"
	case reports.NonConformant:
		sign = "❌"
	}
	m.printf("## %s %s\n\n", sign, safe.Prose(s.String(), 500))
	m.printf("**%s**\n\n", safe.Prose(m.Headline(), 1000))
	m.printf("Target: %s\n\n", safe.MarkdownCode(safe.Ellipsis(m.Subject(), 300)))
}

func (m *markdown) failures(s overview.Section) {
	m.printf("| Requirement | Level | Finding | Expected | Actual |\n|---|---|---|---|---|\n")
	row := func(q *reports.Requirement, text, expected, actual string) {
		m.printf("| %s | %s | %s | %s | %s |\n", linked(q.ID), q.Level, safe.Prose(text, 300), cell(expected), cell(actual))
	}
	for i, q := range s.Requirements {
		findings := m.Findings[q.ID]
		switch {
		case m.full():
			m.printf("| … | | and %d more: see the other reports | | |\n\n", len(s.Requirements)-i)
			return
		case s.Explained[q.ID]:
			row(q, m.Explanation(q), "", "")
			continue
		case len(findings) == 0:
			row(q, q.Reason, "", "")
		}
		for _, f := range findings[:min(len(findings), maxFindings)] {
			row(q, f.Observation(), f.Expected, f.Actual)
		}
		if more := len(findings) - maxFindings; more > 0 {
			row(q, fmt.Sprintf("and %d more", more), "", "")
		}
	}
	m.printf("\n")
	m.reproducers(s.Requirements)
}

// reproducers writes the commands in a closed section, because they are long and few readers need them.
func (m *markdown) reproducers(failed []*reports.Requirement) {
	if !slices.ContainsFunc(failed, func(q *reports.Requirement) bool { return len(m.Findings[q.ID]) > 0 }) {
		return
	}
	m.printf("<details><summary>Commands that reproduce the findings</summary>\n\n")
	for _, q := range failed {
		findings := m.Findings[q.ID]
		for _, f := range findings[:min(len(findings), maxFindings)] {
			if f.Curl == "" || m.full() {
				break
			}
			m.printf("**%s** — %s\n\n", safe.Prose(q.ID, 100), safe.Prose(q.Title, 300))
			if q.Quote != "" {
				m.printf("> %s\n\n", safe.Prose(q.Quote, 400))
			}
			if f.Step != "" {
				m.printf("Failed at: %s\n\n", safe.Prose(f.Step, 300))
			}
			run := &m.Result.Run
			var lines []string
			for _, command := range []string{run.ReplayCommand(f), f.Curl, script.Command(m.Result, f, run.Out())} {
				if command != "" {
					lines = append(lines, safe.Line(safe.Cut(command, 2000)))
				}
			}
			m.printf("%s\n", safe.MarkdownBlock("sh", strings.Join(lines, "\n")))
		}
	}
	m.printf("</details>\n\n")
}

// causes lists requirements that were not judged, grouped by cause.
func (m *markdown) causes(requirements []*reports.Requirement) {
	for _, c := range m.Causes(requirements) {
		if m.full() {
			m.printf("- … and more\n")
			break
		}
		m.printf("- %s: %s\n", safe.Prose(c.Reason, 500), safe.Prose(overview.Names(c.Requirements), 1000))
	}
	m.printf("\n")
}

// linked returns an ID with a link to its rule in the specification.
func linked(id string) string { return "[" + safe.MarkdownCode(id) + "](" + reports.RuleURL(id) + ")" }

// cell returns text of the target as code for a table.
func cell(s string) string {
	if s == "" {
		return ""
	}
	return safe.MarkdownCode(safe.Ellipsis(s, 200))
}
