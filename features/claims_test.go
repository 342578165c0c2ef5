package features

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEveryRequirementIsInOneCapability compares the table of capabilities with the features.
func TestEveryRequirementIsInOneCapability(t *testing.T) {
	c, err := Load()
	require.NoError(t, err)
	times, cores := map[string]int{}, map[string]int{}
	for _, capability := range capabilities {
		assert.NotEmpty(t, capability.Title, capability.Name)
		assert.Equal(t, capability.Core, capability.Why != "", "%s: a core has a reason why it is always claimed", capability.Name)
		if capability.Core {
			cores[capability.Profile]++
		}
		for _, id := range capability.Requirements {
			times[id]++
			q := c.Find(id)
			if assert.NotNil(t, q, "%s names %s, which is not a requirement", capability.Name, id) {
				assert.Equal(t, q.Profile, capability.Profile, "%s in %s", id, capability.Name)
			}
		}
	}
	for _, q := range c.Requirements {
		assert.Equal(t, 1, times[q.ID], "%s must be in one capability", q.ID)
	}
	assert.Equal(t, map[string]int{ControlPlane: 1, AgentServer: 1}, cores)
}

func TestClaims(t *testing.T) {
	c, err := Load()
	require.NoError(t, err)
	for claim, want := range map[string]struct {
		lacks    map[string]string // word by requirement
		promised map[string]string // capability by requirement
	}{
		"": {map[string]string{"CP-GET-1": "", "AS-AUTHZ-5": "", "E2E-1": ""}, map[string]string{"CP-GET-1": "", "CP-AUTH-6": ""}},
		"control-plane": {
			map[string]string{"CP-GET-1": "", "CP-AUTH-6": "", "AS-RUN-1": "agent-server", "AS-ROLLBACK-1": "agent-server", "E2E-1": "end-to-end"},
			map[string]string{"CP-GET-1": "control-plane-core", "CP-CREATE-5": "tags", "CP-AUTH-6": "", "CP-GET-3": "", "AS-RUN-1": ""}},
		"rollback": {
			map[string]string{"AS-ROLLBACK-1": "", "AS-RUN-1": "", "AS-AUTH-1": "custom-auth", "CP-GET-1": "control-plane"},
			map[string]string{"AS-ROLLBACK-1": "rollback", "AS-ROLLBACK-9": "rollback", "AS-RUN-1": "agent-server-core", "AS-RUN-6": "", "AS-AUTH-1": ""}},
		"agent-server studio tenants": {
			map[string]string{"AS-AUTH-1": "", "CP-AUTH-6": "", "CP-GET-1": "", "CP-LIST-9": "filters"},
			map[string]string{"AS-AUTHZ-5": "studio", "CP-AUTH-6": "tenants", "CP-GET-1": "control-plane-core", "AS-AUTH-1": "custom-auth"}},
		"end-to-end": {
			map[string]string{"E2E-1": "", "CP-GET-1": "", "AS-RUN-1": "", "AS-ROLLBACK-1": "agent-server", "CP-CREATE-5": "control-plane"},
			map[string]string{"E2E-1": "end-to-end", "AS-RUN-1": "agent-server-core", "AS-ROLLBACK-1": ""}},
		"agent-server-core": {map[string]string{"AS-RUN-1": "", "AS-ROLLBACK-1": "rollback", "CP-GET-1": "control-plane"}, map[string]string{"AS-RUN-1": "agent-server-core"}},
	} {
		claims := Claims(strings.Fields(claim))
		for id, word := range want.lacks {
			assert.Equal(t, word, claims.Lacks(c.Find(id)), "%q lacks %s", claim, id)
		}
		for id, name := range want.promised {
			assert.Equal(t, name, claims.Promised(c.Find(id)), "%q promises %s", claim, id)
		}
	}
}
