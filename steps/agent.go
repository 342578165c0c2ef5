package steps

import (
	"net/http"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// agentRun is what the scenarios of the agent server share.
type agentRun struct{}

// agentWorld is the part of a scenario's world that belongs to the agent server.
type agentWorld struct{}

func (w *World) defineAgent(b *book) {}

// toAgent makes a request to an agent server by a user; nil is a caller without credentials.
func (r *run) toAgent(base string, user *config.User, method, path string, body any) client.Request {
	request := client.Request{Side: spec.AgentServer, Base: base, Method: method, Path: path, Header: http.Header{}, Timeout: r.config.Timeouts.Request}
	if body != nil {
		request.Body = encode(body)
		request.Header["Content-Type"] = []string{"application/json"}
	}
	return request
}

func (r *run) agentAddress() string { return r.config.AgentTarget }

func (r *run) bases(side spec.Side) []string {
	if side == spec.ControlPlane {
		return []string{r.config.Target}
	}
	return []string{r.config.AgentTarget}
}
