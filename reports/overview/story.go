package overview

import (
	"fmt"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// Story tells what happened in a scenario of q as plain text: the rule, the scenario with the step that failed, and the findings.
func Story(o Overview, q *reports.Requirement, s *reports.Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s %s (%s)\n%s\n", q.ID, q.Level, Section(q.Section), q.Title)
	if q.Quote != "" {
		fmt.Fprintf(&b, "the interface: %s\n", Quote(q))
	}
	fmt.Fprintf(&b, "\n%s:%d %s\n", s.URI, s.Line, s.Name)
	for _, step := range s.Steps {
		sign := " "
		if step.Verdict != reports.Passed && step.Verdict != "" {
			sign = "✗"
		}
		fmt.Fprintf(&b, "  %s %s %s\n", sign, strings.TrimSpace(step.Keyword), step.Text)
	}
	for i, f := range o.Findings[q.ID] {
		if i == 20 {
			b.WriteString("\n… and more findings: see index.html\n")
			break
		}
		if f.Scenario != "" && f.Scenario != s.Key() {
			continue
		}
		fmt.Fprintf(&b, "\n%s\nexpected: %s\nactual:   %s\n", safe.Cut(WhatIsWrong(f), 1000), safe.Cut(f.Expected, 4000), safe.Cut(f.Actual, 4000))
		for _, line := range [][2]string{{"where", f.Pointer}, {"hint", f.Hint}, {"request", f.Curl}} {
			if line[1] != "" {
				fmt.Fprintf(&b, "%s: %s\n", line[0], safe.Cut(line[1], 4000))
			}
		}
	}
	return b.String()
}
