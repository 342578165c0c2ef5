package situations

import (
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

// TestFeaturesHaveEachPair checks that the features have a scenario for each event with each check, unless the pair is
// left out for a reason. At most a fifth of the pairs is left out.
func TestFeaturesHaveEachPair(t *testing.T) {
	c, err := features.Load()
	require.NoError(t, err)
	if *addRows {
		addMissing(t, Pairs(c))
		c, err = features.Parse(os.DirFS("../../features"))
		require.NoError(t, err)
	}
	scenarios, leftOut := 0, 0
	for _, p := range Pairs(c) {
		switch {
		case p.Reason == "" && p.Scenario == "":
			t.Errorf("the features lack a scenario; add it by hand or with -add-rows: %s: %s", p.Event, p.Check)
		case p.Reason != "" && p.Scenario != "":
			t.Errorf("%s: remove the scenario, since %s", p.Scenario, p.Reason)
		}
		if p.Scenario != "" {
			scenarios++
		}
		if p.Reason != "" {
			leftOut++
		}
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

// TestRefusedRunOwnsItsMessages checks that the text of a refused run in a state blocks a check that fails.
func TestRefusedRunOwnsItsMessages(t *testing.T) {
	refused := refusedRun{&agent.GraphRun{Inputs: []string{"word-1."}}, "AS-AUTHZ-2"}
	thread := &Thread{refused: []refusedRun{refused}}
	for name, c := range map[string]struct {
		text    string
		found   error
		verdict reports.Verdict
	}{
		"the refused run has written": {"word-1.", outcome.Fails(nil, outcome.Violation{}), reports.Blocked},
		"another run has written":     {"word-2.", outcome.Fails(nil, outcome.Violation{}), reports.Failed},
		"the check is inconclusive":   {"word-1.", outcome.Inconclusive("no evidence"), reports.Inconclusive},
	} {
		state := judgetest.Response(http.StatusOK, `{"values":{"messages":[{"type":"human","content":"`+c.text+`"}]}}`)
		assert.True(t, outcome.Is(thread.unlessRefused(state, c.found), c.verdict), name)
		assert.NoError(t, thread.unlessRefused(state, nil), name)
	}
}

// TestEventsNeedKnownRequirements checks that each requirement that an event needs has a capability.
func TestEventsNeedKnownRequirements(t *testing.T) {
	require.NotNil(t, features.CapabilityOf("AS-ROLLBACK-1"))
	for _, e := range ThreadEvents {
		assert.True(t, e.needs == "" || features.CapabilityOf(e.needs) != nil, "%s: %s", e.Name, e.needs)
	}
}
