package target

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

// agentsSeen is what was seen of the agent servers of a target, where the configuration does not say it.
type agentsSeen struct {
	refusing  atomic.Int64           // status with which the agent server refuses callers without credentials, where that is known
	called    shared.Set[string]     // addresses of agent servers that were called
	underTest atomic.Pointer[string] // that of the one that is judged
	searches  atomic.Bool            // threads were seen to be listed with the search endpoint only
}

// CallsAgentAt notes that the agent server at the address is called.
func (s *agentsSeen) CallsAgentAt(base string) { s.called.Add(base) }

// AgentRefuses says that the agent server refuses callers without credentials, with which status.
func (s *agentsSeen) AgentRefuses(status int) { s.refusing.Store(int64(status)) }

// ListsBySearch says that the target serves the search endpoint and not GET /threads, for a configuration that does not say.
func (s *agentsSeen) ListsBySearch() { s.searches.Store(true) }

// JudgeAgentAt sets the URL of the agent server that the run tests, as the control plane returned it.
func (t *Target) JudgeAgentAt(base string) {
	t.underTest.Store(&base)
	t.Progress(Event{Kind: Named, Name: base})
}

// AgentRefusal is the status with which the agent server refuses callers without credentials, where no user is configured
// and the server was seen to refuse: what needs no user is judged then. 0 otherwise.
func (t *Target) AgentRefusal() int {
	if len(t.Config.Users) > 0 {
		return 0
	}
	return int(t.refusing.Load())
}

// AgentAddress is the address of the agent server under test, "" while it is not known.
func (t *Target) AgentAddress() string {
	if found := t.underTest.Load(); found != nil {
		return *found
	}
	return t.Config.AgentTarget
}

// Bases returns the addresses of a side, longer ones first: one may be below another.
func (t *Target) Bases(side spec.Side) []string {
	if side == spec.ControlPlane {
		return []string{t.Config.Target}
	}
	all := t.called.All()
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// Refused blocks what needs the agent server at an address that the control plane has named, where an error says that no request goes
// there. It returns any other error as it is.
func Refused(t *Target, named string, err error) error {
	var why *client.NotNamed
	if !errors.As(err, &why) {
		return err
	}
	return outcome.Blocked("no user's token is sent to the agent server address that the deployment has at %s, %.200q: %s; %s",
		t.Config.AgentURLFrom, t.Redact.Text(named), why, why.Remedy()).By(reports.ByKey, why.Key)
}
