package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/target"
)

// headline returns the most important cause in one sentence. A wrong address and rejected credentials have precedence.
func (r *run) headline(res *reports.Result, rejected string) string {
	halves := r.halves()
	total := 0
	for _, h := range halves {
		total += h.total()
	}
	unseen, key := "", ""
	if res.Verdict == reports.Incomplete && len(res.Unseen) > 0 {
		unseen = fmt.Sprintf("no successful response of the %s was seen", strings.ReplaceAll(res.Unseen[0], "-", " "))
		key = unlocking(r.target, res.Unseen[0])
	}
	address := r.target.Address()
	down := r.target.Client.Down.Cause(address)
	switch {
	case r.unreachable != "":
		return r.unreachable
	case down != "":
		return down
	case total == 0 && len(res.Exchanges) > 0:
		return fmt.Sprintf("no response was HTTP: check the address %s, and whether it is http or https", address)
	case total == 0:
		return "every selected scenario was skipped, no request was sent" + skippedFor(res, "; ")
	case rejected != "" && res.Verdict == reports.Incomplete:
		return rejected
	case r.agentDown != "" && res.Verdict == reports.Incomplete:
		return r.agentDown
	case key != "":
		return unseen + ": set " + key
	case res.Verdict == reports.Conformant:
		return ""
	}
	same := cmp.Or(skippedFor(res, ""), rejected, r.agentDown, sameResponses(halves))
	if same == "" && reports.Conclude(res.Requirements) == reports.Conformant {
		return unseen
	}
	return same // if empty, the reports name the first failure, or the first requirement that could not be judged
}

// skippedFor returns the reason if all requirements were skipped, after the text before, and "" otherwise. A missing
// address of a half is the reason only if there is no other.
func skippedFor(res *reports.Result, before string) string {
	why, isHalf := "", false
	for _, q := range res.Requirements {
		if q.Verdict != reports.Skipped || q.Skip == nil {
			return ""
		}
		if why == "" || isHalf {
			why = before + q.Reason
			isHalf = slices.Contains([]string{"target", "agent_target"}, q.Skip.Key)
		}
	}
	return why
}

// unseen lists the halves that passed a requirement but returned no successful response to an operation of the interface.
// A server that refuses everything passes every requirement about refusals but implements nothing.
func (r *run) unseen(res *reports.Result) (halves []string) {
	for _, half := range []string{features.ControlPlane, features.AgentServer} {
		passed := func(q reports.Requirement) bool { return q.Profile == half && q.Verdict == reports.Passed }
		served := func(op spec.Operation) bool {
			return !op.Field && r.target.Collector.Served(op)
		}
		if slices.ContainsFunc(res.Requirements, passed) && !slices.ContainsFunc(r.Oracle.Operations(spec.Side(half)),
			served) {
			halves = append(halves, half)
		}
	}
	return halves
}

// unlocking returns the missing key that would allow a successful response of a half, or "".
func unlocking(t *target.Target, half string) string {
	c := t.Config
	switch {
	case half == features.AgentServer && t.AgentRefusal() != 0:
		return "users"
	case half == features.AgentServer:
		return ""
	case !c.HasCredentials():
		return "credentials.api_key"
	case c.ReadOnly:
		return "existing.deployment"
	case len(c.Create.Body) == 0:
		return "create.body"
	}
	return ""
}
