package agent

import (
	"context"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

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
		if err == nil && slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, c.Agent.RejectedStatus}, a.Status) {
			as.target.AgentRefuses(a.Status)
			return a.Status, nil
		}
	}
	return 0, nil
}
