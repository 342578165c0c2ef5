package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// servingAnswers bounds the wait for the agent server of a DEPLOYED deployment, in times of timeouts.request: the interface does
// not say how soon after DEPLOYED it answers.
const servingAnswers = 6

// awaitServing waits until the agent server of a deployment answers: not with 502, 503 or 504, as a proxy does that has nowhere
// to send the request. That it never does is an outcome for E2E-1 to judge. Of a deployment that stays in a status outside the
// interface nothing tells that it is up but an agent server that serves its user; else it is blocked by CP-POLL-1.
func (s *Server) awaitServing(ctx context.Context, d *plane.Deployment) error {
	stays := s.agents.plane.StaysIn(d)
	limit := min(servingAnswers*s.target.Config.Timeouts.Request, s.target.Config.Timeouts.Poll)
	var missing *outcome.Outcome
	start := time.Now()
	err := s.target.RetryFor(ctx, limit, func() (_ bool, err error) {
		missing, err = s.notServing(ctx, stays != "")
		return missing == nil, err
	})
	took := time.Since(start)
	switch {
	case err != nil:
		return err
	case missing != nil && stays != "":
		return blockedByStatus(stays, missing)
	case missing != nil:
		missing.Violations[0].Actual = fmt.Sprintf("%s, %s after DEPLOYED", missing.Violations[0].Actual, took.Round(time.Second/10))
		return missing.Hinting("the deployment is DEPLOYED, but its agent server at " + s.target.Redact.Text(s.Base) + " does not serve: check the target's routing")
	}
	if s.waited {
		s.Late = took
	}
	return nil
}

// blockedByStatus blocks what needs a deployment that is up.
func blockedByStatus(stays string, cause error) *outcome.Outcome {
	return outcome.Blocked("the latest revision stays %q, which is not one of the thirteen statuses (CP-POLL-1), and nothing else shows that the deployment is up: %v", stays, cause).
		ByRequirement("CP-POLL-1")
}

// notServing asks the agent server for the threads of a user, and returns what shows that it does not serve yet, or nil. Where it
// has to be shown that it serves, the user must get them, by one listing call or the other.
func (s *Server) notServing(ctx context.Context, shown bool) (*outcome.Outcome, error) {
	missing, err := s.tryListing(ctx, http.MethodGet, "/threads", nil, shown)
	if missing == nil || err != nil || !shown {
		return missing, err
	}
	return s.tryListing(ctx, http.MethodPost, "/threads/search", map[string]any{"limit": 1}, shown)
}

func (s *Server) tryListing(ctx context.Context, method, path string, body any, shown bool) (*outcome.Outcome, error) {
	request := s.target.ToAgent(s.Base, s.target.Owner(), method, path, body)
	request.Early = true
	const expected = "an agent server that answers"
	a, err := s.target.Client.Do(ctx, request)
	var none *client.NoAnswer
	switch {
	case errors.As(err, new(*client.NotNamed)):
		return nil, err
	case errors.As(err, &none):
		s.waited = true
		o := outcome.Violated(nil, expected, "%s", none.Cause).ByRequirement(owner)
		o.Violations[0].Exchange, o.Violations[0].Operation = none.ID, method+" "+path
		return o, nil
	case err != nil:
		return nil, err
	case a.Status == http.StatusBadGateway || a.Status == http.StatusServiceUnavailable || a.Status == http.StatusGatewayTimeout, shown && !a.OK():
		s.waited = true
		return outcome.Violated(a, expected, "%s", outcome.Seen(a)).ByRequirement(owner), nil
	}
	return nil, nil
}

// owner is the requirement about a deployment together with its agent server.
const owner = "E2E-1"

// IsNotServing tells whether an error says that the agent server of a DEPLOYED deployment does not serve.
func IsNotServing(err error) bool {
	var o *outcome.Outcome
	return errors.As(err, &o) && o.Verdict == reports.Failed && o.IsBy(reports.ByRequirement) && o.BlockedBy[0].Name == owner
}

// FindRefusal looks whether the configured agent server refuses callers without credentials, and with which status, where
// no user is configured. It asks two operations, since one of them may be open by mistake. It must have returned before
// scenarios begin.
func (as *Agents) FindRefusal(ctx context.Context) (status int, err error) {
	c := as.target.Config
	if c.AgentTarget == "" || len(c.Users) > 0 {
		return 0, nil
	}
	ctx = evidence.WithScenario(ctx, "fixture: callers without credentials", 0)
	for _, path := range []string{StatePath(target.UnknownID()), ThreadsPath} {
		a, err := as.target.Client.Do(ctx, as.target.ToAgent(c.AgentTarget, target.Caller{}, http.MethodGet, path, nil))
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if err == nil && as.target.Rejects(spec.AgentServer, a.Status) {
			as.target.AgentRefuses(a.Status)
			return a.Status, nil
		}
	}
	return 0, nil
}
