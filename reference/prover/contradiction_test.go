package prover

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
)

func TestContradiction(t *testing.T) {
	owner := func(v reports.Verdict) reports.Requirement { return reports.Requirement{ID: "CP-A-1", Verdict: v} }
	blocked := func(by ...reports.Blocker) reports.Requirement {
		return reports.Requirement{ID: "CP-B-1", Scenarios: []reports.Scenario{{Verdict: reports.Blocked, BlockedBy: by}}}
	}
	byOwner := reports.Blocker{Kind: reports.ByRequirement, Name: "CP-A-1"}
	byKey := reports.Blocker{Kind: reports.ByKey, Name: "users"}
	for name, c := range map[string]struct {
		requirements []reports.Requirement
		is           bool
	}{
		"the owner has passed":             {[]reports.Requirement{owner(reports.Passed), blocked(byOwner)}, true},
		"the owner has failed":             {[]reports.Requirement{owner(reports.Failed), blocked(byOwner)}, false},
		"the owner was not selected":       {[]reports.Requirement{blocked(byOwner)}, false},
		"the owner and something else":     {[]reports.Requirement{owner(reports.Passed), blocked(byOwner, byKey)}, false},
		"nothing is blocked":               {[]reports.Requirement{owner(reports.Passed), blocked()}, false},
		"a key with the name of the owner": {[]reports.Requirement{owner(reports.Passed), blocked(reports.Blocker{Kind: reports.ByKey, Name: "CP-A-1"})}, false},
	} {
		assert.Equal(t, c.is, contradiction(&reports.Result{Requirements: c.requirements}) != "", name)
	}
}

func TestUnclear(t *testing.T) {
	for name, c := range map[string]struct {
		finding reports.Finding
		is      bool
	}{
		"the values differ":                {reports.Finding{Expected: "422", Actual: "200"}, false},
		"the values are equal":             {reports.Finding{Expected: "422", Actual: "422"}, true},
		"only the first lines are equal":   {reports.Finding{Expected: "a\nb", Actual: "a\nc"}, true},
		"there is neither of these values": {reports.Finding{}, false},
	} {
		assert.Equal(t, c.is, unclear(&reports.Result{Findings: []reports.Finding{c.finding}}) != "", name)
	}
}
