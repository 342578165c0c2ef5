package situations

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
)

// TestFeaturesHaveEachPair checks that the features have a scenario for each check after each event, unless a reason
// leaves the pair out. No more than a fifth of the pairs has such a reason.
func TestFeaturesHaveEachPair(t *testing.T) {
	c, err := features.Load()
	require.NoError(t, err)
	scenarios, leftOut := 0, 0
	for _, p := range Pairs(c) {
		assert.Equal(t, p.Reason == "", p.Scenario != "", "%s: %s", p.Event, p.Check)
		if p.Reason != "" {
			leftOut++
			continue
		}
		scenarios++
	}
	assert.LessOrEqual(t, 5*leftOut, scenarios+leftOut)
	tagged := 0
	for _, s := range c.Scenarios() {
		if s.Is(features.TagSituation) {
			assert.True(t, s.Terms.Writes && !s.Terms.Record, "%s must have @writes and not @record", s.Name)
			tagged++
		}
	}
	assert.Equal(t, scenarios, tagged, "a scenario names an unknown event or check, or lacks its tag")
}

// TestEventsNeedKnownRequirements checks that each requirement that an event needs has a capability.
func TestEventsNeedKnownRequirements(t *testing.T) {
	require.NotNil(t, features.CapabilityOf("AS-ROLLBACK-1"))
	for _, e := range ThreadEvents {
		assert.True(t, e.needs == "" || features.CapabilityOf(e.needs) != nil, "%s: %s", e.Name, e.needs)
	}
}
