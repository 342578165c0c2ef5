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
		{Number: 4, Title: "rule M-5", Level: reports.Must, Requirement: "M-5"}, // a requirement that did not fail explains nothing
		{Number: 5, Title: "rule S-1", Level: reports.Should, Requirement: "S-1"},
		{Number: 6, Title: "rule KNOWN-1", Level: reports.Must, Requirement: "KNOWN-1", Known: true},
	}, r.Problems)
}

// TestProblemsOfOneRequirement checks which findings of a requirement are one problem.
func TestProblemsOfOneRequirement(t *testing.T) {
	accepted := reports.Finding{Operation: "list-revisions", Kind: "accepted", Class: "out of range"}
	with := func(change func(f *reports.Finding)) reports.Finding {
		f := accepted
		change(&f)
		return f
	}
	crashed := with(func(f *reports.Finding) { f.Kind, f.Class = "server-error", "negative" })
	shown := with(func(f *reports.Finding) { f.Exchange = 1 })
	later := with(func(f *reports.Finding) {
		f.Operation, f.Kind, f.Exchange, f.Exchanges = "get-deployment", "changed", 2, []reports.Link{{Exchange: 1}, {Exchange: 2}}
	})
	early := reports.Finding{Operation: "join-run", Kind: "too-early", Exchange: 3}
	after := reports.Finding{Operation: "get-state", Kind: "missing-item", Exchange: 2, Exchanges: []reports.Link{{Exchange: 3, Part: reports.Act}}}
	missing := reports.Finding{Operation: "list-threads", Kind: "missing-item"}
	leaked := reports.Finding{Operation: "list-threads", Kind: "leak", Pointer: "/0"}
	for _, c := range []struct {
		name     string
		findings []reports.Finding
		method   string
		want     int
	}{
		{"several inputs", []reports.Finding{accepted, with(func(f *reports.Finding) { f.Class = "not an integer" })}, "GET", 1},
		{"several operations", []reports.Finding{accepted, with(func(f *reports.Finding) { f.Operation = "get-run" })}, "GET", 1},
		{"items of a list", []reports.Finding{with(func(f *reports.Finding) { f.Pointer = "/0" }),
			with(func(f *reports.Finding) { f.Pointer, f.Kind = "/7", "leak" })}, "GET", 1},
		{"a field in a list and in GET", []reports.Finding{with(func(f *reports.Finding) { f.Operation, f.Pointer = "list-revisions", "/resources/3/id" }),
			with(func(f *reports.Finding) { f.Operation, f.Pointer = "get-revision", "/id" })}, "GET", 1},
		{"other fields in a list and in GET", []reports.Finding{with(func(f *reports.Finding) { f.Operation, f.Pointer = "list-revisions", "/resources/3/id" }),
			with(func(f *reports.Finding) { f.Operation, f.Pointer = "get-revision", "/status" })}, "GET", 2},
		{"a list as a whole and an item", []reports.Finding{missing, leaked}, "GET", 1},
		{"another input and another violation", []reports.Finding{accepted, crashed}, "GET", 2},
		{"an exchange that shows both", []reports.Finding{shown, with(func(f *reports.Finding) {
			f.Kind, f.Class, f.Exchange = "wrong-value", "", 1
		})}, "GET", 1},
		{"a read before", []reports.Finding{shown, later}, "GET", 2},
		{"a write that led to it", []reports.Finding{shown, later}, "PATCH", 1},
		{"a join like one that led to it", []reports.Finding{early, after}, "GET", 1},
		{"a class of one finding", []reports.Finding{accepted, with(func(f *reports.Finding) { f.Class, f.Operation = "", "get-run" })}, "GET", 1},
		{"one that is like both others", []reports.Finding{accepted, crashed, with(func(f *reports.Finding) { f.Kind = "server-error" })}, "GET", 1},
		{"a result without kinds", []reports.Finding{with(func(f *reports.Finding) { f.Kind = "" }), crashed}, "GET", 1},
	} {
		r := &reports.Result{Requirements: []reports.Requirement{{ID: "A", Level: reports.Must, Verdict: reports.Failed}},
			Exchanges: reports.Record(nil, reports.Exchange{Method: c.method}, reports.Exchange{Method: "GET"},
				reports.Exchange{Method: "GET", Operation: "join-run"})}
		for _, f := range c.findings {
			f.Requirement = "A"
			r.Findings = append(r.Findings, f)
		}
		reports.SetProblems(r)
		assert.Len(t, r.Problems, c.want, c.name)
	}
}

// TestSeparateProblems checks the content of each problem of a requirement, and that a baseline can cover one of them.
func TestSeparateProblems(t *testing.T) {
	failed := func(id string, explainedBy ...string) reports.Requirement {
		return reports.Requirement{ID: id, Level: reports.Must, Verdict: reports.Failed, ExplainedBy: explainedBy}
	}
	r := &reports.Result{
		Requirements: []reports.Requirement{failed("A"), failed("B", "A"), failed("C", "A")},
		Findings: []reports.Finding{
			{ID: "1", Requirement: "A", Summary: "one", Operation: "x", Kind: "accepted", Class: "a", Known: &reports.Known{}},
			{ID: "2", Requirement: "A", Summary: "two", Operation: "x", Kind: "refused", Class: "b"},
			{ID: "3", Requirement: "B", Summary: "three", Operation: "x", Kind: "refused", Class: "b"},
			{ID: "4", Requirement: "C", Summary: "four", Operation: "z", Kind: "leak", Class: "z"},
		},
	}
	reports.SetProblems(r)
	assert.Equal(t, []reports.Problem{
		{Number: 1, Title: "two", Level: reports.Must, Requirement: "A", Findings: []string{"2", "3"}, Breaks: []string{"B"}},
		{Number: 2, Title: "one", Level: reports.Must, Requirement: "A", Findings: []string{"1", "4"}, Breaks: []string{"C"}, Known: true},
	}, r.Problems)
}
