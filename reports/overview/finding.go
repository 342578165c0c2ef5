package overview

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
)

// ScenarioOf finds the scenario that a finding is from; where it does not say, the one that decided the verdict of q, or nil.
func ScenarioOf(q *reports.Requirement, f *reports.Finding) *reports.Scenario {
	at := slices.IndexFunc(q.Scenarios, func(s reports.Scenario) bool { return f.Scenario == s.Key() })
	if at < 0 {
		at = slices.IndexFunc(q.Scenarios, func(s reports.Scenario) bool { return s.Verdict == q.Verdict })
	}
	if at < 0 {
		return nil
	}
	return &q.Scenarios[at]
}

// WhatIsWrong says in one line what was observed: "expected 404, got 200". Only where nothing was compared does it fall
// back on the summary.
func WhatIsWrong(f *reports.Finding) string { return cmp.Or(f.Observation(), f.Summary) }

var harmless = regexp.MustCompile(`^[\w./:@%+,=~-]+$`)

// ReplayCommand returns the command that judges the finding again, with the target flags of the run that showed it.
func ReplayCommand(r *reports.Result, f *reports.Finding) string {
	if !harmless.MatchString(f.ID) {
		return ""
	}
	flags := cmp.Or(r.Run.Flags("--target", "--agent-target", "--config"), " --config FILE")
	if out := r.Run.Flag("--out"); out != "" {
		flags += " --result " + reports.ShellWord(path.Join(out, "result.json"))
	}
	return "agentconform replay " + f.ID + flags
}

// Story tells what happened in a scenario of q as plain text: the rule, the scenario with the step that failed, and the
// findings.
func (o Overview) Story(q *reports.Requirement, s *reports.Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s %s (%s)\n%s\n", q.ID, q.Level, WhereFrom(q.Section), q.Title)
	if q.Quote != "" {
		fmt.Fprintf(&b, "the interface: %s\n", Quote(q))
	}
	if text := o.Explained(q); text != "" {
		fmt.Fprintf(&b, "%s\n", text)
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
		fmt.Fprintf(&b, "\n%s\nexpected: %s\nactual:   %s\n",
			safe.Cut(WhatIsWrong(f), 1000), safe.Cut(f.Expected, 4000), safe.Cut(f.Actual, 4000))
		for _, line := range [][2]string{{"seen", Seen(f)}, {"where", f.Pointer}, {"hint", f.Hint}, {"request", f.Curl}} {
			if line[1] != "" {
				fmt.Fprintf(&b, "%s: %s\n", line[0], safe.Cut(line[1], 4000))
			}
		}
	}
	return b.String()
}
