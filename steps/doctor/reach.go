package doctor

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
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// probe is one reading request of an examination, with its answer.
type probe struct {
	who     target.Asker // whose credentials the request to the control plane has
	request client.Request
	answer  *client.Answer // nil if there was none
	err     error          // why there was none
}

// errBusy ends the requests to a target that keeps asking the client to wait.
var errBusy = errors.New("the target keeps asking the client to wait")

// sendAll sends the probes at once, so that a target that does not answer costs the time of one request, including the waits
// that the target asks for. The key rate lets each of them wait for its turn.
func (x *examiner) sendAll(ctx context.Context, probes ...*probe) error {
	turns := time.Duration(len(probes)) * x.target.Config.Every()
	limited, cancel := context.WithTimeoutCause(ctx, x.target.Config.Timeouts.Request+time.Second+turns, errBusy)
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

// examineTarget sends requests to each configured address, with the configured credentials and without any.
func (x *examiner) examineTarget(ctx context.Context, e *Examination) error {
	var planes, agents, all []*probe
	if x.target.Config.Target != "" {
		for _, who := range append([]target.Asker{target.TheClient, target.Nobody}, x.singles()...) {
			planes = append(planes, &probe{who: who, request: x.target.ToControlPlane(who, http.MethodGet, plane.RevisionsPath(target.UnknownID()), nil)})
		}
	}
	if x.target.Config.AgentTarget != "" {
		agents = x.listings(x.target.Searches())
	}
	all = append(append(all, planes...), agents...)
	if err := x.sendAll(ctx, all...); err != nil {
		return err
	}
	if len(planes) > 0 {
		elsewhere, err := x.absentPlane(ctx, e, planes[0], planes[1])
		if err != nil {
			return err
		}
		accepted := !elsewhere && x.examinePlane(ctx, e, planes[0], planes[1])
		x.examineConnection(e, "target", planes)
		if accepted {
			x.examineSingles(e, planes[2:])
		} else if !elsewhere && hasAnother(planes[1]) {
			if err := x.examinePrefix(ctx, e, "target", planes[1]); err != nil {
				return err
			}
		}
	}
	switch {
	case len(agents) > 0:
		agents, err := x.searched(ctx, e, agents)
		if err != nil {
			return err
		}
		nobody := agents[len(agents)-1]
		if elsewhere, err := x.absentAgent(ctx, e, agents[0], nobody); elsewhere || err != nil {
			return err
		}
		x.examineAgent(ctx, e, agents[:len(agents)-1], nobody)
		x.examineConnection(e, "agent_target", agents)
		if hasAnother(nobody) {
			return x.examinePrefix(ctx, e, "agent_target", nobody)
		}
	case x.target.Config.Target != "":
		e.add(Noted, "agent server", fmt.Sprintf("its URL is not known yet: a run reads it from %s of a deployment; without it AS-* and E2E-* are not judged", x.target.Config.AgentURLFrom),
			"correct agent_url_from if the URL is in another field, or set agent_target")
		x.examineNames(e)
	}
	return nil
}

// examineSecrets says which secrets are too short.
func (x *examiner) examineSecrets(e *Examination) {
	if told := target.ShortSecrets(x.target.Config); told != "" {
		found, remedy, _ := strings.Cut(told, "; ")
		e.add(Noted, "secrets", found, remedy)
	}
}

// examineNames says to which agent servers that the control plane names the tokens of users go.
func (x *examiner) examineNames(e *Examination) {
	switch c := x.target.Config; {
	case c.AllowPrivate:
		e.add(Noted, client.KeyPrivate, "true: the tokens of users also go to agent servers on private networks that the "+
			"control plane names", "use users of a test system only")
	case c.AgentTarget == "" && len(e.problems()) == 0 && x.route.ProxyOf(c.Target) != nil:
		e.add(Noted, client.KeyPrivate, "requests go through a proxy: no token of a user goes to a host name that the control "+
			"plane names and the configuration does not hold", "set agent_target, or allow_private to true")
	}
}

// examineAddress looks whether the tokens of users would go to the agent server that an existing deployment names.
func (x *examiner) examineAddress(ctx context.Context, e *Examination, deployment string) {
	c := x.target.Config
	a, err := x.plane.Get(ctx, plane.DeploymentPath(deployment), "")
	if c.AgentTarget != "" || err != nil || !a.OK() || a.Get(c.AgentURLFrom).String() == "" {
		return
	}
	named := a.Get(c.AgentURLFrom).String()
	var refused *client.NotNamed
	if _, err := x.target.Client.Names.Base(named); errors.As(err, &refused) {
		found := fmt.Sprintf("no user's token is sent to the address that the deployment %s has at %s, %.200q: %s",
			deployment, c.AgentURLFrom, x.target.Redact.Text(named), refused.Why)
		e.add(Noted, "agent server", found, refused.Remedy())
	}
}

// singles are the askers with one credential only, where several are configured: together a valid one hides an invalid one.
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

// examineSingles reports credentials that are refused when they are sent alone.
func (x *examiner) examineSingles(e *Examination, probes []*probe) {
	for _, p := range probes {
		if !refusesCaller(p) {
			continue
		}
		_, key := x.target.Credential(string(p.who))
		found, remedy := fmt.Sprintf("sent alone: status %d; CP-AUTH-4 will fail", p.answer.Status), target.Variable(key)
		if p.who == target.AnotherTenant {
			key, found = "other_tenant", fmt.Sprintf("status %d; CP-AUTH-6 may fail", p.answer.Status)
			remedy = x.target.Sent(key, x.target.Config.OtherTenant)
		}
		e.add(Noted, key, found, "check "+remedy)
	}
}

// examinePlane checks the answers to requests with the credentials and without any. It tells whether the credentials were accepted.
func (x *examiner) examinePlane(ctx context.Context, e *Examination, owner, nobody *probe) (accepted bool) {
	const subject = "control plane"
	const key = "target"
	call := called(owner) + ": "
	switch wrong := x.trouble(ctx, owner, nobody, key); {
	case wrong.Found != "":
		wrong.Subject = subject
		e.Checks = append(e.Checks, wrong)
		if wrong.State == Problem {
			return false
		}
	case !x.target.Config.HasCredentials() && refusesCaller(owner):
		e.add(Noted, subject, fmt.Sprintf("%sstatus %d without credentials; only checks of refused requests run", call, owner.answer.Status), "set credentials.api_key ("+target.Variable("credentials.api_key")+")")
	case refusesCaller(owner):
		e.add(Problem, subject, fmt.Sprintf("%sstatus %d with the configured credentials", call, owner.answer.Status),
			"check "+x.target.Sent("credentials", x.target.Config.Credentials)+x.tenantHint()+
				gatewayHint("headers.control_plane", nobody))
	case !owner.answer.IsJSON():
		e.add(lessIf(refusesCaller(nobody)), subject, call+"expected JSON, got "+x.seen(owner.answer), baseAddress(key))
		if !refusesCaller(nobody) {
			return false
		}
	case owner.answer.Status == http.StatusNotFound:
		e.add(Fine, subject, call+"status 404, "+acceptance(x.target.Config), "")
	default:
		e.add(Noted, subject, call+"expected 404, got "+x.seen(owner.answer), "run the suite for details")
	}
	const without = "no credentials"
	switch {
	case nobody.answer == nil:
		e.add(Noted, without, "the same request without credentials: "+x.failure(nobody), "")
	case refusesCaller(nobody):
		e.add(Fine, without, fmt.Sprintf("the same request without credentials: status %d", nobody.answer.Status), "")
	default:
		e.add(Noted, without, fmt.Sprintf("the same request without credentials: expected 401 or 403, got %d; CP-AUTH-1 may fail", nobody.answer.Status), baseAddress(key))
	}
	return !refusesCaller(owner)
}

// acceptance says what an answer to a request for an unknown deployment shows of the credentials.
func acceptance(c *config.Config) string {
	if !c.HasCredentials() {
		return "no credentials required"
	}
	return "credentials accepted"
}

// refusesCaller tells whether the answer is the one to wrong or missing credentials.
func refusesCaller(p *probe) bool {
	return p.answer != nil && slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden}, p.answer.Status)
}

// tenantHint names the key of the tenant, where an API key alone is configured: one of several tenants is refused without.
func (x *examiner) tenantHint() string {
	if c := x.target.Config.Credentials; c.APIKey == "" || c.TenantID != "" {
		return ""
	}
	return "; if the key is for several tenants, set credentials.tenant_id"
}

// gatewayHint names the key of a gateway's headers, where requests are refused whatever credentials they have.
func gatewayHint(key string, nobody *probe) string {
	if !refusesCaller(nobody) {
		return ""
	}
	return "; if a gateway in front of it wants a header with every request, set " + key
}

// hasAnother tells whether something answers that is no server of the interface.
func hasAnother(nobody *probe) bool {
	a := nobody.answer
	return a != nil && a.Status < http.StatusInternalServerError && !refusesCaller(nobody) && (isPage(a) || !a.IsJSON())
}

// lessIf is a note where other answers show that the address is a target (it checks credentials), else a problem.
func lessIf(alive bool) State {
	if alive {
		return Noted
	}
	return Problem
}

func baseAddress(key string) string {
	return "check " + key + ": is it the base URL, with its path prefix?"
}

// called is the request of a probe: "GET https://agents.example/threads".
func called(p *probe) string {
	return p.request.Method + " " + p.request.Base + p.request.Path
}

// seen describes an answer, without secrets.
func (x *examiner) seen(a *client.Answer) string {
	return x.target.Redact.Excerpt(outcome.SeenShort(a))
}
