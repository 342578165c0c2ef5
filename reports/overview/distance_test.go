package overview_test

import (
	"testing"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/internal/sample"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/stretchr/testify/assert"
)

func TestDistance(t *testing.T) {
	assert.Equal(t, "6 MUSTs short of conformant, 2 with one cause: the deployment of the fixture could not be updated: PATCH answered 500 (see CP-ERROR-3)", overview.DistanceOf(sample.Faulty()).String())
	assert.Equal(t, "nothing is missing", overview.DistanceOf(sample.Conformant()).String())
	assert.Equal(t, "15 MUSTs short of conformant, all with one cause: nothing answers at http://127.0.0.1:8123: connection refused", overview.DistanceOf(sample.Unreachable()).String())
	assert.Equal(t, "nothing that binds was judged", overview.DistanceOf(&reports.Result{}).String())

	left := sample.Conformant()
	left.Suite.Requirements += 5
	left.Requirements[1].Skip = &reports.Skip{Kind: reports.OverBudget, Key: "max_deployments"}
	assert.Equal(t, "nothing is missing in what was judged: 8 of 23 requirements were not", overview.DistanceOf(left).String())

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
