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
	assert.False(t, slices.ContainsFunc(faulty.Causes, func(c overview.Cause) bool {
		return slices.Contains(c.Requirements, "CP-CONTRACT-list-revisions") && slices.Contains(c.Requirements, "CP-LIST-3")
	}), "one exchange shows two faults: a wrong status, and a wrong value in the body")
	assert.Contains(t, faulty.String(), fmt.Sprintf("%d MUSTs, ", len(faulty.Short)))
	assert.Equal(t, "none; 1 of 16 requirements not judged", overview.DistanceOf(recorded.Conformant()).String())
	unreachable := recorded.Unreachable()
	unreachable.Suite.Requirements = 0
	reports.SetScope(unreachable, nil)
	assert.Equal(t, "14 MUSTs, all with one cause: http://127.0.0.1:8123 does not answer: connection refused", overview.DistanceOf(unreachable).String())
	assert.Equal(t, "no MUST was judged", overview.DistanceOf(&reports.Result{}).String())

	claimed := recorded.Conformant()
	recorded.Requirement(claimed, "CP-AUTH-6").Claimed = "tenants"
	assert.Equal(t, "claimed and not judged: tenants (set other_tenant.api_key); 1 of 16 requirements not judged", overview.DistanceOf(claimed).String())

	left := recorded.Conformant()
	left.Suite.Requirements += 5
	reports.SetScope(left, make([]reports.NotJudged, 5))
	assert.Equal(t, "none; 6 of 21 requirements not judged", overview.DistanceOf(left).String())
	recorded.Skip(recorded.Requirement(left, "CP-LIST-6"), reports.Skip{Kind: reports.OverBudget, Key: "max_deployments"}, "r")
	reports.SetScope(left, make([]reports.NotJudged, 5))
	assert.Equal(t, "none; 7 of 21 requirements not judged", overview.DistanceOf(left).String())

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
	assert.Equal(t, []overview.Cause{{[]string{"A-1", "A-3"}, "x"}, {[]string{"A-2", "B-1"}, "y"}}, d.Causes)
	assert.Equal(t, "5 MUSTs (1 in the baseline), 4 of them with 2 causes", d.String())
	r.Requirements = r.Requirements[:4]
	assert.Equal(t, "4 MUSTs (1 in the baseline), all with 2 causes", overview.DistanceOf(r).String())
}

// TestIndependentFaultsAreNoGroup fails eight requirements at the same place of the answers of one operation, each shown by
// an exchange of its own, and two by one exchange: only these and what one of them blocks have one cause.
func TestIndependentFaultsAreNoGroup(t *testing.T) {
	r := &reports.Result{}
	fail := func(id string, exchange int, pointer string) {
		r.Requirements = append(r.Requirements, reports.Requirement{ID: id, Level: reports.Must, Verdict: reports.Failed})
		r.Findings = append(r.Findings, reports.Finding{Requirement: id, Summary: id, Operation: "get-state", Pointer: pointer, Exchange: exchange})
	}
	block := func(id string, by ...string) {
		q := reports.Requirement{ID: id, Level: reports.Must, Verdict: reports.Blocked}
		for _, name := range by {
			q.BlockedBy = append(q.BlockedBy, reports.Blocker{Kind: reports.ByRequirement, Name: name})
		}
		r.Requirements = append(r.Requirements, q)
	}
	for i := range 8 {
		fail(fmt.Sprintf("A-%d", i), i+1, "/values/messages")
	}
	fail("B-1", 8, "/values/messages/0/type") // a place in that of A-7
	fail("B-2", 8, "/created_at")             // another fault that the exchange shows
	fail("B-3", 0, "")
	fail("B-4", 0, "")
	block("C-1", "A-7")
	block("C-2", "A-1", "A-2") // it says nothing of having one cause
	block("C-3", "A-1", "A-2")
	d := overview.DistanceOf(r)
	assert.Equal(t, []overview.Cause{{[]string{"A-7", "B-1", "C-1"}, "A-7"}, {[]string{"C-2", "C-3"}, "A-1 failed or could not be judged; A-2 failed or could not be judged"}}, d.Causes)
}
