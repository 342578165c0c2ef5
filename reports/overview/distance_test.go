package overview_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/recorded"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/stretchr/testify/assert"
)

func TestDistance(t *testing.T) {
	faulty := overview.DistanceOf(recorded.Faulty())
	assert.True(t, slices.ContainsFunc(faulty.Causes, func(c overview.Cause) bool {
		return slices.Contains(c.Requirements, "CP-CONTRACT-list-revisions") && slices.Contains(c.Requirements, "CP-LIST-3")
	}), "one exchange shows both")
	assert.Contains(t, faulty.String(), fmt.Sprintf("%d MUSTs short of conformant, ", len(faulty.Short)))
	assert.Equal(t, "nothing is missing", overview.DistanceOf(recorded.Conformant()).String())
	unreachable := recorded.Unreachable()
	unreachable.Suite.Requirements = 0
	assert.Equal(t, "14 MUSTs short of conformant, all with one cause: http://127.0.0.1:8123 does not answer: connection refused", overview.DistanceOf(unreachable).String())
	assert.Equal(t, "nothing that binds was judged", overview.DistanceOf(&reports.Result{}).String())

	left := recorded.Conformant()
	left.Suite.Requirements += 5
	assert.Equal(t, "nothing is missing in what was judged: 6 of 21 requirements were not", overview.DistanceOf(left).String())
	recorded.Skip(recorded.Requirement(left, "CP-LIST-6"), reports.Skip{Kind: reports.OverBudget, Key: "max_deployments"}, "r")
	assert.Equal(t, "nothing is missing in what was judged: 7 of 21 requirements were not", overview.DistanceOf(left).String())

	one := func(id, reason string, by ...reports.Blocker) reports.Requirement {
		return reports.Requirement{ID: id, Level: reports.Must, Verdict: reports.Blocked, Reason: reason, BlockedBy: by}
	}
	fixture := func(name string) reports.Blocker { return reports.Blocker{Kind: reports.ByFixture, Name: name} }
	r := &reports.Result{Requirements: []reports.Requirement{
		one("A-1", "x", fixture("f")), one("A-2", "after it", reports.Blocker{Kind: reports.ByRequirement, Name: "B-1"}),
		one("B-1", "y.", fixture("g")), one("A-3", "x", fixture("f")), one("C-1", "x"),
	}}
	r.Requirements[2].Known = &reports.Known{Reason: "r"}
	d := overview.DistanceOf(r)
	assert.Equal(t, []overview.Cause{{[]string{"A-2", "B-1"}, "y"}, {[]string{"A-1", "A-3"}, "x"}}, d.Causes)
	assert.Equal(t, "5 MUSTs short of conformant (1 known), 4 of them with 2 causes", d.String())
}
