package suite

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// blockRejected blocks, at the end of a run, scenarios of a side that refused every request with the configured credentials:
// the cause is the configuration, not the target.
func (r *run) blockRejected(selected []*features.Scenario) {
	for _, side := range []spec.Side{spec.AgentServer, spec.ControlPlane} {
		status := refusedAll(r.target, side)
		if status == 0 {
			continue
		}
		r.rejecting = append(r.rejecting, string(side))
		keys, what := credentialsOf(r.target, side, status)
		r.rejected = "the target refuses " + what
		if side == spec.AgentServer {
			r.rejected = "the agent server refuses " + what
		}
		for _, s := range selected {
			if v := r.verdicts[s.Key()]; needsSide(r.target, s, side) && r.followsFromRejection(s, v.outcome) {
				v.outcome = outcome.Blocked("%s", r.rejected).By(reports.ByKey, keys...)
			}
		}
	}
}

// askOnceMore asks an agent server that has refused every request with the credentials of the configuration for an unknown
// thread: one operation that refuses everybody is a fault of the target, not of the credentials. A selection may hold no other.
func (r *run) askOnceMore(ctx context.Context) {
	if ctx.Err() != nil || refusedAll(r.target, spec.AgentServer) == 0 {
		return
	}
	ctx = evidence.WithScenario(ctx, "fixture: the credentials of the users", 0)
	if s, err := r.agents.AgentServer(ctx); err == nil {
		_, _ = s.State(ctx, s.Owner(), &agent.Thread{ID: target.UnknownID()}) // the record holds the answer
	}
}

// refusedAll returns the status with which the side has refused every request with the credentials of the
// configuration, 0 where it accepted any, or got no request.
func refusedAll(t *target.Target, side spec.Side) (status int) {
	refusals := []int{http.StatusUnauthorized, http.StatusForbidden}
	if side == spec.AgentServer {
		refusals = append(refusals, t.Config.Agent.RejectedStatus)
	}
	most := 0
	for s, n := range t.Collector.Trusted(side) {
		if !slices.Contains(refusals, s) {
			return 0
		}
		if n > most {
			status, most = s, n
		}
	}
	return status
}

// needsSide tells whether a scenario needs the side to accept its credentials. The control plane also returns the URL of the
// agent server, unless the configuration has it.
func needsSide(t *target.Target, s *features.Scenario, side spec.Side) bool {
	profile := s.Requirement.Profile
	if side == spec.AgentServer {
		return profile != features.ControlPlane
	}
	return profile != features.AgentServer || t.Config.AgentTarget == ""
}

// followsFromRejection tells whether the outcome of a scenario follows from rejected credentials: it could not be judged, it
// failed by such a refusal, or passed by one. Scenarios that judge all answers at the end keep their outcome.
func (r *run) followsFromRejection(s *features.Scenario, o *outcome.Outcome) bool {
	switch {
	case o == nil || o.Verdict == reports.Passed:
		return !s.Is(features.TagLast) && !s.Terms.Anonymous
	case o.Verdict == reports.Blocked || o.Verdict == reports.Inconclusive:
		return true
	case o.Verdict != reports.Failed || s.Is(features.TagLast):
		return false
	}
	return !slices.ContainsFunc(o.Violations, func(v outcome.Violation) bool { return !r.target.Collector.Observation(v.Exchange).Trusted })
}

// credentialsOf names the keys of the credentials that were sent to a side, and the remedy.
func credentialsOf(t *target.Target, side spec.Side, status int) (keys []string, what string) {
	c := t.Config
	if side == spec.ControlPlane {
		set := target.Preferred(c.Credentials)
		for _, each := range []struct{ value, key string }{{set.APIKey, "api_key"}, {set.TenantID, "tenant_id"}, {set.Bearer, "bearer"}} {
			if each.value != "" {
				keys = append(keys, "credentials."+each.key)
			}
		}
		return keys, fmt.Sprintf("%s (status %d); set %s", strings.Join(keys, " and "), status, t.Sent("credentials", c.Credentials))
	}
	if len(c.Users) == 0 {
		return []string{"users"}, fmt.Sprintf("callers without credentials (status %d); set users", status)
	}
	var remedies []string
	for i, u := range c.Users[:min(2, len(c.Users))] {
		key := fmt.Sprintf("users.%d.token", i)
		remedy := config.Variable(key)
		if len(u.Headers) > 0 {
			key = fmt.Sprintf("users.%d.headers", i)
			remedy = key
		}
		keys, remedies = append(keys, key), append(remedies, remedy)
	}
	return keys, fmt.Sprintf("%s (status %d); set %s", strings.Join(keys, " and "), status, strings.Join(remedies, " and "))
}
