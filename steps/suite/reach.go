package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// reach returns an error if the target does not respond to a request, so that this problem is reported once. Any response
// is enough.
func (r *run) reach(ctx context.Context) error {
	c := r.target.Config
	switch {
	case c.Target != "":
		return r.respondsTo(ctx, r.target.ToControlPlane(target.TheClient, "GET", plane.RevisionsPath(target.UnknownID()), nil))
	case c.AgentTarget != "":
		return r.respondsTo(ctx, r.target.ToAgent(c.AgentTarget, target.Caller{}, "GET", agent.StatePath(target.UnknownID()), nil))
	}
	return errors.New("no target is configured: set --target, --agent-target or both")
}

// reachAgent returns the reason if the agent server at agent_target does not respond although the control plane does. It
// returns "" and sends no request if reach has already sent one to it, or if no selected scenario uses it.
func (r *run) reachAgent(ctx context.Context) string {
	c := r.target.Config
	if c.Target == "" || c.AgentTarget == "" || !slices.ContainsFunc(r.selected, isOfAgent) {
		return ""
	}
	err := r.respondsTo(ctx, r.target.ToAgent(c.AgentTarget, target.Caller{}, "GET", agent.StatePath(target.UnknownID()), nil))
	if err == nil || ctx.Err() != nil {
		return ""
	}
	return err.Error()
}

// isOfAgent reports whether a scenario sends requests to the agent server at agent_target.
func isOfAgent(s *features.Scenario) bool {
	return s.Requirement.Profile == features.AgentServer && !s.Terms.Record
}

// respondsTo returns an error if there is no response to the request.
func (r *run) respondsTo(ctx context.Context, request exchange.Request) error {
	ctx = evidence.WithScenario(ctx, "fixture: the first request", 0)
	a, err := r.target.Client.Do(ctx, request)
	var none *exchange.NoResponse
	if errors.As(err, &none) && none.Timeout {
		request.Path = plane.DeploymentPath(target.UnknownID()) // one operation may hang while others respond
		if request.Side == spec.AgentServer {
			request.Path = agent.RunsPath(target.UnknownID())
		}
		a, err = r.target.Client.Do(ctx, request)
	}
	if expects := r.expectsTLS(ctx, request, a, err); expects != nil {
		return expects
	}
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%s had not responded when the test run was stopped", request.Base)
	}
	if !errors.As(err, &none) {
		return err
	}
	if none.Closed || none.Busy != 0 { // the target is running; scenarios judge its responses
		return nil
	}
	message := none.Message()
	if none.Timeout {
		message += "; start the target, or " + none.Longer()
	}
	return fmt.Errorf("%s does not respond: %s", request.Base, message)
}
