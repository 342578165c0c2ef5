package steps

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
)

// blockShutOut looks, when all has been seen, whether a side has refused every request with the credentials of the
// configuration. What went wrong there for want of being let in tells of them, and not of the target.
func (r *run) blockShutOut(selected []*features.Scenario) {
	for _, side := range []spec.Side{spec.AgentServer, spec.ControlPlane} {
		status := r.refusedAll(side)
		if status == 0 {
			continue
		}
		r.shutOut = fmt.Sprintf("the target refuses %s", r.credentialsOf(side, status))
		if side == spec.AgentServer {
			r.shutOut = fmt.Sprintf("the agent server refuses %s", r.credentialsOf(side, status))
		}
		for _, s := range selected {
			if v := r.verdicts[s.Key()]; r.needsSide(s, side) && r.isShutOut(s, v.outcome) {
				v.outcome = blocked("%s", r.shutOut)
			}
		}
	}
}

// refusedAll returns the status with which the side has refused every request with the credentials of the
// configuration, 0 where it has let any in, or was not asked.
func (r *run) refusedAll(side spec.Side) (status int) {
	refusals := []int{http.StatusUnauthorized, http.StatusForbidden}
	if side == spec.AgentServer {
		refusals = append(refusals, r.config.Agent.RejectedStatus)
	}
	most := 0
	for s, n := range r.collector.Trusted(side) {
		if !slices.Contains(refusals, s) {
			return 0
		}
		if n > most {
			status, most = s, n
		}
	}
	return status
}

// needsSide tells whether a scenario needs to be let in by the side. The control plane also tells where the agent server
// is, unless the configuration does.
func (r *run) needsSide(s *features.Scenario, side spec.Side) bool {
	profile := s.Requirement.Profile
	if side == spec.AgentServer {
		return profile != features.ControlPlane
	}
	return profile != features.AgentServer || r.config.AgentTarget == ""
}

// isShutOut tells whether a scenario ended as it did because the side let nobody in: it could not be judged, or it
// failed by such a refusal. What is judged of all answers at the end stands.
func (r *run) isShutOut(s *features.Scenario, o *outcome) bool {
	switch {
	case o == nil:
		return false
	case o.verdict == reports.Blocked || o.verdict == reports.Inconclusive:
		return true
	case o.verdict != reports.Failed || s.Is(features.TagLast):
		return false
	}
	return !slices.ContainsFunc(o.violations, func(v violation) bool { return r.collector.TrustedStatus(v.exchange) == 0 })
}

// credentialsOf names the credentials that a side was given, and what to do about them.
func (r *run) credentialsOf(side spec.Side, status int) string {
	if side == spec.ControlPlane {
		c := preferred(r.config.Credentials)
		var keys []string
		for _, each := range []struct{ value, key string }{{c.APIKey, "api_key"}, {c.TenantID, "tenant_id"}, {c.Bearer, "bearer"}} {
			if each.value != "" {
				keys = append(keys, "credentials."+each.key)
			}
		}
		return fmt.Sprintf("%s (status %d); set %s", strings.Join(keys, " and "), status, r.sent("credentials", r.config.Credentials))
	}
	if len(r.config.Users) == 0 {
		return fmt.Sprintf("callers without credentials (status %d); configure users", status)
	}
	var keys, remedies []string
	for i, u := range r.config.Users[:min(2, len(r.config.Users))] {
		key := fmt.Sprintf("users.%d.token", i)
		remedy := variable(key)
		if len(u.Headers) > 0 {
			key = fmt.Sprintf("users.%d.headers", i)
			remedy = key
		}
		keys, remedies = append(keys, key), append(remedies, remedy)
	}
	return fmt.Sprintf("%s (status %d); set %s", strings.Join(keys, " and "), status, strings.Join(remedies, " and "))
}
