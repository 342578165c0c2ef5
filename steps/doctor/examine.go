package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

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
	}
}

// singles are the askers with one credential only, where several are configured: together a valid one hides an invalid
// one.
func (x *examiner) singles() (all []target.Asker) {
	for _, each := range x.target.Given(x.target.Config.Credentials) {
		all = append(all, target.Asker(each.Scheme))
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
	want := expectation{key: "target", refusal: "check " + x.target.Sent("credentials", c.Credentials), answer: "404",
		isMet: func(a *exchange.Response) bool { return a.Status == http.StatusNotFound }, met: "credentials accepted",
		hint: "run the suite for details"}
	if c.Credentials.APIKey != "" && c.Credentials.TenantID == "" {
		want.refusal += "; if the key is for several tenants, set credentials.tenant_id"
	}
	if !c.HasCredentials() {
		want.met = "no credentials required"
		want.unset = "set credentials.api_key (" + config.Variable("credentials.api_key") + ")"
	}
	state := x.examine(ctx, "control plane", owner, nobody, want)
	x.examineConnection("target", probes)
	if state == Problem {
		return
	}
	const without, same = "no credentials", "the same request without credentials: "
	switch {
	case nobody.answer == nil:
		found, _ := x.unanswered(nobody, "target")
		x.add(Noted, without, same+found, "")
	case x.refused(nobody):
		x.add(Fine, without, fmt.Sprintf("%sstatus %d", same, nobody.answer.Status), "")
	default:
		x.add(Noted, without, fmt.Sprintf("%sexpected 401 or 403, got %d; CP-AUTH-1 may fail", same, nobody.answer.Status),
			baseAddress("target", ""))
	}
	for _, p := range singles {
		key := x.target.KeyOf(string(p.who))
		switch {
		case !x.refused(p):
		case p.who == target.AnotherTenant:
			x.add(Noted, "other_tenant", fmt.Sprintf("status %d; CP-AUTH-6 may fail", p.answer.Status),
				"check "+x.target.Sent("other_tenant", c.OtherTenant))
		default:
			x.add(Noted, key, fmt.Sprintf("sent alone: status %d; CP-AUTH-4 will fail", p.answer.Status),
				"check "+config.Variable(key))
		}
	}
}

// expectation is what an answer should be.
type expectation struct {
	key     string // of the address
	isMet   func(*exchange.Response) bool
	answer  string // what is expected, and what it shows
	met     string
	hint    string // the remedy where the answer is another one
	refusal string // the remedy where the credentials are refused
	unset   string // the remedy where none are configured; "" where some are
}

// examine checks the answer to a request with credentials.
func (x *examiner) examine(ctx context.Context, subject string, p, nobody *probe, want expectation) State {
	check := x.trouble(ctx, p, nobody, want.key, want.refusal)
	switch call := p.called() + ": "; {
	case want.unset != "" && x.refused(p):
		check = Check{Noted, "", fmt.Sprintf("%sstatus %d without credentials; only checks of refused requests run", call,
			p.answer.Status), want.unset}
	case check.Found != "":
	case want.isMet(p.answer):
		check.Found = fmt.Sprintf("%sstatus %d, %s", call, p.answer.Status, want.met)
	default:
		check = Check{Noted, "", call + "expected " + want.answer + ", got " + x.seen(p.answer), want.hint}
	}
	x.add(check.State, subject, check.Found, check.Remedy)
	return check.State
}

// examineExisting looks, as a run does, for what can be judged without further keys, unless there is a problem.
func (x *examiner) examineExisting(ctx context.Context) {
	c := x.target.Config
	if len(x.problems()) > 0 || x.forecast.Look(ctx, x.plane, x.agents) != nil || c.Target == "" || !c.HasCredentials() ||
		len(c.Create.Body) > 0 {
		return
	}
	found := x.plane.Existing.Deployments()
	missing := x.plane.Existing.Readable(1)
	switch {
	case c.Existing.Deployment != "" && missing != nil:
		x.add(Noted, "existing.deployment", missing.Error(), "")
		return
	case len(found) == 0:
		x.add(Noted, "existing deployments", "GET /v2/deployments: no DEPLOYED deployment; checks that need one are skipped",
			"set create.body, or existing.deployment")
		return
	}
	x.add(Fine, "existing deployments", fmt.Sprintf("%s with %s; the run reads it and does not change it", found[0].ID,
		reports.Count(len(found[0].Revisions), "revision")), "")
}

// listings request the threads: as each of the first two users, then without credentials and with an unknown token.
func (x *examiner) listings(search bool) (all []*probe) {
	users := x.target.UserKeys()
	for _, key := range users[:min(2, len(x.target.Config.Users))] {
		all = append(all, x.listing(x.target.CallerWith(key), search))
	}
	return append(all, x.listing(target.Caller{}, search), x.listing(x.target.UnknownCaller(), search))
}

func (x *examiner) listing(who target.Caller, search bool) *probe {
	method, path, body := http.MethodGet, agent.ThreadsPath, any(nil)
	if search {
		method, path, body = http.MethodPost, agent.ThreadsPath+"/search", map[string]any{}
	}
	return &probe{request: x.target.ToAgent(x.target.Config.AgentTarget, who, method, path, body)}
}

// searched requests the threads with the search endpoint where the configuration names none and GET /threads is not
// served, as a run does. Where that is not served either, the answers to GET /threads stand.
func (x *examiner) searched(ctx context.Context, listed []*probe) []*probe {
	first := listed[0]
	if x.target.Config.Agent.Listing != "" || first.answer == nil || !target.NotServed(first.answer) {
		return listed
	}
	found := x.listings(true)
	x.sendAll(ctx, found...)
	if a := found[0].answer; a == nil || target.NotServed(a) || a.Status >= http.StatusInternalServerError {
		return listed
	}
	x.target.ListsBySearch()
	x.add(Noted, "agent.listing", fmt.Sprintf("%s: status %d; threads are listed with POST /threads/search",
		first.called(), first.answer.Status), "")
	return found
}

const configureUsers = "set users: the first creates the data, the second must not see it"

// examineAgent checks the responses to the users, the first one first, and those to the last two requests: without
// credentials and with an unknown token. Without configured users the first of these stands in for the first user.
func (x *examiner) examineAgent(ctx context.Context, probes []*probe) {
	n := len(probes) - 2
	users, nobody, unknown := probes[:n], probes[n], probes[n+1]
	x.listed, x.nobody, x.unknown = probes[0], nobody, unknown
	defer x.examineConnection("agent_target", probes)
	want := expectation{key: "agent_target", isMet: lists, answer: "200 with a list of threads", met: "a list of threads",
		hint: x.target.ListingHint(), refusal: configureUsers}
	if len(users) == 0 {
		want.unset = configureUsers
		if state := x.examine(ctx, "agent server", nobody, nobody, want); state != Problem && !x.refused(nobody) {
			x.add(Noted, "users", "none configured: checks with two users are skipped", "")
		}
		return
	}
	for i, p := range users {
		subject := fmt.Sprintf("users.%d", i)
		if i == 0 {
			subject = "agent server"
		}
		_, credential := x.target.Config.CredentialOf(i)
		want.refusal = "check " + credential
		if x.examine(ctx, subject, p, nobody, want) == Problem && i == 0 {
			return
		}
	}
	x.examineRefusals(nobody, unknown)
}

// examineRefusals checks the responses to the requests without credentials and with an unknown token. It reports both
// as one if they have the same status, and are expected to.
func (x *examiner) examineRefusals(nobody, unknown *probe) {
	const key = "agent.rejected_status"
	a, b, status := nobody.answer, unknown.answer, x.target.Config.Agent.RejectedStatus
	if a != nil && b != nil && a.Status == b.Status && slices.Equal(status.Missing, status.Invalid) {
		x.examineRefusal("no user", nobody, config.Missing, "AS-AUTH-1", key)
		return
	}
	x.examineRefusal("no user", nobody, config.Missing, "AS-AUTH-1", key+".missing")
	x.examineRefusal("unknown token", unknown, config.Invalid, "AS-AUTH-2", key+".invalid")
}

// examineRefusal checks the response to a request that the authentication handler must refuse. The key is that of its
// status in the configuration.
func (x *examiner) examineRefusal(subject string, p *probe, c config.RefusalCase, requirement, key string) {
	how := map[config.RefusalCase]string{config.Missing: "without credentials", config.Invalid: "with an unknown token"}[c]
	status := x.target.Config.Agent.RejectedStatus
	call, a, wanted := p.called()+" "+how+": ", p.answer, status.For(c)
	expected, remedy := cmp.Or(status.Words(c), "a 4xx status"), ""
	switch {
	case a == nil:
		found, _ := x.unanswered(p, "agent_target")
		x.add(Noted, subject, call+found, "")
		return
	case slices.Contains(wanted, a.Status), len(wanted) == 0 && a.IsRefused():
		x.add(Fine, subject, fmt.Sprintf("%sstatus %d", call, a.Status), "")
		return
	case a.IsRefused():
		remedy = fmt.Sprintf("set %s to %d if the authentication handler is supposed to return it", key, a.Status)
	case a.OK():
		remedy = "name an authentication handler in auth.path of the graph configuration"
	}
	x.add(Noted, subject, fmt.Sprintf("%sexpected %s, got %d: %s will fail", call, expected, a.Status, requirement), remedy)
}

// lists tells whether an answer is a list of threads.
func lists(a *exchange.Response) bool { return a != nil && a.OK() && a.IsArray() }

// tryGraph runs the conformance graph once for each word of its contract, as a run does before the scenarios that need
// it, and removes the threads.
func (x *examiner) tryGraph(ctx context.Context) {
	const subject = "graph"
	switch {
	case len(x.problems()) > 0:
		return
	case x.target.Config.AgentTarget == "":
		x.add(Noted, subject, "not tried: the URL of the agent server is not known", "set agent_target")
		return
	case x.target.AgentRefusal() != 0:
		x.add(Noted, subject, "not tried: no user is configured", configureUsers)
		return
	}
	s, err := x.agents.AgentServer(ctx)
	if err != nil {
		x.add(Problem, subject, x.target.Redact.Excerpt(err.Error()), "")
		return
	}
	defer x.removeThreads(ctx)
	for _, w := range config.GraphWords {
		word, err := subject+": "+w, s.Understood(ctx, w)
		if err == nil {
			x.add(Fine, word, "understood", "")
			continue
		}
		found := x.target.Redact.Excerpt(err.Error())
		var o *outcome.Outcome
		switch {
		case !errors.As(err, &o) || !o.IsBy(reports.ByGraph): // the others lack the same
			x.add(Problem, subject, found, "")
			return
		case w == agent.Echo:
			x.add(Problem, word, found, "correct the graph: everything about runs needs this")
			return
		}
		x.add(Noted, word, found, "correct the graph: what needs this is not judged")
	}
}

// removeThreads removes what was created.
func (x *examiner) removeThreads(ctx context.Context) {
	threads := x.target.Ledger.Left(evidence.Thread)
	all := reports.Count(len(threads), "thread")
	agent.RemoveThreads(ctx, x.target, threads, func(e reports.LedgerEntry) {
		_ = x.target.Ledger.Tried(e) // it has no file
	})
	if left := x.target.Ledger.Left(evidence.Thread); len(left) > 0 {
		found := fmt.Sprintf("%d of %s not removed: %s", len(left), all, left[0].Reason)
		x.add(Noted, "threads", x.target.Redact.Excerpt(found), "")
		return
	}
	x.add(Fine, "threads", all+" created and removed", "")
}
