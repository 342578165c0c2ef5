package suite

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/target"
)

// TestHeadlineOfWrongAddress checks that a half is named if all of its many responses had status 404, whatever the other
// half returned.
func TestHeadlineOfWrongAddress(t *testing.T) {
	oracle, err := spec.New()
	require.NoError(t, err)
	c := config.Default()
	c.Target, c.AgentTarget = "http://control.example/wrong", "http://agents.example"
	tt, err := target.New(target.Options{Config: &c, Oracle: oracle, Start: time.Now()})
	require.NoError(t, err)
	r := &run{target: tt}
	respond := func(n, status int, q exchange.Request) {
		for range n {
			tt.Collector.Observe(t.Context(), q, time.Now(), &exchange.Response{Request: q, Status: status, Header: http.Header{}}, "")
		}
	}
	agent := tt.ToAgent(c.AgentTarget, target.Caller{}, http.MethodGet, "/threads", nil)
	plane := tt.ToControlPlane(target.Nobody, http.MethodGet, "/v2/deployments/"+target.UnknownID(), nil)
	respond(30, 200, agent)
	respond(19, 404, plane)
	assert.Empty(t, r.servedElsewhere(), "a few responses with 404 may be right")
	respond(1, 404, plane)
	assert.Equal(t, "every response of the control plane had status 404: check that http://control.example/wrong is its base "+
		"URL, with its path prefix; agentconform doctor looks for it", r.servedElsewhere())
	respond(1, 401, plane)
	assert.Empty(t, r.servedElsewhere())
}
