package compare_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/compare"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/safe"
)

func scenario(name string, v reports.Verdict) reports.Scenario {
	return reports.Scenario{Name: name, Verdict: v}
}

// one makes a result with a single requirement.
func one(version string, q reports.Requirement) *reports.Result {
	q.Level = reports.Must
	return &reports.Result{
		Suite: reports.Suite{Version: version, Requirements: 1}, Target: reports.Target{Implementation: reports.Implementation{Name: "impl"}},
		Requirements: []reports.Requirement{q},
	}
}

func TestChanges(t *testing.T) {
	q := func(id string, v reports.Verdict, scenarios ...reports.Scenario) reports.Requirement {
		return reports.Requirement{ID: id, Verdict: v, Scenarios: scenarios}
	}
	tests := []struct {
		name          string
		before, after *reports.Result
		want          []compare.Change // of the last column, by row
	}{
		{"the same", one("1", q("A-1", "passed")), one("1", q("A-1", "passed")), []compare.Change{compare.Same}},
		{"a regression", one("1", q("A-1", "passed")), one("1", q("A-1", "failed")), []compare.Change{compare.Regression}},
		{"fixed", one("1", q("A-1", "failed")), one("1", q("A-1", "passed")), []compare.Change{compare.Fixed}},
		{"was blocked, fails", one("1", q("A-1", "blocked")), one("1", q("A-1", "failed")), []compare.Change{compare.Found}},
		{"was skipped, fails", one("1", q("A-1", "skipped")), one("1", q("A-1", "failed")), []compare.Change{compare.Found}},
		{"passed, is blocked", one("1", q("A-1", "passed")), one("1", q("A-1", "blocked")), []compare.Change{compare.Unjudged}},
		{"failed, is skipped", one("1", q("A-1", "failed")), one("1", q("A-1", "skipped")), []compare.Change{compare.Unjudged}},
		{"blocked, is inconclusive", one("1", q("A-1", "blocked")), one("1", q("A-1", "inconclusive")), []compare.Change{compare.Same}},
		{
			"a newer suite, the old check fails",
			one("1", q("A-1", "passed", scenario("x", "passed"))), one("2", q("A-1", "failed", scenario("x", "failed"))), []compare.Change{compare.Regression},
		},
		{
			"a newer suite, only a new check fails",
			one("1", q("A-1", "passed", scenario("x", "passed"))), one("2", q("A-1", "failed", scenario("x", "passed"), scenario("y", "failed"))),
			[]compare.Change{compare.Stricter},
		},
		{
			"a new and a removed requirement",
			one("1", q("A-1", "passed")), one("2", q("A-2", "failed")), []compare.Change{compare.New, compare.Removed},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			table, err := compare.Of(compare.Input{Result: tt.before}, compare.Input{Result: tt.after})
			require.NoError(t, err)
			var got []compare.Change
			for _, r := range table.Rows {
				got = append(got, r.Cells[1].Change)
			}
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.want[0] == compare.Regression, table.Regressed())
		})
	}
}

func TestAFilterDoesNotRemoveRequirements(t *testing.T) {
	part := reporttest.Conformant()
	all := len(part.Requirements)
	part.Requirements = part.Requirements[:3]
	table, err := compare.Of(compare.Input{Result: reporttest.Conformant()}, compare.Input{Result: part})
	require.NoError(t, err)
	assert.Equal(t, all-4, table.Columns[1].Changes[compare.NotRun], "one of the others was skipped and then left out")
	assert.Equal(t, 2, table.NotJudged)
	assert.Zero(t, table.Columns[1].Changes[compare.Removed])
}

// three are the reference, a faulty version of it, and an older file by an older suite.
func three(t *testing.T) *compare.Table {
	t.Helper()
	old, faulty := reporttest.Conformant(), reporttest.Faulty()
	old.Suite.Version, old.Target.Implementation.Version = "1.0.0", "4.0.0"
	old.Requirements = slices.DeleteFunc(old.Requirements, func(q reports.Requirement) bool { return q.ID == "CP-CREATE-1" })
	old.Suite.Requirements = len(old.Requirements)
	reports.SetScope(old, nil)
	reporttest.Requirement(old, "CP-LIST-7").Level = reports.Should
	faulty.Suite.Requirements = len(faulty.Requirements)
	reports.SetScope(faulty, nil)
	table, err := compare.Of(compare.Input{Result: old}, compare.Input{Result: reporttest.Conformant()}, compare.Input{Label: "nightly", Result: faulty})
	require.NoError(t, err)
	return table
}

func TestFormats(t *testing.T) {
	table := three(t)
	var text, markdown bytes.Buffer
	require.NoError(t, table.Text(&text))
	require.NoError(t, table.Markdown(&markdown))
	reporttest.Golden(t, "three.txt", text.Bytes())
	reporttest.Golden(t, "three.md", markdown.Bytes())
	assert.Contains(t, text.String(), "nightly: 8 regressions, 0 fixed since Example Server 4.0.0")
	assert.Contains(t, text.String(), "B was a SHOULD")
}

func TestDifferentImplementationsHaveNoRegressions(t *testing.T) {
	other := reporttest.Faulty()
	other.Target.Implementation.Name = "Another"
	table, err := compare.Of(compare.Input{Result: reporttest.Conformant()}, compare.Input{Result: other})
	require.NoError(t, err)
	assert.False(t, table.Regressed())
	var text bytes.Buffer
	require.NoError(t, table.Text(&text))
	assert.NotContains(t, text.String(), "regression")
	assert.Contains(t, text.String(), "fails here only")
	assert.Contains(t, text.String(), "B fails 8 that A passes, passes 0 that A fails\n")
}

func TestAColumnWithoutANameIsAnAddress(t *testing.T) {
	unnamed := reporttest.Conformant()
	unnamed.Target.Implementation = reports.Implementation{}
	table, err := compare.Of(compare.Input{Result: unnamed}, compare.Input{Result: reporttest.Faulty()})
	require.NoError(t, err)
	assert.Equal(t, unnamed.Target.ControlPlane, table.Columns[0].Label)
}

func TestFormatsOfHostileResultsAreHarmless(t *testing.T) {
	for name, hostile := range reporttest.HostileTexts() {
		t.Run(name, func(t *testing.T) {
			bad := reporttest.Hostile(hostile)
			bad.Suite.Version = hostile
			table, err := compare.Of(compare.Input{Result: reporttest.Conformant()}, compare.Input{Label: hostile, Result: bad})
			require.NoError(t, err)
			var text, markdown bytes.Buffer
			require.NoError(t, table.Text(&text))
			require.NoError(t, table.Markdown(&markdown))
			for _, b := range []*bytes.Buffer{&text, &markdown} {
				assert.Equal(t, safe.Visible(b.String()), b.String())
				assert.Less(t, b.Len(), 500_000)
			}
			assert.NotContains(t, strings.ReplaceAll(markdown.String(), `\<script`, ""), "<script")
		})
	}
}
