package steps

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// probe is one reading request of an examination, and what came of it.
type probe struct {
	who     asker // of the control plane
	request client.Request
	answer  *client.Answer // nil where none came
	err     error          // why
}

// errBusy says that a target went on asking the client to wait.
var errBusy = errors.New("the target asks to wait")

// sendAll sends the probes at once, so that a target that does not answer costs the time of one request. Waiting on a
// target's demand is included in it.
func (r *run) sendAll(ctx context.Context, probes ...*probe) error {
	limited, cancel := context.WithTimeoutCause(ctx, r.config.Timeouts.Request+time.Second, errBusy)
	defer cancel()
	var wait sync.WaitGroup
	for _, p := range probes {
		wait.Go(func() { p.answer, p.err = r.client.Do(limited, p.request) })
	}
	wait.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// examineTarget asks each configured address as those who own, and as nobody.
func (r *run) examineTarget(ctx context.Context, e *Examination) error {
	var plane, agents, all []*probe
	if r.config.Target != "" {
		for _, who := range append([]asker{theClient, nobody}, r.singles()...) {
			plane = append(plane, &probe{who: who, request: r.toControlPlane(who, http.MethodGet, revisionsPath(unknownID()), nil)})
		}
	}
	if r.config.AgentTarget != "" {
		for _, u := range r.config.Users[:min(2, len(r.config.Users))] {
			agents = append(agents, r.listing(caller{header: userHeader(u)}))
		}
		agents = append(agents, r.listing(caller{}))
	}
	all = append(append(all, plane...), agents...)
	if err := r.sendAll(ctx, all...); err != nil {
		return err
	}
	if len(plane) > 0 {
		if r.examinePlane(e, plane[0], plane[1]) {
			r.examineSingles(e, plane[2:])
		}
	}
	switch {
	case len(agents) > 0:
		r.examineAgent(e, agents[:len(agents)-1], agents[len(agents)-1])
	case r.config.Target != "":
		e.add(Noted, "agent server", fmt.Sprintf("its address is not known before a deployment exists: a run reads it there, at %s", r.config.AgentURLFrom),
			"correct agent_url_from if your deployments tell it elsewhere, or set agent_target: without it AS-* and E2E-* are not judged")
	}
	return nil
}

// singles are the askers with one credential only, where several are configured: one that is good hides one that is not.
func (r *run) singles() (all []asker) {
	for _, scheme := range []asker{schemeAPIKey, schemeTenantID, schemeBearer} {
		if value, _ := r.credential(string(scheme)); value != "" {
			all = append(all, scheme)
		}
	}
	if len(all) < 2 {
		all = nil
	}
	if len(r.credentials(anotherTenant)) > 0 {
		all = append(all, anotherTenant)
	}
	return all
}

// examineSingles tells of credentials that are refused by themselves, or that only stand beside one.
func (r *run) examineSingles(e *Examination, probes []*probe) {
	for _, p := range probes {
		if !refusesCaller(p) {
			continue
		}
		_, key := r.credential(string(p.who))
		found, remedy := fmt.Sprintf("refused by itself (status %d): CP-AUTH-4 will fail", p.answer.Status), variable(key)
		if p.who == anotherTenant {
			key, found = "other_tenant", fmt.Sprintf("refused (status %d): CP-AUTH-6 may fail", p.answer.Status)
			remedy = r.sent(key, r.config.OtherTenant)
		}
		e.add(Noted, key, found, "check "+remedy)
	}
}

// examinePlane looks at the answers to the owner and to nobody. It tells whether the owner was let in.
func (r *run) examinePlane(e *Examination, owner, nobody *probe) (letIn bool) {
	const subject = "control plane"
	key := "target"
	switch finding, found, remedy := r.trouble(owner, nobody, key); {
	case found != "":
		e.add(finding, subject, found, remedy)
		if finding == Problem {
			return false
		}
	case refusesCaller(owner):
		e.add(Problem, subject, fmt.Sprintf("%s refuses the credentials (status %d)", r.config.Target, owner.answer.Status), "check "+r.sent("credentials", r.config.Credentials))
	case !owner.answer.IsJSON():
		e.add(lessIf(refusesCaller(nobody)), subject, fmt.Sprintf("%s answers %s", r.config.Target, r.told(owner.answer)), baseAddress(key))
		if !refusesCaller(nobody) {
			return false
		}
	case owner.answer.Status == http.StatusNotFound:
		e.add(Fine, subject, r.config.Target+" answers, and takes the credentials", "")
	default:
		e.add(Noted, subject, fmt.Sprintf("%s answers %s, for an unknown deployment", r.config.Target, r.told(owner.answer)), "a run will tell more")
	}
	const alone = "no credentials"
	switch {
	case nobody.answer == nil:
		e.add(Noted, alone, r.failure(nobody), "")
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
func lessIf(alive bool) Finding {
	if alive {
		return Noted
	}
	return Problem
}

func baseAddress(key string) string {
	return "is that the base address, with its path prefix? (" + key + ")"
}

// told is what a target said, without secrets.
func (r *run) told(a *client.Answer) string { return r.redact.Excerpt(seen(a)) }

// sent names the variables of the credentials that were sent, with their headers.
func (r *run) sent(group string, c config.Credentials) string {
	c, names := preferred(c), r.config.CredentialHeaders
	var all []string
	for _, each := range []struct{ value, key, header string }{
		{c.APIKey, "api_key", names.APIKey}, {c.TenantID, "tenant_id", names.TenantID}, {c.Bearer, "bearer", names.Bearer},
	} {
		if each.value != "" {
			all = append(all, variable(group+"."+each.key)+", sent as "+each.header)
		}
	}
	return strings.Join(all, ", and ")
}

// variable is the name of the environment variable that stands for the key.
func variable(key string) string {
	return config.EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
