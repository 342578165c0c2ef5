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
type decided struct {
	Display                                overview.DisplayVerdict
	Conclusion, Known                      reports.Conclusion
	LeftOut                                reports.LeftOut
	Whole                                  bool
	Failed, Warnings                       string
	Blocked, Inconclusive, Skipped, InPart []string // the members of each group
	Short                                  []string
	Causes                                 [][]string
	BaselineNew, BaselineStale             int
}

func decide(r *reports.Result) decided {
	baseline.Apply(r, &baseline.Baseline{File: "known.yaml", Known: []baseline.Entry{{Requirement: r.Requirements[0].ID, Reason: "r", Owner: "o"}}}, time.Time{})
	o, d := overview.Of(r), overview.DistanceOf(r)
	all := decided{
		Display: overview.DisplayVerdictOf(r), Conclusion: reports.Conclude(r.Requirements, r.Run.Strict), Known: reports.ConcludeKnown(r),
		LeftOut: reports.LeftOutOf(r), Whole: reports.Whole(r), Failed: overview.Names(o.Failed), Warnings: overview.Names(o.Warnings),
		Blocked: groups(o.Blocked), Inconclusive: groups(o.Inconclusive), Skipped: groups(o.Skipped), InPart: groups(overview.SkippedInPart(r)),
		Short: d.Short, BaselineNew: len(r.Baseline.New), BaselineStale: len(r.Baseline.Stale),
	}
	for _, c := range d.Causes {
		all.Causes = append(all.Causes, c.Requirements)
	}
	return all
}

func groups(requirements []*reports.Requirement) []string {
	var all []string
	for _, g := range overview.ByCause(requirements) {
		all = append(all, overview.Names(g.Requirements))
	}
	return all
}

// TestReasonsDecideNothing replaces every reason by the same text: nothing that is decided may change.
func TestReasonsDecideNothing(t *testing.T) {
	results := reporttest.Results()
	delete(results, "empty")
	for name, r := range results {
		t.Run(name, func(t *testing.T) {
			before := decide(r)
			for i := range r.Requirements {
				r.Requirements[i].Reason, r.Requirements[i].Known = "x", nil
				for j := range r.Requirements[i].Scenarios {
					r.Requirements[i].Scenarios[j].Reason = "x"
				}
			}
			assert.Equal(t, before, decide(r))
		})
	}
}
