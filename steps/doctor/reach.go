package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
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

// called is the request of a probe: "GET https://agents.example/threads".
func (p *probe) called() string { return p.request.Method + " " + p.request.Base + p.request.Path }

// refused tells whether the answer is the one to wrong or missing credentials.
func (x *examiner) refused(p *probe) bool {
	return p.answer != nil && (slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden}, p.answer.Status) ||
		p.request.Side == spec.AgentServer && p.answer.Status == x.target.Config.Agent.RejectedStatus)
}

// seen describes an answer, without secrets.
func (x *examiner) seen(a *client.Answer) string {
	return x.target.Redact.Excerpt(outcome.SeenShort(a))
}

// errBusy ends the requests to a target that keeps asking the client to wait.
var errBusy = errors.New("the target keeps asking the client to wait")

// sendAll sends the probes at once, so that a target that does not answer costs the time of one request, including the
// waits that the target asks for. The key rate lets each of them wait for its turn.
func (x *examiner) sendAll(ctx context.Context, probes ...*probe) {
	turns := time.Duration(len(probes)) * x.target.Config.Every()
	limited, cancel := context.WithTimeoutCause(ctx, x.target.Config.Timeouts.Request+time.Second+turns, errBusy)
	defer cancel()
	var wait sync.WaitGroup
	for _, p := range probes {
		wait.Go(func() { p.answer, p.err = x.target.Client.Do(limited, p.request) })
	}
	wait.Wait()
}

// examineTarget sends requests to each configured address, with the configured credentials and without any.
func (x *examiner) examineTarget(ctx context.Context) {
	var planes, agents []*probe
	c := x.target.Config
	if c.Target != "" {
		path := plane.RevisionsPath(target.UnknownID())
		for _, who := range append([]target.Asker{target.TheClient, target.Nobody}, x.singles()...) {
			planes = append(planes, &probe{who: who, request: x.target.ToControlPlane(who, http.MethodGet, path, nil)})
		}
	}
	if c.AgentTarget != "" {
		agents = x.listings(x.target.Searches())
	}
	x.sendAll(ctx, slices.Concat(planes, agents)...)
	if len(planes) > 0 {
		x.examinePlane(ctx, planes)
	}
	switch {
	case len(agents) > 0:
		x.examineAgent(ctx, x.searched(ctx, agents))
	case c.Target != "":
		x.add(Noted, "agent server", fmt.Sprintf("its URL is not known yet: a run reads it from %s of a deployment; "+
			"without it AS-* and E2E-* are not judged", c.AgentURLFrom),
			"correct agent_url_from if the URL is in another field, or set agent_target")
		if !c.AllowPrivate && len(x.problems()) == 0 && x.route.ProxyOf(c.Target) != nil {
			x.add(Noted, client.KeyPrivate, "requests go through a proxy: no token of a user goes to a host name that the "+
				"control plane names and the configuration does not hold", "set agent_target, or allow_private to true")
		}
	}
}

// singles are the askers with one credential only, where several are configured: together a valid one hides an invalid
// one.
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

// examinePlane checks the answers to requests with the credentials, without any, and with each alone.
func (x *examiner) examinePlane(ctx context.Context, probes []*probe) {
	owner, nobody, singles := probes[0], probes[1], probes[2:]
	c := x.target.Config
	refusal := "check " + x.target.Sent("credentials", c.Credentials)
	if c.Credentials.APIKey != "" && c.Credentials.TenantID == "" {
		refusal += "; if the key is for several tenants, set credentials.tenant_id"
	}
	check := x.trouble(ctx, owner, nobody, "target", refusal)
	switch call := owner.called() + ": "; {
	case !c.HasCredentials() && x.refused(owner):
		check = Check{Noted, "", fmt.Sprintf("%sstatus %d without credentials; only checks of refused requests run",
			call, owner.answer.Status), "set credentials.api_key (" + target.Variable("credentials.api_key") + ")"}
	case check.Found != "":
	case owner.answer.Status == http.StatusNotFound && c.HasCredentials():
		check.Found = call + "status 404, credentials accepted"
	case owner.answer.Status == http.StatusNotFound:
		check.Found = call + "status 404, no credentials required"
	default:
		check = Check{Noted, "", call + "expected 404, got " + x.seen(owner.answer), "run the suite for details"}
	}
	x.add(check.State, "control plane", check.Found, check.Remedy)
	x.examineConnection("target", probes)
	if check.State == Problem {
		return
	}
	const without, same = "no credentials", "the same request without credentials: "
	switch {
	case nobody.answer == nil:
		x.add(Noted, without, same+x.failure(nobody), "")
	case x.refused(nobody):
		x.add(Fine, without, fmt.Sprintf("%sstatus %d", same, nobody.answer.Status), "")
	default:
		x.add(Noted, without, fmt.Sprintf("%sexpected 401 or 403, got %d; CP-AUTH-1 may fail", same, nobody.answer.Status),
			baseAddress("target", ""))
	}
	for _, p := range singles {
		if !x.refused(p) {
			continue
		}
		_, key := x.target.Credential(string(p.who))
		found, remedy := fmt.Sprintf("sent alone: status %d; CP-AUTH-4 will fail", p.answer.Status), target.Variable(key)
		if p.who == target.AnotherTenant {
			key, found = "other_tenant", fmt.Sprintf("status %d; CP-AUTH-6 may fail", p.answer.Status)
			remedy = x.target.Sent(key, c.OtherTenant)
		}
		x.add(Noted, key, found, "check "+remedy)
	}
}

// examineExisting looks, as a run does, for what can be judged without further keys, unless there is a problem.
func (x *examiner) examineExisting(ctx context.Context) {
	if len(x.problems()) > 0 || x.forecast.Look(ctx, x.plane, x.agents) != nil {
		return
	}
	c := x.target.Config
	if c.Target == "" || !c.HasCredentials() || len(c.Create.Body) > 0 {
		return
	}
	asked, missing := "GET /v2/deployments", x.plane.Existing.Readable(1)
	if c.Existing.Deployment != "" {
		asked = "existing.deployment"
		if missing != nil {
			x.add(Noted, asked, missing.Error(), "")
			return
		}
	}
	const subject = "existing deployments"
	found := x.plane.Existing.Deployments()
	if len(found) == 0 {
		x.add(Noted, subject, asked+": no DEPLOYED deployment; checks that need one are skipped",
			"set create.body, or existing.deployment")
		return
	}
	x.add(Fine, subject, fmt.Sprintf("%s: %s with %s; the run reads it and does not change it", asked, found[0].ID,
		reports.Count(len(found[0].Revisions), "revision")), "")
	a, err := x.plane.Get(ctx, plane.DeploymentPath(found[0].ID), "")
	if c.AgentTarget != "" || err != nil || !a.OK() || a.Get(c.AgentURLFrom).String() == "" {
		return
	}
	named := a.Get(c.AgentURLFrom).String()
	if _, err := x.target.Client.Names.Base(named); err != nil {
		x.add(Noted, "agent server", target.Refused(x.target, named, err).Error(), "")
	}
}
