package evidence

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// TestRepeat checks which exchanges of an earlier repetition are judged, and which can be reported.
func TestRepeat(t *testing.T) {
	c := newCollector(t, client.NewRedactor(nil), time.Now())
	send := func(scenario string, order int, method string) int {
		const path = "/v2/deployments/6ba7b810-9dad-11d1-80b4-00c04fd430c8"
		r := exchange.Request{Side: spec.ControlPlane, Method: method, Path: path}
		a := &exchange.Response{Request: r, Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{}`)}
		return c.Observe(WithScenario(t.Context(), scenario, order), r, time.Now(), a, "")
	}
	fixture := send("fixture: a deployment", 0, "GET")
	dropped := send("fixture: a thread", 0, "GET")
	update, failed, other := send("a", 1, "PATCH"), send("a", 1, "GET"), send("b", 2, "GET")
	stays := func(name string) bool { return name == "fixture: a deployment" }
	c.Repeat(stays, map[int]bool{failed: true})
	again := send("a", 1, "GET")

	judged := c.which(func(*Observation) bool { return true })
	assert.Equal(t, []int{fixture, again}, IDs(judged))
	assert.Equal(t, []int{fixture, update, again}, IDs(c.Observations()), "an update explains what later reads show")
	assert.Equal(t, []int{again}, IDs(c.SentBy("a")))
	assert.Equal(t, []int{fixture, update, failed, again}, c.Order())
	assert.Equal(t, 2, c.Violations("get-deployment")[0].Count, "those of the fixture and of this repetition")
	assert.Equal(t, []int{failed, failed}, []int{c.Observation(failed).ID, c.Exchange(failed).ID})
	for _, id := range []int{dropped, other} {
		assert.Zero(t, c.Exchange(id))
		assert.Zero(t, c.Observation(id).Status)
	}
	assert.Equal(t, 6, c.Count())
	for _, o := range c.Coverage(spec.ControlPlane).Operations {
		if o.Operation == "get-deployment" {
			assert.Equal(t, 5, o.Exchanges, "the coverage is that of the test run")
		}
	}
}
