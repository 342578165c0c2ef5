package overview_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// TestProblemsOfOneRequirement checks the names, commands and scenarios of two problems of one requirement.
func TestProblemsOfOneRequirement(t *testing.T) {
	scenarios := []reports.Scenario{{URI: "u", Line: 1, Verdict: reports.Failed, Reason: "x"}, {URI: "u", Line: 2, Verdict: reports.Failed, Reason: "y"},
		{URI: "u", Line: 3, Verdict: reports.Failed, Reason: "z"}}
	r := &reports.Result{
		Run:          reports.Run{Arguments: []string{"run"}},
		Requirements: []reports.Requirement{{ID: "A-1", Level: reports.Must, Verdict: reports.Failed, Scenarios: scenarios}},
		Findings: []reports.Finding{
			{ID: "aa", Requirement: "A-1", Summary: "one", Kind: "accepted", Class: "a", Scenario: "u:1"},
			{ID: "bb", Requirement: "A-1", Summary: "two", Kind: "refused", Class: "b", Scenario: "u:2"},
			{ID: "cc", Requirement: "A-1", Summary: "more", Kind: "refused", Class: "c", Scenario: "u:2"},
		},
	}
	reports.SetProblems(r)
	o := overview.Of(r)
	var got []string
	for _, p := range o.Problems {
		got = append(got, p.Title, p.Anchor, p.Replay, reports.Joined(",", p.Also...))
	}
	assert.Equal(t, []string{"one", "A-1", "agentconform replay aa", "", "two", "problem-2", "agentconform replay bb", "more"}, got)
	var messages []string
	for s := range reports.Each(r.Requirements[0].Scenarios) {
		_, message := o.OutcomeOf(&r.Requirements[0], s)
		messages = append(messages, message)
	}
	assert.Equal(t, []string{"problem 1: x", "problem 2: y", "z"}, messages)
}

// TestSent checks the body that a problem shows with its request.
func TestSent(t *testing.T) {
	const id = "01a23236-613c-75f5-b16b-a270ef1d62bd"
	for name, c := range map[string]struct{ operation, body, want string }{
		"no body":       {"get-deployment", "", ""},
		"no members":    {"create-thread", " {} ", ""},
		"an update":     {"update-deployment", `{"source": "external_container"}`, `{"source":"external_container"}`},
		"ids are short": {"search-threads", `{"ids":["` + id + `"]}`, `{"ids":["…d62bd"]}`},
		"not JSON":      {"create-thread", `{"metadata"`, `{"metadata"`},
		"no name, no secret": {"create-deployment", `{"name":"n","secrets":[{"name":"A","value":"$B"}],"source":"git_host"}`,
			`{"source":"git_host"}`},
		"an invalid deployment": {"create-deployment", `["name"]`, `["name"]`},
	} {
		x := reports.Exchange{ID: 1, Operation: c.operation, Request: reports.Message{Body: c.body}}
		r := &reports.Result{Exchanges: []reports.Exchange{x}}
		assert.Equal(t, c.want, overview.Sent(r, &reports.Finding{Exchange: 1}), name)
	}
	assert.Empty(t, overview.Sent(&reports.Result{}, &reports.Finding{Exchange: 1}), "not recorded")
}
