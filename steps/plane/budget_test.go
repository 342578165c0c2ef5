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

// TestAScenarioCreatesNoMoreThanItsTagsSay wants what no tag says to be a mistake of the suite, and no verdict about
// the target.
func TestAScenarioCreatesNoMoreThanItsTagsSay(t *testing.T) {
	c := config.Default()
	p := New(&target.Target{Config: &c}, nil, time.Time{})
	one := &Allowance{What: "it creates one", Cost: Cost{Deployments: 1, Revisions: 1}, Shares: []string{"deployment"}}
	ctx := one.Within(t.Context())
	require.NoError(t, p.TakeDeployment(ctx))
	require.NoError(t, p.TakeRevision(ctx, &Deployment{}))
	_, unshared := p.Shared(ctx, p.Fixtures.Long)
	_, _, unleased := p.Lease(ctx, true)
	for name, err := range map[string]error{
		"a second deployment": p.TakeDeployment(ctx),
		"a second revision":   p.TakeRevision(ctx, &Deployment{}),
		"another share":       unshared,
		"one to change":       unleased,
	} {
		o := outcome.Judge(t.Context(), false, "it creates one", err)
		require.NotNil(t, o, name)
		assert.Equal(t, reports.Inconclusive, o.Verdict, name)
		assert.Equal(t, reports.BySuite, o.BlockedBy[0].Kind, name)
		assert.Contains(t, o.Reason, "tag @", name)
	}
}
