package overview_test

import (
	"testing"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReasonsWithOneCauseAreOneGroup(t *testing.T) {
	q := func(id, reason string) *reports.Requirement {
		return &reports.Requirement{ID: id, Verdict: reports.Blocked, Reason: reason}
	}
	groups := overview.ByCause([]*reports.Requirement{
		q("A-1", "PATCH /v2/deployments/1: no answer within 1s"), q("A-2", "a deployment: GET /v2/x?limit=1: cannot connect"),
		q("A-3", "a deployment: POST /v2/y: cannot connect"),
	})
	require.Len(t, groups, 2)
	assert.Equal(t, "a deployment: cannot connect", groups[0].Reason)
	assert.Equal(t, "PATCH /v2/deployments/1: no answer within 1s", groups[1].Reason, "a reason that all have is shown whole")
}

func TestSectionInWords(t *testing.T) {
	assert.Equal(t, "interface, section 5.7", overview.Section("5.7"))
	assert.Equal(t, "interface, sections 7, 8", overview.Section("7, 8"))
	assert.Equal(t, "relied on by clients in the field", overview.Section("field"))
}
