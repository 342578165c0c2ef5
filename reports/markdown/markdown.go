// Package markdown writes a short summary of a result for the page of a CI job or a pull request.
package markdown

import (
	"fmt"
	"io"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/reports/script"
)

// maxMarkdown is the length after which details are omitted. CI systems show at most 1 MiB for all steps together.
const maxMarkdown = 200 << 10

// maxSentences is the maximum number of sentences in a list.
const maxSentences = 50

// Write writes the summary of r, problems first. Errors are those of w.
func Write(w io.Writer, r *reports.Result) error {
	m := &markdown{Overview: overview.Of(r)}
	m.opening()
	m.support()
	m.problems()
	if r.Baseline != nil {
		m.list("Baseline: entries that fail the test run", r.Baseline.Problems())
	}
	m.list("Different results in the repetitions", m.Rates())
	m.list("Could not tell", overview.Texts(m.CouldNotTell()))
	m.list("Not tested", overview.Texts(m.NotTested()))
	m.printf("| | |\n|---|---|\n")
	for _, row := range m.Closing(r.Run.Flag("--out")) {
		m.printf("| %s | %s |\n", row[0], safe.Prose(row[1], 1000))
	}
	if label, text := m.NextStep(); text != "" {
		m.printf("| %s | %s |\n", label, safe.MarkdownCode(safe.Line(text)))
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

// support writes the table of the capabilities.
func (m *markdown) support() {
	rows, untested := m.SupportTable()
	if len(rows) == 0 {
		return
	}
	m.printf("| Capability | Result | Requirements |\n|---|---|---|\n")
	for _, s := range rows {
		m.printf("| %s: %s | %s %s | %s |\n", safe.MarkdownCode(safe.Ellipsis(s.Name, 100)), safe.Prose(s.Title, 200), signs[s.Class], s.Class, s.Counts())
	}
	if len(untested) > 0 {
		m.printf("| %s | %s %s | |\n", safe.Prose(strings.Join(untested, ", "), 500), signs[overview.NotTested], overview.NotTested)
	}
	m.printf("\n")
}

var signs = map[overview.Class]string{overview.Passed: "✅", overview.Failed: "❌", overview.CouldNotTell: "⚠️", overview.NotTested: "➖"}

// problems writes the problems as a table, and then the commands that reproduce them in a closed section, because they
// are long.
func (m *markdown) problems() {
	if len(m.Problems) == 0 {
		return
	}
	m.printf("### Problems (%d)\n\n", len(m.Problems))
	m.printf("| | Problem | Request | Expected | Got |\n|---|---|---|---|---|\n")
	for i, p := range m.Problems {
		if m.full() {
			m.printf("| … | and %d more: see the other reports | | | |\n", len(m.Problems)-i)
			break
		}
		title := fmt.Sprintf("%s<br>%s %s", safe.Prose(p.Title, 300), p.Level, linked(p.Problem.Requirement))
		if p.BreaksToo != "" {
			title += ", breaks " + safe.Prose(p.BreaksToo, 300)
		}
		if p.Known {
			title += ", in the baseline: " + safe.Prose(p.Entry().String(), 300)
		}
		request := cell(p.Request)
		if p.Sent != "" {
			request += "<br>" + cell(p.Sent)
		}
		m.printf("| %d | %s | %s | %s | %s |\n", p.Number, title, request, safe.Prose(p.Expected, 200), safe.Prose(p.Got, 200))
	}
	m.printf("\n<details><summary>Commands that reproduce the problems</summary>\n\n")
	for _, p := range m.Problems {
		if f := p.First(); f != nil && f.Curl != "" && !m.full() {
			m.reproducer(p, f)
		}
	}
	m.printf("</details>\n\n")
}

func (m *markdown) reproducer(p overview.Problem, f *reports.Finding) {
	m.printf("**%d. %s** — %s\n\n", p.Number, safe.Prose(p.Title, 300), safe.Prose(p.Owner.Title, 300))
	if p.Owner.Quote != "" {
		m.printf("> %s\n\n", safe.Prose(p.Owner.Quote, 400))
	}
	run := &m.Result.Run
	var lines []string
	note := m.Result.CurlNote(f)
	if note != "" {
		note = "# " + note
	}
	for _, command := range []string{p.Replay, script.Command(m.Result, f, run.Out()), note, f.Curl} {
		if command != "" {
			lines = append(lines, safe.Line(safe.Cut(command, 2000)))
		}
	}
	m.printf("%s\n", safe.MarkdownBlock("sh", strings.Join(lines, "\n")))
}

// list writes a section with a list of sentences.
func (m *markdown) list(title string, sentences []string) {
	if len(sentences) == 0 {
		return
	}
	m.printf("### %s\n\n", title)
	for i, sentence := range sentences {
		if i == maxSentences || m.full() {
			m.printf("- … and more\n")
			break
		}
		m.printf("- %s\n", safe.Prose(sentence, 1000))
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
