package plane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// TestAllowanceIsEnforced checks that a scenario that creates or uses more than its tags declare ends with an error of
// the suite, and not with a verdict about the target.
func TestAllowanceIsEnforced(t *testing.T) {
	c := config.Default()
	p := New(&target.Target{Config: &c}, nil, time.Time{})
	a := &Allowance{Name: "it creates one", Cost: Cost{Deployments: 1, Revisions: 1}, Shares: []string{"deployment"}}
	ctx := a.Within(t.Context())
	require.NoError(t, p.TakeDeployment(ctx))
	require.NoError(t, p.TakeRevision(ctx, &Deployment{}))
	_, sharedErr := p.Shared(ctx, p.Fixtures.Long)
	_, _, leaseErr := p.Lease(ctx, true)
	for name, err := range map[string]error{
		"a second deployment": p.TakeDeployment(ctx),
		"a second revision":   p.TakeRevision(ctx, &Deployment{}),
		"another fixture":     sharedErr,
		"one to change":       leaseErr,
	} {
		o := outcome.Judge(t.Context(), false, "it creates one", err)
		require.NotNil(t, o, name)
		assert.Equal(t, reports.Inconclusive, o.Verdict, name)
		assert.Equal(t, reports.BySuite, o.BlockedBy[0].Kind, name)
		assert.Contains(t, o.Reason, "tag @", name)
	}
}
