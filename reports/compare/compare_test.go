package compare_test

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/compare"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// one makes a result with a single requirement, whose scenarios are x and y.
func one(suite, id string, v reports.Verdict, scenarios ...reports.Verdict) *reports.Result {
	q := reports.Requirement{ID: id, Level: reports.Must, Verdict: v}
	for i, verdict := range scenarios {
		q.Scenarios = append(q.Scenarios, reports.Scenario{Name: string("xy"[i]), Verdict: verdict})
	}
	return &reports.Result{
		Suite: reports.Suite{Version: suite, Requirements: 1}, Target: reports.Target{Implementation: reports.Implementation{Name: "impl"}},
		Requirements: []reports.Requirement{q},
	}
}

func TestChanges(t *testing.T) {
	for name, c := range map[string]struct {
		before, after *reports.Result
		want          []compare.Change // of the last column, by row
	}{
		"the same":                        {one("1", "A-1", "passed"), one("1", "A-1", "passed"), []compare.Change{compare.Same}},
		"a regression":                    {one("1", "A-1", "passed"), one("1", "A-1", "failed"), []compare.Change{compare.Regression}},
		"fixed":                           {one("1", "A-1", "failed"), one("1", "A-1", "passed"), []compare.Change{compare.Fixed}},
		"was blocked, fails":              {one("1", "A-1", "blocked"), one("1", "A-1", "failed"), []compare.Change{compare.Found}},
		"passed, is blocked":              {one("1", "A-1", "passed"), one("1", "A-1", "blocked"), []compare.Change{compare.Unjudged}},
		"failed, is skipped":              {one("1", "A-1", "failed"), one("1", "A-1", "skipped"), []compare.Change{compare.Unjudged}},
		"blocked, is inconclusive":        {one("1", "A-1", "blocked"), one("1", "A-1", "inconclusive"), []compare.Change{compare.Same}},
		"a newer suite, an old check":     {one("1", "A-1", "passed", "passed"), one("2", "A-1", "failed", "failed"), []compare.Change{compare.Regression}},
		"a newer suite, only a new check": {one("1", "A-1", "passed", "passed"), one("2", "A-1", "failed", "passed", "failed"), []compare.Change{compare.Stricter}},
		"a new and a removed requirement": {one("1", "A-1", "passed"), one("2", "A-2", "failed"), []compare.Change{compare.New, compare.Removed}},
	} {
		table := compare.Of(compare.Input{Result: c.before}, compare.Input{Result: c.after})
		var got []compare.Change
		for _, r := range table.Rows {
			got = append(got, r.Cells[1].Change)
		}
		assert.Equal(t, c.want, got, name)
		assert.Equal(t, c.want[0] == compare.Regression, table.Regressed(), name)
	}
}

func TestAFilterDoesNotRemoveRequirements(t *testing.T) {
	part := reporttest.Conformant()
	all := len(part.Requirements)
	part.Requirements = part.Requirements[:3]
	table := compare.Of(compare.Input{Result: reporttest.Conformant()}, compare.Input{Result: part})
	assert.Equal(t, all-4, table.Columns[1].Changes[compare.NotRun], "one of the others was skipped and then left out")
	assert.Equal(t, 2, table.NotJudged)
	assert.Zero(t, table.Columns[1].Changes[compare.Removed])
}

// three compares an older file by an older suite, a newer one, and a result under a label that the target may have chosen.
func three(r *reports.Result) *compare.Table {
	old := reporttest.Conformant()
	old.Suite.Version, old.Target.Implementation.Version = "1.0.0", "4.0.0"
	old.Requirements = slices.DeleteFunc(old.Requirements, func(q reports.Requirement) bool { return q.ID == "CP-CREATE-1" })
	old.Suite.Requirements = len(old.Requirements)
	old.Requirement("CP-LIST-7").Level = reports.May
	old.Requirement("CP-LIST-3").Verdict = reports.Blocked
	r.Suite.Version = cmp.Or(r.Headline, r.Suite.Version)
	return compare.Of(compare.Input{Result: old}, compare.Input{Result: reporttest.Conformant()},
		compare.Input{Label: cmp.Or(r.Headline, "nightly"), Result: r})
}

func TestFormats(t *testing.T) {
	text := func(w io.Writer, r *reports.Result) error { return three(r).Text(w) }
	markdown := func(w io.Writer, r *reports.Result) error { return three(r).Markdown(w) }
	nothing := func(*testing.T, []byte) {}
	noMarkup := func(t *testing.T, doc []byte) { assert.NotRegexp(t, `[^\\]<script`, string(doc)) }
	reporttest.Exporter{File: "three.txt", Write: text, Check: nothing, Limit: 500_000}.Test(t)
	reporttest.Exporter{File: "three.md", Write: markdown, Check: noMarkup, Limit: 500_000}.Test(t)
}

func TestDifferentImplementationsHaveNoRegressions(t *testing.T) {
	other := reporttest.Sample()
	other.Target.Implementation.Name = "Another"
	table := compare.Of(compare.Input{Result: reporttest.Conformant()}, compare.Input{Result: other})
	assert.False(t, table.Regressed())
	var text bytes.Buffer
	require.NoError(t, table.Text(&text))
	assert.NotContains(t, text.String(), "regression")
	assert.Contains(t, text.String(), "fails here only")
	assert.Contains(t, text.String(), "B fails 3 that A passes, passes 0 that A does not\n")
}
