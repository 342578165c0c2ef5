package baseline_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// resultOf returns a result in which CP-LIST-3 has a verdict and findings of the kinds, and all other requirements pass.
func resultOf(v reports.Verdict, kinds ...string) *reports.Result {
	r := reporttest.Conformant()
	reporttest.Settle(r.Requirement("CP-LIST-3"), v, "a reason")
	for i, kind := range kinds {
		r.Findings = append(r.Findings, reports.Finding{ID: string(rune('a' + i)), Requirement: "CP-LIST-3", Kind: kind, Summary: kind})
	}
	reports.Tally(r)
	reports.SetProblems(r)
	r.Verdict = reports.ConcludeRun(r)
	return r
}

// TestFlakyKinds applies a flaky entry with the kinds accepted and blocked.
func TestFlakyKinds(t *testing.T) {
	const doc = "version: 1\nflaky:\n  - {requirement: CP-LIST-3, kinds: [accepted, blocked], rate: passed 7 of 10, reason: r, owner: o}\n"
	for name, c := range map[string]struct {
		result *reports.Result
		passes bool
	}{
		"it passes":                             {resultOf(reports.Passed), true},
		"a kind that was seen":                  {resultOf(reports.Failed, "accepted"), true},
		"two violations of a seen kind":         {resultOf(reports.Failed, "accepted", "accepted"), true},
		"another kind":                          {resultOf(reports.Failed, "leak"), false},
		"another kind beside one that was seen": {resultOf(reports.Failed, "accepted", "leak"), false},
		"a failure without a finding":           {resultOf(reports.Failed), false},
		"a verdict that was seen":               {resultOf(reports.Blocked), true},
		"a verdict that was not seen":           {resultOf(reports.Inconclusive), false},
	} {
		assert.Equal(t, c.passes, passesWith(c.result, parse(t, doc)), name)
	}
}

// TestWriteAfterRepetitions writes a baseline after ten repetitions.
func TestWriteAfterRepetitions(t *testing.T) {
	repeated := func(v reports.Verdict, rate reports.Repetitions, kinds ...string) *reports.Result {
		r := resultOf(v, kinds...)
		r.Run.Repeat, r.Run.Repeated = 10, 10
		r.Requirement("CP-LIST-3").Repetitions = rate
		for f := range reports.Each(r.Findings) {
			f.Judged, f.Seen = 10, 10
		}
		return r
	}
	differs := func(failed, blocked int) reports.Repetitions {
		return reports.Repetitions{reports.Passed: 10 - failed - blocked, reports.Failed: failed, reports.Blocked: blocked}
	}
	always := repeated(reports.Failed, differs(10, 0), "accepted", "leak")
	always.Findings[1].Seen = 2
	const known = "version: 1\nknown:\n  - {requirement: CP-LIST-3, reason: known since May, owner: list-team}\n"
	for name, c := range map[string]struct {
		old          string
		result       *reports.Result
		known, flaky []baseline.Entry
	}{
		"it fails in three repetitions": {result: repeated(reports.Failed, differs(3, 0), "accepted", "leak"),
			flaky: []baseline.Entry{{Rate: "passed 7 of 10", Kinds: []string{"accepted", "leak"}}}},
		"it is blocked in one": {result: repeated(reports.Failed, differs(3, 1), "accepted"),
			flaky: []baseline.Entry{{Rate: "passed 6 of 10, could not tell 1", Kinds: []string{"accepted", "blocked"}}}},
		"it fails in each, once in another way": {result: always,
			known: []baseline.Entry{{Finding: "a"}}, flaky: []baseline.Entry{{Finding: "b", Rate: "seen in 2 of 10 attempts"}}},
		"a known failure passes now and then": {old: known, result: repeated(reports.Failed, differs(3, 0), "accepted"),
			flaky: []baseline.Entry{{Rate: "passed 7 of 10", Kinds: []string{"accepted"}, Reason: "known since May", Owner: "list-team"}}},
		"a flaky entry gets the new kind": {
			old:    "version: 1\nflaky:\n  - {requirement: CP-LIST-3, kinds: [leak], reason: old, owner: list-team}\n",
			result: repeated(reports.Failed, differs(3, 0), "accepted"),
			flaky:  []baseline.Entry{{Rate: "passed 7 of 10", Kinds: []string{"leak", "accepted"}, Reason: "old", Owner: "list-team"}}},
		"a flaky entry for every failure stays": {
			old:    "version: 1\nflaky:\n  - {requirement: CP-LIST-3, reason: old, owner: list-team}\n",
			result: repeated(reports.Failed, differs(3, 0), "accepted"),
			flaky:  []baseline.Entry{{Reason: "old", Owner: "list-team"}}},
		"it passes in each": {result: repeated(reports.Passed, differs(0, 0))},
	} {
		path := filepath.Join(t.TempDir(), "known.yaml")
		if c.old != "" {
			require.NoError(t, os.WriteFile(path, []byte(c.old), 0o600))
		}
		_, err := baseline.Write(path, c.result)
		require.NoError(t, err, name)
		b, err := baseline.Load(path)
		require.NoError(t, err, name)
		assert.True(t, passesWith(c.result, b), name)
		assert.True(t, passesWith(resultOf(reports.Passed), b) || len(c.known) > 0, "%s: it is not stale", name)
		for i, list := range [][]baseline.Entry{b.Known, b.Flaky} {
			want := [][]baseline.Entry{c.known, c.flaky}[i]
			require.Len(t, list, len(want), name)
			for j, e := range list {
				assert.Equal(t, "CP-LIST-3", e.Requirement, name)
				assert.Equal(t, []any{want[j].Finding, want[j].Rate, want[j].Kinds}, []any{e.Finding, e.Rate, e.Kinds}, name)
				if want[j].Reason != "" {
					assert.Equal(t, []string{want[j].Reason, want[j].Owner}, []string{e.Reason, e.Owner}, name)
				}
			}
		}
	}
}

// TestCommentOfAnotherFinding writes a baseline again after its flaky finding was not seen. The comment above the entry
// must not be about the finding that was seen.
func TestCommentOfAnotherFinding(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.yaml")
	const old = "version: 1\nflaky:\n  - {requirement: CP-LIST-3, finding: z, reason: old, owner: list-team}\n"
	require.NoError(t, os.WriteFile(path, []byte(old), 0o600))
	_, err := baseline.Write(path, resultOf(reports.Failed, "accepted"))
	require.NoError(t, err)
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(written), "  # not seen in the last test run\n  - requirement: CP-LIST-3\n    finding: z\n")
}
