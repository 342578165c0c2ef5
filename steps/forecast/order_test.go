package forecast

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/config"
)

// TestOrder puts what takes longest first. The seed decides among equals, and nothing else does.
func TestOrder(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	c := config.Default()
	c.Target, c.AgentTarget, c.Credentials.APIKey = "http://127.0.0.1:9", "http://127.0.0.1:9", "key"
	c.Create.Body = map[string]any{"source": config.GitHost, "source_revision_config": map[string]any{"repo_ref": "main"}}
	all := catalogue.Scenarios()
	f := Foresee(&c, catalogue, Selection{})
	order := f.Order(all, 1)
	assert.ElementsMatch(t, all, order)
	for i, s := range order[1:] {
		assert.GreaterOrEqual(t, f.takes(order[i]), f.takes(s), "%s before %s", order[i].Name, s.Name)
	}
	assert.Equal(t, order, f.Order(all, 1))
	assert.NotEqual(t, order, f.Order(all, 2))
	assert.NotEqual(t, all, order)

	chains := f.Chains(all)
	assert.Greater(t, chains["a deployment with a long history"], chains["a DEPLOYED deployment"])
	assert.Greater(t, chains["a DEPLOYED deployment"], chains["another existing deployment"])
	assert.NotContains(t, f.Chains(catalogue.Find("CP-UPDATE-6").Scenarios), "a DEPLOYED deployment", "nothing is made that is not needed")
}
