package reports_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

func TestProblems(t *testing.T) {
	failed := func(id string, level reports.Level, explainedBy ...string) reports.Requirement {
		return reports.Requirement{ID: id, Title: "rule " + id, Level: level, Verdict: reports.Failed, ExplainedBy: explainedBy}
	}
	leak, known, binding := failed("LEAK-1", reports.Should), failed("KNOWN-1", reports.Must), failed("S-2", reports.Should)
	leak.Subject, known.Known, binding.Binding = "isolation", &reports.Known{}, true
	r := &reports.Result{
		Requirements: []reports.Requirement{
			known, failed("S-1", reports.Should), binding, failed("M-1", reports.Must), failed("M-2", reports.Must, "M-1"),
			failed("M-3", reports.Must, "M-2"), failed("M-4", reports.Must, "M-1", "LEAK-1"), failed("M-5", reports.Must, "PASSED-1"),
			leak, {ID: "PASSED-1", Verdict: reports.Passed}, {ID: "B-1", Verdict: reports.Blocked},
		},
		Findings: []reports.Finding{
			{ID: "f3", Requirement: "M-3", Summary: "three"}, {ID: "f1", Requirement: "M-1", Summary: "one"},
			{ID: "f2", Requirement: "M-1", Summary: "two"},
		},
	}
	reports.SetProblems(r)
	assert.Equal(t, []reports.Problem{
		{Number: 1, Title: "rule LEAK-1", Level: reports.Should, Requirement: "LEAK-1", Breaks: []string{"M-4"}},
		{Number: 2, Title: "rule S-2", Level: reports.Should, Requirement: "S-2"},
		{Number: 3, Title: "one", Level: reports.Must, Requirement: "M-1", Findings: []string{"f1", "f2", "f3"},
			Breaks: []string{"M-2", "M-3", "M-4"}},
		{Number: 4, Title: "rule M-5", Level: reports.Must, Requirement: "M-5"}, // what did not fail explains nothing
		{Number: 5, Title: "rule S-1", Level: reports.Should, Requirement: "S-1"},
		{Number: 6, Title: "rule KNOWN-1", Level: reports.Must, Requirement: "KNOWN-1", Known: true},
	}, r.Problems)
}
