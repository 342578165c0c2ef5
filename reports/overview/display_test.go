package overview_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
)

// TestDisplayVerdict holds what a person reads first and last to the exit code of a run with a baseline, or of a part.
func TestDisplayVerdict(t *testing.T) {
	q := func(id string, v reports.Verdict, reason string) reports.Requirement {
		return reports.Requirement{ID: id, Level: reports.Must, Verdict: v, Reason: reason}
	}
	known := func(q reports.Requirement) reports.Requirement { q.Known = &reports.Known{Reason: "old"}; return q }
	stale := []string{"known.yaml:3: A-1 passes; remove the entry"}
	passed, failed := q("A-1", reports.Passed, ""), q("A-2", reports.Failed, "x")
	for name, c := range map[string]struct {
		requirements []reports.Requirement
		catalogue    int
		baseline     *reports.Baseline
		want         string
		tone         reports.Conclusion
	}{
		"known and blocked":  {[]reports.Requirement{passed, known(failed), q("A-4", reports.Blocked, "y")}, 3, &reports.Baseline{}, "non-conformant (all failures are in the baseline; other MUSTs could not be judged, exit 3)", reports.NonConformant},
		"known, and stale":   {[]reports.Requirement{passed, known(failed)}, 2, &reports.Baseline{Stale: stale}, "non-conformant (all failures are in the baseline, but known.yaml:3 passes now: remove it, exit 1)", reports.NonConformant},
		"stale and more":     {[]reports.Requirement{passed}, 1, &reports.Baseline{Stale: stale, Unmatched: []string{"x"}}, "conformant (in the baseline known.yaml:3 passes now: remove it, and 1 more, exit 1)", reports.NonConformant},
		"expired":            {[]reports.Requirement{passed}, 1, &reports.Baseline{Expired: []string{"k:7: A-1: the entry was"}}, "conformant (in the baseline k:7 has expired, exit 1)", reports.NonConformant},
		"all known, blocked": {[]reports.Requirement{passed, known(q("A-4", reports.Blocked, "y"))}, 2, &reports.Baseline{}, "incomplete (all failures are in the baseline, exit 0)", overview.Allowed},
	} {
		t.Run(name, func(t *testing.T) {
			r := &reports.Result{Suite: reports.Suite{Requirements: c.catalogue}, Requirements: c.requirements, Verdict: reports.Conclude(c.requirements, false), Baseline: c.baseline}
			var absent []reports.NotJudged
			for range c.catalogue - len(c.requirements) {
				absent = append(absent, reports.NotJudged{Kind: reports.NotSelected})
			}
			reports.SetScope(r, absent)
			s := overview.DisplayVerdictOf(r)
			assert.Equal(t, c.want, s.String())
			assert.Equal(t, c.tone, s.Tone)
		})
	}
}
