package reports

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatDoesNotBindIsAWarning(t *testing.T) {
	r := &Result{Verdict: Conformant, Requirements: []Requirement{
		{ID: "A-1", Level: Must, Verdict: Passed, Scenarios: []Scenario{{Verdict: Passed}, {Verdict: Skipped, Reason: "not configured: set users"}, {Verdict: Skipped, Reason: "not configured: set users"}}},
		{ID: "A-2", Level: Should, Verdict: Failed, Reason: "expected x"},
	}}
	Tally(r)
	assert.Equal(t, 1, r.Counts.Requirements[Failed], "the file counts what failed")
	assert.Equal(t, "1 passed, 1 warning", requirementsInWords(r))
	assert.Equal(t, "nothing that binds is missing, 1 SHOULD is not kept", DistanceOf(r).String())
	var b bytes.Buffer
	require.NoError(t, Console(&b, r, ConsoleOptions{}))
	assert.Contains(t, b.String(), "\nSKIPPED IN PART (1) these passed, and some of their scenarios were not judged\n  in part, not configured: set users: A-1\n")
	r.Requirements = append(r.Requirements, Requirement{ID: "A-3", Level: May, Verdict: Failed})
	r.Suite.Requirements = 4
	assert.Equal(t, "nothing that binds is missing in what was judged, 1 SHOULD and 1 MAY are not kept: 1 of 4 requirements was not judged", DistanceOf(r).String())
	r.Run.Strict = true
	assert.Equal(t, "1 passed, 1 failed, 1 warning", requirementsInWords(&Result{Run: r.Run, Requirements: r.Requirements, Counts: Counts{Requirements: map[Verdict]int{Passed: 1, Failed: 2}}}))
}
