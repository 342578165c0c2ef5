package suite

import (
	"slices"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/target"
)

// unseen lists the halves with a passed requirement of which no successful answer to an operation of the interface was
// seen. A server that refuses everything passes every requirement about refusals, and implements nothing.
func (r *run) unseen(res *reports.Result) (halves []string) {
	for _, half := range []struct {
		side    spec.Side
		profile string
	}{{spec.ControlPlane, features.ControlPlane}, {spec.AgentServer, features.AgentServer}} {
		passed := slices.ContainsFunc(res.Requirements, func(q reports.Requirement) bool {
			return q.Profile == half.profile && q.Verdict == reports.Passed
		})
		if passed && !succeeded(r.Oracle, half.side, res.Coverage.Statuses) {
			halves = append(halves, half.profile)
		}
	}
	return halves
}

// succeeded tells whether an operation of the side was answered with a 2xx status.
func succeeded(oracle *spec.Oracle, side spec.Side, seen []reports.StatusCoverage) bool {
	for _, op := range oracle.Operations(side) {
		if !op.Field && slices.ContainsFunc(seen, func(s reports.StatusCoverage) bool {
			return s.Operation == op.ID && s.Count > 0 && s.Status[0] == '2'
		}) {
			return true
		}
	}
	return false
}

// unlocking is the missing key of the configuration that a successful answer of a half needs; may be empty.
func unlocking(t *target.Target, half string) string {
	switch {
	case half == features.ControlPlane && !t.Config.HasCredentials():
		return "credentials.api_key"
	case half == features.ControlPlane && t.Config.ReadOnly:
		return "existing.deployment"
	case half == features.ControlPlane && len(t.Config.Create.Body) == 0:
		return "create.body"
	case half == features.AgentServer && t.AgentRefusal() != 0:
		return "users"
	}
	return ""
}
