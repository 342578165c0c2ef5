package suite

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/evidence"
)

// TestAboutTheSame checks which fixtures remain in a chain. The chain ends with a state at a deployed agent server.
func TestAboutTheSame(t *testing.T) {
	const base = "https://agents.example/deployment-1"
	state := &spec.Operation{Path: "/threads/{thread_id}/state", Parameters: []spec.Parameter{{Name: "thread_id", In: "path"}}}
	create := &spec.Operation{Path: "/v2/deployments"}
	shows := observed("a scenario", evidence.Observation{ID: 9, Op: state, Base: base, Method: http.MethodGet,
		Path: "/threads/thread-1/state", Status: 200, Response: `{"values":{"shown":"thread-2"}}`})
	for name, c := range map[string]struct {
		of      evidence.Observation // the exchange of a fixture
		remains bool
	}{
		"another thread":  {evidence.Observation{Op: state, Method: http.MethodGet, Path: "/threads/thread-3/state", Status: 200}, false},
		"the same thread": {evidence.Observation{Op: state, Method: http.MethodGet, Path: "/threads/thread-1/state", Status: 200}, true},
		"a thread that the response contains": {evidence.Observation{Op: state, Method: http.MethodGet,
			Path: "/threads/thread-2/state", Status: 200}, true},
		"an empty id": {evidence.Observation{Op: state, Method: http.MethodGet, Path: "/threads//state", Status: 404}, false},
		"the deployment of the address": {evidence.Observation{Op: create, Method: http.MethodPost, Path: "/v2/deployments", Status: 201,
			Response: `{"id":"deployment-1"}`}, true},
		"another deployment": {evidence.Observation{Op: create, Method: http.MethodPost, Path: "/v2/deployments", Status: 201,
			Response: `{"id":"deployment-2"}`}, false},
		"a refused creation": {evidence.Observation{Op: create, Method: http.MethodPost, Path: "/v2/deployments", Status: 500}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.of.ID = 1
			fixture := observed("fixture: another", c.of)
			want := []int{9}
			if c.remains {
				want = []int{1, 9}
			}
			remaining := aboutTheSame([]*evidence.Observation{fixture, shows}, "a scenario", 9)
			assert.Equal(t, want, evidence.IDs(remaining))
		})
	}
}

// observed returns an exchange of a scenario or fixture.
func observed(by string, o evidence.Observation) *evidence.Observation {
	o.Scenario = by
	return &o
}
