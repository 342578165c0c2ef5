package agent

import (
	"context"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// AgentServer returns the agent server under test: the configured one, else that of the shared deployment.
func (as *Agents) AgentServer(ctx context.Context) (*Server, error) {
	return as.learned.server.Get(ctx, as.maker, "the agent server", func(ctx context.Context) (*Server, error) {
		if as.target.Config.AgentTarget != "" {
			return as.agentAt(as.target.Config.AgentTarget), nil
		}
		if as.target.Config.Target == "" {
			return nil, outcome.Needs("agent_target", ", the address of an agent server")
		}
		d, err := as.plane.Shared(ctx, as.plane.Fixtures.Deployed)
		if err != nil {
			return nil, err
		}
		s, err := as.AgentOf(ctx, d)
		if err == nil {
			as.target.JudgeAgentAt(s.Base)
		}
		return s, err
	})
}

// AgentOf asks the control plane for the address of a deployment's agent server.
func (as *Agents) AgentOf(ctx context.Context, d *plane.Deployment) (*Server, error) {
	told, err := as.awaitAddress(ctx, d)
	if err != nil {
		return nil, err
	}
	base, err := client.NamedBy(as.target.Config.Target, told)
	if err != nil {
		return nil, outcome.Blocked("no user's token is sent to the address that the deployment tells at %s, %.200q: %s; set agent_target if it is right", as.target.Config.AgentURLFrom, as.target.Redact.Text(told), err).By(reports.ByKey, "agent_target")
	}
	as.target.Client.Guard(as.target.Config.Target, base)
	return as.agentAt(base), nil
}

func (as *Agents) agentAt(base string) *Server {
	as.target.CallsAgentAt(base)
	return &Server{Base: base, agents: as, target: as.target}
}
