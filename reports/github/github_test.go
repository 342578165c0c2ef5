package github_test

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/github"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
)

// command matches an annotation. GitHub ends its properties at the next "::".
var command = regexp.MustCompile(`^::(?:error|warning) (?:file=[^:,\r]+,)?title=[^:,\r]+::[^\r]*$`)

// TestAnnotations checks that each line is one annotation, whatever the target sends.
func TestAnnotations(t *testing.T) {
	write := func(w io.Writer, r *reports.Result) error { return github.Annotations(w, r, "agentconform-out") }
	check := func(t *testing.T, doc []byte) {
		t.Helper()
		for line := range strings.Lines(string(doc)) {
			assert.Regexp(t, command, strings.TrimSuffix(line, "\n"))
		}
	}
	reporttest.Exporter{File: "annotations.txt", Write: write, Check: check, Limit: 50_000}.Test(t)
}

func annotationsOf(t *testing.T, r *reports.Result, folder string) []string {
	t.Helper()
	reports.SetProblems(r)
	reports.Tally(r)
	var b bytes.Buffer
	require.NoError(t, github.Annotations(&b, r, folder))
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// TestAnnotationsHaveTheTextUnchanged checks the escapes, and which failures have an annotation.
func TestAnnotationsHaveTheTextUnchanged(t *testing.T) {
	const awkward = "100% of 50%25\n::error file=a,line=1::b, c: d %0A ##[error]e"
	const escaped = "100%25 of 50%2525%0A::error file=a,line=1::b, c: d %250A ##[error]e"
	of := func(id string, level reports.Level, change func(*reports.Requirement)) reports.Requirement {
		q := reports.Requirement{ID: id, Level: level, Title: "T,:%", Verdict: reports.Failed, Reason: awkward}
		if change != nil {
			change(&q)
		}
		return q
	}
	r := &reports.Result{Verdict: reports.NonConformant, Baseline: &reports.Baseline{File: "known.yaml", Stale: []string{"old: %"}},
		Requirements: []reports.Requirement{
			of("A", reports.Must, nil),
			of("B", reports.Must, func(q *reports.Requirement) { q.ExplainedBy = []string{"A"} }),
			of("C", reports.Must, func(q *reports.Requirement) { q.Known = &reports.Known{Reason: "r"} }),
			of("D", reports.Must, func(q *reports.Requirement) { q.Verdict = reports.Passed }),
			of("E", reports.Should, nil),
			of("F", reports.Should, func(q *reports.Requirement) { q.Binding = true }),
		}}
	const rule = "%0AMUST: T,:%25"
	assert.Equal(t, []string{
		"::error title=1. A T%2C%3A%25::" + escaped + rule + "%0ABreaks B too",
		"::error title=2. F T%2C%3A%25::" + escaped + "%0ASHOULD: T,:%25",
		"::warning title=3. E T%2C%3A%25::" + escaped + "%0ASHOULD: T,:%25",
		"::error file=known.yaml,title=baseline::old: %25",
	}, annotationsOf(t, r, "out"))

	stopped := &reports.Result{Verdict: reports.Incomplete, Headline: "no answer"}
	assert.Equal(t, []string{"::error title=exit code 3::no requirement was tested; no answer"}, annotationsOf(t, stopped, "out"))
	known := &reports.Result{Verdict: reports.NonConformant, Baseline: &reports.Baseline{File: "known.yaml"},
		Requirements: []reports.Requirement{of("A", reports.Must, func(q *reports.Requirement) { q.Known = &reports.Known{Reason: "r"} })}}
	assert.Contains(t, annotationsOf(t, known, "out")[0], "(all failures are in the baseline; no other MUST was tested, exit 3)")
	passed := &reports.Result{Verdict: reports.Conformant, Requirements: []reports.Requirement{{ID: "A", Level: reports.Must, Verdict: reports.Passed}}}
	assert.Equal(t, []string{""}, annotationsOf(t, passed, "out"))
}

func TestOutputs(t *testing.T) {
	r := &reports.Result{Verdict: reports.NonConformant}
	r.Counts.Requirements = map[reports.Verdict]int{reports.Failed: 4}
	var b bytes.Buffer
	require.NoError(t, github.Outputs(&b, r, "re ports=%0A$(x)", "delimiter"))
	assert.Equal(t, "verdict=non-conformant\ncounts={\"failed\":4}\nreport<<delimiter\nre ports=%0A$(x)/index.html\ndelimiter\n", b.String())

	b.Reset()
	r.Run.Arguments = []string{"run", "--reports", "junit"}
	require.NoError(t, github.Outputs(&b, r, "reports/", "delimiter"))
	assert.Contains(t, b.String(), "\nreports/result.json\n", "the page is not written")
}

func TestError(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, github.Error(&b, "no answer\n::error::x"))
	assert.Equal(t, "::error title=agentconform::no answer%0A::error::x\n", b.String())
}
