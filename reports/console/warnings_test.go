package console_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/overview"
)

func TestWhatDoesNotBindIsAWarning(t *testing.T) {
	users := &reports.Skip{Kind: reports.NotConfigured, Key: "users"}
	r := &reports.Result{Verdict: reports.Conformant, Requirements: []reports.Requirement{
		{ID: "A-1", Level: reports.Must, Verdict: reports.Passed, Scenarios: []reports.Scenario{{Verdict: reports.Passed}, {Verdict: reports.Skipped, Skip: users, Reason: "not configured: set users"}, {Verdict: reports.Skipped, Skip: users, Reason: "not configured: set users"}}},
		{ID: "A-2", Level: reports.Should, Verdict: reports.Failed, Reason: "expected x"},
	}}
	reports.Tally(r)
	assert.Equal(t, 1, r.Counts.Requirements[reports.Failed], "the file counts what failed")
	assert.Equal(t, "1 passed, 1 warning", overview.CountsOf(r).String())
	assert.Equal(t, "all MUSTs pass, 1 SHOULD not met", overview.Remaining(r))
	var b bytes.Buffer
	require.NoError(t, console.Write(&b, r, console.Options{}))
	assert.Contains(t, b.String(), "\nSKIPPED (1): not judged\n  partly: not configured: set users: A-1\n")
	r.Requirements = append(r.Requirements, reports.Requirement{ID: "A-3", Level: reports.May, Verdict: reports.Failed})
	r.Suite.Requirements, r.NotJudged = 4, []reports.NotJudged{{ID: "A-4", Kind: reports.NotSelected}}
	assert.Equal(t, "all MUSTs pass, 1 SHOULD and 1 MAY not met; 1 of 4 requirements not judged", overview.Remaining(r))
	r.Run.Strict = true
	assert.Equal(t, "1 passed, 1 failed, 1 warning, 1 not judged", overview.CountsOf(r).String())
}
