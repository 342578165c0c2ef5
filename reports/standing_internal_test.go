package reports

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStanding holds what a person is told first and last to the exit code, in every face.
func TestStanding(t *testing.T) {
	q := func(id string, v Verdict, reason string) Requirement {
		return Requirement{ID: id, Level: Must, Verdict: v, Reason: reason}
	}
	known := func(q Requirement) Requirement { q.Known = &Known{Reason: "old"}; return q }
	stale := []string{"known.yaml:3: A-1 passes; remove the entry"}
	passed, failed := q("A-1", Passed, ""), q("A-2", Failed, "x")
	budget := q("A-3", Skipped, "the budget is used up: raise max_deployments (now 2)")
	for name, c := range map[string]struct {
		requirements []Requirement
		catalogue    int
		baseline     *Baseline
		want, sign   string
		tone         tone
	}{
		"all judged":         {[]Requirement{passed, q("A-3", Skipped, "does not apply: x is nothing of y")}, 2, nil, "conformant", "✅", toneGood},
		"a budget":           {[]Requirement{passed, budget}, 2, nil, "conformant in what was judged: 1 of 2 requirements was not", "✅", toneGood},
		"a key":              {[]Requirement{passed, q("A-3", Skipped, "not configured: set users")}, 2, nil, "conformant in what was judged: 1 of 2 requirements was not", "✅", toneGood},
		"a key for a SHOULD": {[]Requirement{passed, {ID: "A-3", Level: Should, Verdict: Skipped, Reason: "not configured: set users"}}, 2, nil, "conformant", "✅", toneGood},
		"a selection":        {[]Requirement{passed}, 3, nil, "conformant in what was judged: 2 of 3 requirements were not", "✅", toneGood},
		"a profile":          {[]Requirement{passed, q("A-3", Skipped, "not claimed: the run is limited to the profile x")}, 2, nil, "conformant in what was judged: 1 of 2 requirements was not", "✅", toneGood},
		"failed":             {[]Requirement{passed, failed}, 2, &Baseline{New: []string{"A-2 is failed"}}, "non-conformant", "❌", toneBad},
		"known":              {[]Requirement{passed, known(failed)}, 2, &Baseline{}, "non-conformant, all known: the baseline lets it pass (exit 0)", "⚠️", toneAllowed},
		"known and blocked":  {[]Requirement{passed, known(failed), q("A-4", Blocked, "y")}, 3, &Baseline{}, "non-conformant, all known; what else binds could not be judged (exit 3)", "❌", toneBad},
		"known, and stale":   {[]Requirement{passed, known(failed)}, 2, &Baseline{Stale: stale}, "non-conformant, all known, but the baseline does not fit (exit 1): remove known.yaml:3", "❌", toneBad},
		"stale":              {[]Requirement{passed}, 1, &Baseline{Stale: stale}, "conformant, but the baseline does not fit (exit 1): remove known.yaml:3", "❌", toneBad},
		"stale and more":     {[]Requirement{passed}, 1, &Baseline{Stale: stale, Unmatched: []string{"x"}}, "conformant, but the baseline does not fit (exit 1): remove known.yaml:3, and 1 more", "❌", toneBad},
		"expired":            {[]Requirement{passed}, 1, &Baseline{Expired: []string{"k:7: A-1: the entry was"}}, "conformant, but the baseline does not fit (exit 1): the day of k:7 is past", "❌", toneBad},
		"all known, blocked": {[]Requirement{passed, known(q("A-4", Blocked, "y"))}, 2, &Baseline{}, "incomplete, all known: the baseline lets it pass (exit 0)", "⚠️", toneAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Result{Suite: Suite{Requirements: c.catalogue}, Requirements: c.requirements, Verdict: Conclude(c.requirements, false), Baseline: c.baseline}
			s := standingOf(r)
			assert.Equal(t, c.want, s.String())
			assert.Equal(t, c.tone, s.Tone)
			var console, summary, page bytes.Buffer
			require.NoError(t, Console(&console, r, ConsoleOptions{}))
			lines := strings.Split(strings.TrimSpace(console.String()), "\n")
			assert.Contains(t, lines[0], c.want)
			assert.True(t, strings.HasSuffix(lines[len(lines)-1], " "+c.want))
			require.NoError(t, Markdown(&summary, r))
			assert.Contains(t, strings.SplitN(summary.String(), "\n", 2)[0], "## "+c.sign+" "+string(r.Verdict))
			require.NoError(t, HTML(&page, r))
			assert.Contains(t, page.String(), `<header class="top `+string(c.tone)+`">`)
			assert.Contains(t, page.String(), "<title>"+c.want)
		})
	}
}

func TestReasonsWithOneCauseAreOneGroup(t *testing.T) {
	q := func(id, reason string) *Requirement { return &Requirement{ID: id, Verdict: Blocked, Reason: reason} }
	groups := byReason([]*Requirement{
		q("A-1", "PATCH /v2/deployments/1: no answer within 1s"), q("A-2", "a deployment: GET /v2/x?limit=1: cannot connect"),
		q("A-3", "a deployment: POST /v2/y: cannot connect"),
	})
	require.Len(t, groups, 2)
	assert.Equal(t, "a deployment: cannot connect", groups[0].reason)
	assert.Equal(t, "PATCH /v2/deployments/1: no answer within 1s", groups[1].reason, "a reason that all have is shown whole")
}

func TestLeftBehind(t *testing.T) {
	r := &Result{Ledger: []LedgerEntry{{Kind: "deployment", ID: "1"}, {Kind: "deployment", ID: "2", Removed: true}, {Kind: "thread", ID: "3"}}}
	var b bytes.Buffer
	require.NoError(t, Console(&b, r, ConsoleOptions{Out: "out"}))
	assert.Contains(t, b.String(), "\nLeft behind   1 deployment: agentconform clean --ledger out/ledger.jsonl\n")
}

func TestSectionInWords(t *testing.T) {
	assert.Equal(t, "interface, section 5.7", sectionInWords("5.7"))
	assert.Equal(t, "interface, sections 7, 8", sectionInWords("7, 8"))
	assert.Equal(t, "relied on by clients in the field", sectionInWords("field"))
}
