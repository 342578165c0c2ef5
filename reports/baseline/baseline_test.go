package baseline_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/overview"
)

var today = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

var limitFinding = reporttest.Finding(reporttest.Faulty(), "CP-LIST-3").ID

// allKnown covers all failures that make the recorded test run non-conformant.
var allKnown = `version: 1
known:
  - {requirement: CP-LIST-3, finding: ` + limitFinding + `, reason: r, owner: o}
  - {requirement: CP-LIST-13, reason: r, owner: o, expires: 2026-03-14}
  - {requirement: CP-CONTRACT-list-revisions, reason: r, owner: o}
  - {requirement: CP-UPDATE-1, reason: r, owner: o}
  - {requirement: CP-LIST-6, reason: r, owner: o}
  - {requirement: CP-LIST-7, reason: r, owner: o}
  - {requirement: AS-ROLLBACK-3, reason: r, owner: o}
  - {requirement: AS-ROLLBACK-4, reason: r, owner: o}
  - {requirement: AS-ROLLBACK-5, reason: r, owner: o}
flaky:
  - {requirement: AS-CONTRACT-list-threads, reason: slow machines, owner: o}
`

func parse(t *testing.T, doc string) *baseline.Baseline {
	t.Helper()
	b, err := baseline.Parse("known.yaml", []byte(doc))
	require.NoError(t, err)
	return b
}

// passesWith applies a baseline and reports whether the test run passes with it.
func passesWith(r *reports.Result, b *baseline.Baseline) bool {
	baseline.Apply(r, b, today)
	return overview.Of(r).Display().Exit == 0
}

// problems has, for each kind of problem, the requirement or place in the only problem of that kind. An empty text means
// that there is none.
type problems struct{ fresh, stale, expired, unmatched string }

func (p problems) check(t *testing.T, b *reports.Baseline, name string) {
	t.Helper()
	for want, got := range map[*string][]string{&p.fresh: b.New, &p.stale: b.Stale, &p.expired: b.Expired, &p.unmatched: b.Unmatched} {
		if *want == "" {
			assert.Empty(t, got, name)
		} else if assert.Len(t, got, 1, name) {
			assert.Contains(t, got[0], *want, name)
		}
	}
}

func TestApply(t *testing.T) {
	replace := func(old, new string) string {
		require.Contains(t, allKnown, old)
		return strings.Replace(allKnown, old, new, 1)
	}
	add := func(entry string) string { return replace("flaky:", "  - {"+entry+", reason: r, owner: o}\nflaky:") }
	for name, c := range map[string]struct {
		doc  string
		want problems
	}{
		"all failures are known": {allKnown, problems{}},
		"new failure":            {replace("  - {requirement: CP-LIST-13, reason: r, owner: o, expires: 2026-03-14}\n", ""), problems{fresh: "CP-LIST-13"}},
		"stale":                  {add("requirement: CP-CREATE-1"), problems{stale: "known.yaml:12: CP-CREATE-1"}},
		"unknown requirement":    {add("requirement: CP-LIST-99"), problems{unmatched: "known.yaml:12: CP-LIST-99"}},
		"other finding":          {add("requirement: CP-LIST-3, finding: 000000000000"), problems{unmatched: "known.yaml:12: CP-LIST-3 000000000000"}},
		"expired":                {add("requirement: CP-GET-3, expires: 2026-03-13"), problems{expired: "known.yaml:12: CP-GET-3"}},
		"a warning may be known": {add("requirement: CP-GET-3"), problems{}},
		"skipped is idle":        {add("requirement: CP-UPDATE-3"), problems{}},
		"blocked is idle":        {add("requirement: CP-LIST-6, finding: 000000000000"), problems{}},
		"flaky passes":           {replace("AS-CONTRACT-list-threads", "AS-ROLLBACK-1"), problems{fresh: "AS-CONTRACT-list-threads"}},
	} {
		r := reporttest.Faulty()
		r.Suite.Requirements = len(r.Requirements) // the catalogue is complete, so an unknown requirement is a mistake
		assert.Equal(t, c.want == problems{}, passesWith(r, parse(t, c.doc)), name)
		c.want.check(t, r.Baseline, name)
		assert.Equal(t, reports.NonConformant, r.Verdict, "the verdict does not change")
	}
	r := reporttest.Faulty()
	another := *reporttest.Finding(r, "CP-LIST-3")
	another.ID, another.Summary = "f-second", "limit=0 returned 200"
	r.Findings = append(r.Findings, another)
	r.Requirements = slices.DeleteFunc(r.Requirements, func(q reports.Requirement) bool { return q.ID == "CP-LIST-7" })
	assert.False(t, passesWith(r, parse(t, allKnown)), "an entry for a finding covers no other finding; an entry for an excluded requirement is idle")
	problems{fresh: "f-second"}.check(t, r.Baseline, "second finding")

	r = reporttest.Faulty()
	passesWith(r, parse(t, allKnown))
	assert.Equal(t, &reports.Known{Reason: "r", Owner: "o"}, reporttest.Finding(r, "CP-LIST-3").Known)
	assert.NotNil(t, r.Requirement("CP-LIST-3").Known, "each of its findings has an entry")
	assert.True(t, r.Requirement("AS-CONTRACT-list-threads").Known.Flaky)
	assert.Equal(t, []int{9, 1}, []int{r.Baseline.Known, r.Baseline.Flaky})
}

func TestAKnownCauseCoversWhatItExplains(t *testing.T) {
	entry := "  - {requirement: AS-ROLLBACK-4, reason: r, owner: o}\n"
	require.Contains(t, allKnown, entry)
	without := strings.Replace(allKnown, entry, "", 1)
	for name, c := range map[string]struct {
		causes  []string
		subject string
		doc     string
		passes  bool
	}{
		"no cause":                     {nil, "", without, false},
		"its cause is known":           {[]string{"AS-ROLLBACK-3"}, "", without, true},
		"another cause is new":         {[]string{"AS-ROLLBACK-3", "CP-GET-3"}, "", without, false},
		"a risk for users":             {[]string{"AS-ROLLBACK-3"}, "security", without, false},
		"the entry of another finding": {[]string{"AS-ROLLBACK-3"}, "", strings.Replace(allKnown, entry, strings.Replace(entry, ", reason", ", finding: 000000000000, reason", 1), 1), false},
	} {
		r := reporttest.Faulty()
		q := r.Requirement("AS-ROLLBACK-4")
		q.ExplainedBy, q.Subject = c.causes, c.subject
		assert.Equal(t, c.passes, passesWith(r, parse(t, c.doc)), name)
	}
}

func TestWrittenBaselineMakesTheSameRunPass(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.yaml")
	for name, text := range reporttest.HostileTexts() {
		require.NoError(t, os.RemoveAll(path))
		written, err := baseline.Write(path, reporttest.Hostile(text))
		require.NoError(t, err)
		b, err := baseline.Load(path)
		require.NoError(t, err, name)
		assert.Len(t, b.Known, len(written.Known), name)
		assert.True(t, passesWith(reporttest.Hostile(text), b), name)
	}
	require.NoError(t, os.RemoveAll(path))
	written, err := baseline.Write(path, reporttest.Faulty())
	require.NoError(t, err)
	assert.Contains(t, written.Incomplete(), "CP-LIST-3")
	assert.Len(t, written.Incomplete(), 9, "each requirement is listed once")
	assert.True(t, written.Names("CP-LIST-3"))
	doc, err := os.ReadFile(path)
	require.NoError(t, err)
	finding := reporttest.Finding(reporttest.Faulty(), "CP-LIST-3")
	assert.Contains(t, string(doc), "  # "+finding.Summary+`
  - requirement: CP-LIST-3
    finding: `+finding.ID+`
    reason: 'TODO: why does it fail, and what will be done about it?'
    owner: 'TODO: who is responsible?'
    expires: "2026-06-12"
`)
	assert.NotContains(t, string(doc), "CP-GET-3", "a warning does not fail the test run")
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "the temporary file was removed")
}

func TestWriteKeepsEntriesThatStillApply(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.yaml")
	old := strings.Replace(allKnown, "reason: r, owner: o}", "reason: the release of May, owner: list-team}", 1) // an entry of CP-LIST-3
	old = strings.Replace(old, "  - {requirement: CP-LIST-13", "  - {requirement: CP-CREATE-1, reason: r, owner: o}\n  - {requirement: CP-LIST-13", 1)
	require.NoError(t, os.WriteFile(path, []byte(old), 0o600))
	written, err := baseline.Write(path, reporttest.Faulty())
	require.NoError(t, err)
	assert.Empty(t, written.Incomplete())
	b, err := baseline.Load(path)
	require.NoError(t, err)
	assert.True(t, passesWith(reporttest.Faulty(), b))
	assert.Len(t, b.Known, 9, "the entry of the passing requirement was removed")
	assert.Len(t, b.Flaky, 1)
	doc, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(doc), "reason: the release of May")
	assert.NotContains(t, string(doc), "TODO")

	require.NoError(t, os.WriteFile(path, []byte("version: 9"), 0o600))
	_, err = baseline.Write(path, reporttest.Faulty())
	assert.ErrorContains(t, err, "repair or remove it")
}

func TestParseExplainsMistakes(t *testing.T) {
	entry := "- {requirement: A-1, reason: r, owner: o"
	tests := []struct{ name, doc, want string }{
		{"no YAML", "version: [", "known.yaml:2: did not find expected node content"},
		{"no version", "known: []", `known.yaml: version 0 is unknown; this program reads "version: 1"`},
		{"unknown key", "version: 1\nknwon: []", "known.yaml:2: field knwon not found; a baseline has the keys version, known and flaky"},
		{"key twice", "version: 1\nversion: 1", `known.yaml:2: mapping key "version" already defined at line 1`},
		{"unknown key in entry", "version: 1\nknown:\n" + entry + ", why: x}", "known.yaml:3: field why not found; a baseline has the keys"},
		{"no owner", "version: 1\nknown:\n- {requirement: A-1, reason: r}", "known.yaml:3: every entry needs a requirement, a reason and an owner"},
		{"bad day", "version: 1\nflaky:\n" + entry + ", expires: soon}", `known.yaml:3: expires "soon" is not a date; write it as 2026-12-31`},
		{"entry twice", "version: 1\nknown:\n" + entry + "}\n" + entry + "}", "known.yaml:4: A-1 already has an entry in line 3; keep one"},
		{"two documents", "version: 1\n---\nversion: 1", "expected single document, found multiple"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := baseline.Parse("known.yaml", []byte(tt.doc))
			assert.ErrorContains(t, err, tt.want)
		})
	}
	large := filepath.Join(t.TempDir(), "large.yaml")
	require.NoError(t, os.WriteFile(large, []byte(strings.Repeat("#", 300<<10)), 0o600))
	_, err := baseline.Load(large)
	assert.ErrorContains(t, err, "larger than 262144 bytes")
	_, err = baseline.Load("there/is/none.yaml")
	assert.ErrorContains(t, err, "write one with --write-baseline")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(allKnown))
	f.Add([]byte("version: 1\nknown: [{requirement: &a A, reason: *a, owner: o}]"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		b, err := baseline.Parse("x", doc)
		if err == nil {
			baseline.Apply(reporttest.Faulty(), b, today)
		}
	})
}
