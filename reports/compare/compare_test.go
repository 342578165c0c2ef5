package compare_test

import (
	"bytes"
	"cmp"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/compare"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// result returns a result with a single requirement. Its scenarios are x, y and so on.
func result(suite, id string, v reports.Verdict, scenarios ...reports.Verdict) *reports.Result {
	q := reports.Requirement{ID: id, Level: reports.Must, Verdict: v}
	for i, verdict := range scenarios {
		q.Scenarios = append(q.Scenarios, reports.Scenario{Name: string("xyz"[i]), Verdict: verdict})
	}
	return &reports.Result{
		Suite: reports.Suite{Version: suite, Requirements: 1}, Target: reports.Target{Implementation: reports.Implementation{Name: "impl"}},
		Requirements: []reports.Requirement{q},
	}
}

func TestChanges(t *testing.T) {
	for name, c := range map[string]struct {
		before, after *reports.Result
		want          []compare.Change // changes in the last column, by row
	}{
		"the same":                        {result("1", "A-1", "passed"), result("1", "A-1", "passed"), []compare.Change{compare.Same}},
		"a regression":                    {result("1", "A-1", "passed"), result("1", "A-1", "failed"), []compare.Change{compare.Regression}},
		"fixed":                           {result("1", "A-1", "failed"), result("1", "A-1", "passed"), []compare.Change{compare.Fixed}},
		"was blocked, passes":             {result("1", "A-1", "blocked"), result("1", "A-1", "passed"), []compare.Change{compare.Judged}},
		"was blocked, fails":              {result("1", "A-1", "blocked"), result("1", "A-1", "failed"), []compare.Change{compare.Found}},
		"passed, is blocked":              {result("1", "A-1", "passed"), result("1", "A-1", "blocked"), []compare.Change{compare.Unjudged}},
		"failed, is skipped":              {result("1", "A-1", "failed"), result("1", "A-1", "skipped"), []compare.Change{compare.Unjudged}},
		"blocked, is inconclusive":        {result("1", "A-1", "blocked"), result("1", "A-1", "inconclusive"), []compare.Change{compare.Same}},
		"a newer suite, an old check":     {result("1", "A-1", "passed", "passed"), result("2", "A-1", "failed", "failed"), []compare.Change{compare.Regression}},
		"a newer suite, only a new check": {result("1", "A-1", "passed", "passed"), result("2", "A-1", "failed", "passed", "failed"), []compare.Change{compare.Stricter}},
		"a new and a removed requirement": {result("1", "A-1", "passed"), result("2", "A-2", "failed"), []compare.Change{compare.New, compare.Removed}},
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
	assert.Equal(t, all-4, table.Columns[1].Changes[compare.NotRun], "one of the excluded requirements was skipped")
	assert.Equal(t, 2, table.NotJudged)
	assert.Zero(t, table.Columns[1].Changes[compare.Removed])

	part.Capabilities = nil
	var page bytes.Buffer
	require.NoError(t, table.HTML(&page))
	assert.Contains(t, page.String(), ">not selected<")
	assert.NotContains(t, page.String(), "not in its suite")
}

// compareThree compares a result of an older suite, a newer result, and r under a label that the target may have chosen.
func compareThree(r *reports.Result) *compare.Table {
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
	text := func(w io.Writer, r *reports.Result) error { return compareThree(r).Text(w) }
	markdown := func(w io.Writer, r *reports.Result) error { return compareThree(r).Markdown(w) }
	noMarkup := func(t *testing.T, doc []byte) { assert.NotRegexp(t, `[^\\]<script`, string(doc)) }
	reporttest.Exporter{File: "three.txt", Write: text, Limit: 500_000}.Test(t)
	reporttest.Exporter{File: "three.md", Write: markdown, Check: noMarkup, Limit: 500_000}.Test(t)
	page := func(w io.Writer, r *reports.Result) error { return compareThree(r).HTML(w) }
	reporttest.Exporter{File: "three.html", Write: page, Check: isStatic, Golden: mainOf, Limit: 500_000}.Test(t)
}

// isStatic checks that a page has no script, loads nothing, and forbids both.
func isStatic(t *testing.T, doc []byte) {
	t.Helper()
	assert.True(t, bytes.Contains(doc, []byte(`content="default-src &#39;none&#39;; style-src &#39;sha256-`)))
	assert.Empty(t, regexp.MustCompile(`(?i)<(script|img|link|iframe|object|base|form)\b|@import|url\(`).Find(doc))
	assert.False(t, bytes.Contains(doc, []byte("ZgotmplZ")))
}

// mainOf returns the part of a page that is about the results.
func mainOf(doc []byte) []byte {
	start, end := bytes.Index(doc, []byte("<main")), bytes.Index(doc, []byte("</footer>"))
	return doc[start:end]
}

// TestCellsOfThePageAreLinks checks that cells lead to the requirement or the capabilities in the report of their result.
func TestCellsOfThePageAreLinks(t *testing.T) {
	table := compare.Of(compare.Input{Result: reporttest.Conformant(), Report: "../a%20b/index.html"}, compare.Input{Result: reporttest.Sample()})
	var b bytes.Buffer
	require.NoError(t, table.HTML(&b))
	assert.Contains(t, b.String(), `<a href="../a%20b/index.html#CP-LIST-3">`)
	assert.Contains(t, b.String(), `<a href="../a%20b/index.html#support">`)
	assert.Equal(t, 1, strings.Count(b.String(), `#CP-LIST-3"`), "the second result has no report")
}

func TestEqualNamesAreReplacedByFilesOrDates(t *testing.T) {
	same := result("1", "A-1", "passed")
	table := compare.Of(compare.Input{File: "before.json", Result: same}, compare.Input{Result: same},
		compare.Input{Label: "nightly", Result: same})
	assert.Equal(t, "before.json", table.Columns[0].Label)
	assert.Equal(t, "0001-01-01 00:00:00", table.Columns[1].Label)
	assert.Equal(t, "nightly", table.Columns[2].Label)
}

func TestDifferentImplementationsHaveNoRegressions(t *testing.T) {
	other := reporttest.Sample()
	other.Target.Implementation.Name = "Another"
	table := compare.Of(compare.Input{Result: reporttest.Conformant()}, compare.Input{Result: other})
	assert.False(t, table.Regressed())
	assert.Equal(t, 3, table.Columns[1].Changes[compare.Regression]+table.Columns[1].Changes[compare.Stricter])
	var text strings.Builder
	require.NoError(t, table.Text(&text))
	assert.Contains(t, text.String(), ": Another 4.7.1 fails 3 more\n")
}
