package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// probe is one reading request of an examination, and what came of it.
type probe struct {
	who     target.Asker // of the control plane
	request client.Request
	answer  *client.Answer // nil where none came
	err     error          // why
}

// errBusy says that a target went on asking the client to wait.
var errBusy = errors.New("the target asks to wait")

// sendAll sends the probes at once, so that a target that does not answer costs the time of one request. Waiting on a
// target's demand is included in it.
func (x *examiner) sendAll(ctx context.Context, probes ...*probe) error {
	limited, cancel := context.WithTimeoutCause(ctx, x.target.Config.Timeouts.Request+time.Second, errBusy)
	defer cancel()
	var wait sync.WaitGroup
	for _, p := range probes {
		wait.Go(func() { p.answer, p.err = x.target.Client.Do(limited, p.request) })
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// examineTarget asks each configured address as those who own, and as nobody.
func (x *examiner) examineTarget(ctx context.Context, e *Examination) error {
	var planes, agents, all []*probe
	if x.target.Config.Target != "" {
		for _, who := range append([]target.Asker{target.TheClient, target.Nobody}, x.singles()...) {
			planes = append(planes, &probe{who: who, request: x.target.ToControlPlane(who, http.MethodGet, plane.RevisionsPath(target.UnknownID()), nil)})
		}
	}
	if x.target.Config.AgentTarget != "" {
		for _, u := range x.target.Config.Users[:min(2, len(x.target.Config.Users))] {
			agents = append(agents, x.listing(target.Caller{Header: target.UserHeader(u)}))
		}
		agents = append(agents, x.listing(target.Caller{}))
	}
	all = append(append(all, planes...), agents...)
	if err := x.sendAll(ctx, all...); err != nil {
		return err
	}
	if len(planes) > 0 {
		if x.examinePlane(e, planes[0], planes[1]) {
			x.examineSingles(e, planes[2:])
		}
	}
	switch {
	case len(agents) > 0:
		x.examineAgent(e, agents[:len(agents)-1], agents[len(agents)-1])
	case x.target.Config.Target != "":
		e.add(Noted, "agent server", fmt.Sprintf("its address is not known before a deployment exists: a run reads it there, at %s", x.target.Config.AgentURLFrom),
			"correct agent_url_from if your deployments tell it elsewhere, or set agent_target: without it AS-* and E2E-* are not judged")
	}
	return nil
}

// singles are the askers with one credential only, where several are configured: one that is good hides one that is not.
func (x *examiner) singles() (all []target.Asker) {
	for _, scheme := range []target.Asker{target.SchemeAPIKey, target.SchemeTenantID, target.SchemeBearer} {
		if value, _ := x.target.Credential(string(scheme)); value != "" {
			all = append(all, scheme)
		}
	}
	if len(all) < 2 {
		all = nil
	}
	if len(x.target.Credentials(target.AnotherTenant)) > 0 {
		all = append(all, target.AnotherTenant)
	}
	return all
}

// examineSingles tells of credentials that are refused by themselves, or that only stand beside one.
func (x *examiner) examineSingles(e *Examination, probes []*probe) {
	for _, p := range probes {
		if !refusesCaller(p) {
			continue
		}
		_, key := x.target.Credential(string(p.who))
		found, remedy := fmt.Sprintf("refused by itself (status %d): CP-AUTH-4 will fail", p.answer.Status), target.Variable(key)
		if p.who == target.AnotherTenant {
			key, found = "other_tenant", fmt.Sprintf("refused (status %d): CP-AUTH-6 may fail", p.answer.Status)
			remedy = x.target.Sent(key, x.target.Config.OtherTenant)
		}
		e.add(Noted, key, found, "check "+remedy)
	}
}

// examinePlane looks at the answers to the owner and to nobody. It tells whether the owner was let in.
func (x *examiner) examinePlane(e *Examination, owner, nobody *probe) (letIn bool) {
	const subject = "control plane"
	key := "target"
	switch finding, found, remedy := x.trouble(owner, nobody, key); {
	case found != "":
		e.add(finding, subject, found, remedy)
		if finding == Problem {
			return false
		}
	case refusesCaller(owner):
		e.add(Problem, subject, fmt.Sprintf("%s refuses the credentials (status %d)", x.target.Config.Target, owner.answer.Status), "check "+x.target.Sent("credentials", x.target.Config.Credentials))
	case !owner.answer.IsJSON():
		e.add(lessIf(refusesCaller(nobody)), subject, fmt.Sprintf("%s answers %s", x.target.Config.Target, x.told(owner.answer)), baseAddress(key))
		if !refusesCaller(nobody) {
			return false
		}
	case owner.answer.Status == http.StatusNotFound:
		e.add(Fine, subject, x.target.Config.Target+" answers, and takes the credentials", "")
	default:
		e.add(Noted, subject, fmt.Sprintf("%s answers %s, for an unknown deployment", x.target.Config.Target, x.told(owner.answer)), "a run will tell more")
	}
	const alone = "no credentials"
	switch {
	case nobody.answer == nil:
		e.add(Noted, alone, x.failure(nobody), "")
	case refusesCaller(nobody):
		e.add(Fine, alone, fmt.Sprintf("refused (status %d)", nobody.answer.Status), "")
	default:
		e.add(Noted, alone, fmt.Sprintf("answered with status %d in place of 401 or 403: CP-AUTH-1 may fail", nobody.answer.Status), baseAddress(key))
	}
	return !refusesCaller(owner)
}

// refusesCaller tells whether the answer is the one to wrong or missing credentials.
func refusesCaller(p *probe) bool {
	return p.answer != nil && slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden}, p.answer.Status)
}

// lessIf takes what looks like no target at all for a fault of one where it is known to look at credentials.
func lessIf(alive bool) State {
	if alive {
		return Noted
	}
	return Problem
}

func baseAddress(key string) string {
	return "is that the base address, with its path prefix? (" + key + ")"
}

// told is what a target said, without secrets.
func (x *examiner) told(a *client.Answer) string { return x.target.Redact.Excerpt(outcome.Seen(a)) }
