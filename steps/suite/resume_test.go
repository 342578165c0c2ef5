package suite

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
)

// TestRequestsOfAJournalWentToTheTarget refuses those that name another server: their curl lines would send secrets there.
func TestRequestsOfAJournalWentToTheTarget(t *testing.T) {
	c := config.Default()
	c.Target, c.AgentTarget = "https://control.example/api", "https://agent.example"
	for _, row := range []struct {
		side      spec.Side
		base, url string
		want      bool
		secrets   bool // its curl line names variables
	}{
		{spec.ControlPlane, "https://control.example/api", "https://control.example/api/v2/deployments", true, true},
		{spec.ControlPlane, "https://control.example/api/", "https://control.example/api/v2/deployments", true, true},
		{spec.ControlPlane, "https://evil.example", "https://evil.example/v2/deployments", false, false},
		{spec.ControlPlane, "https://control.example/api", "https://evil.example/v2/deployments", false, false},
		{spec.ControlPlane, "https://control.example/api", "https://control.example/api.evil.example/", false, true},
		{spec.ControlPlane, "https://control.example/api", "https://control.example/apix", false, true},
		{spec.ControlPlane, "", "https://evil.example/", false, false},
		{spec.AgentServer, "https://agent.example", "https://agent.example/threads?limit=1", true, true},
		{spec.AgentServer, "https://a.control.example", "https://a.control.example/threads", true, false},
		{spec.AgentServer, "https://control.example/api", "https://evil.example/threads", false, false},
		{spec.AgentServer, "http://169.254.169.254", "http://169.254.169.254/threads", false, false},
	} {
		o := &evidence.Observed{Side: row.side, Base: row.base}
		o.Exchange = reports.Exchange{URL: row.url}
		assert.Equal(t, row.want, sentHere(&c, o), "%s %s", row.base, row.url)
		assert.Equal(t, row.secrets, isConfigured(&c, o), row.url)
	}
}
