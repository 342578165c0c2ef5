package overview_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/baseline"
	"github.com/agentconform/agentconform/reports/internal/reporttest"
	"github.com/agentconform/agentconform/reports/overview"
)

// decided is all that reports decide about a result.
func decided(r *reports.Result) []any {
	known := &baseline.Baseline{File: "known.yaml", Known: []baseline.Entry{{Requirement: r.Requirements[0].ID, Reason: "r", Owner: "o"}}}
	baseline.Apply(r, known, time.Time{})
	o := overview.Of(r)
	all := []any{overview.DisplayVerdictOf(r), reports.Conclude(r.Requirements, r.Run.Strict), reports.ConcludeKnown(r), r.LeftOut(),
		len(r.Baseline.New), len(r.Baseline.Stale), overview.Remaining(r)}
	for _, list := range [][]overview.Cause{o.Causes(o.Skipped), o.SkippedInPart(), o.Causes(o.Classes[overview.Failed]),
		o.Causes(o.Classes[overview.Blocked]), o.Causes(o.Classes[overview.Inconclusive]), o.Causes(o.Classes[overview.Warning])} {
		for _, c := range list {
			all = append(all, c.IDs())
		}
	}
	return all
}

// TestReasonsDecideNothing replaces every reason by the same text: nothing that is decided may change.
func TestReasonsDecideNothing(t *testing.T) {
	for name, r := range reporttest.Results() {
		if name == "empty" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			before := decided(r)
			for i := range r.Requirements {
				r.Requirements[i].Reason, r.Requirements[i].Known = "x", nil
				for j := range r.Requirements[i].Scenarios {
					r.Requirements[i].Scenarios[j].Reason = "x"
				}
			}
			assert.Equal(t, before, decided(r))
		})
	}
}
