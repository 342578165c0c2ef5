package doctor

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// examineTarget sends requests to each configured address, with the configured credentials and without any.
func (x *examiner) examineTarget(ctx context.Context) {
	var planes, agents []*probe
	c := x.target.Config
	if c.Target != "" {
		path := plane.RevisionsPath(target.UnknownID())
		for _, who := range append([]target.Sender{target.TheClient, target.Nobody}, x.singleCredentials()...) {
			planes = append(planes, &probe{who: who, request: x.target.ToControlPlane(who, http.MethodGet, path, nil)})
		}
	}
	if c.AgentTarget != "" {
		agents = x.listProbes(x.target.Searches())
	}
	x.sendAll(ctx, slices.Concat(planes, agents)...)
	if len(planes) > 0 {
		x.examinePlane(ctx, planes)
	}
	switch {
	case len(agents) > 0:
		x.examineAgent(ctx, x.orSearch(ctx, agents))
	case c.Target != "":
		x.add(Noted, "agent server", fmt.Sprintf("its URL is not known yet: a test run reads it from %s of a deployment; "+
			"without it AS-* and E2E-* are not judged", c.AgentURLFrom),
			"correct agent_url_from if the URL is in another field, or set agent_target")
		if len(c.Headers.AgentServer) > 0 && len(c.HeaderHosts) == 0 {
			x.add(Noted, "header_hosts", "headers.agent_server are sent to the host and port of target only",
				"set header_hosts to the host of the agent server if that is another one")
		}
	}
}

// singleCredentials returns a sender for each credential if several are configured, because a valid credential hides an
// invalid one. It also returns the other tenant.
func (x *examiner) singleCredentials() (all []target.Sender) {
	for _, each := range x.target.Given(x.target.Config.Credentials) {
		all = append(all, target.Sender(each.Scheme))
	}
	if len(all) < 2 {
		all = nil
	}
	if len(x.target.Credentials(target.AnotherTenant)) > 0 {
		all = append(all, target.AnotherTenant)
	}
	return all
}

// examinePlane checks the responses to requests with all credentials, without credentials, and with each credential.
func (x *examiner) examinePlane(ctx context.Context, probes []*probe) {
	owner, nobody, singles := probes[0], probes[1], probes[2:]
	c := x.target.Config
	want := expectation{key: "target", refusal: "check " + x.target.Sent("credentials", c.Credentials), response: "404",
		isMet: func(a *exchange.Response) bool { return a.Status == http.StatusNotFound }, met: "credentials accepted",
		hint: "run the suite for details"}
	if c.Credentials.APIKey != "" && c.Credentials.TenantID == "" {
		want.refusal += "; if the key is for several tenants, set credentials.tenant_id"
	}
	if !c.HasCredentials() {
		want.met = "no credentials required"
		want.unset = "set credentials.api_key (" + config.Variable("credentials.api_key") + ")"
	}
	if c.HasCredentials() && nobody.response != nil && !x.isRefused(nobody) {
		want.met = "as without credentials"
	}
	state := x.examine(ctx, "control plane", owner, nobody, want)
	x.examineConnection("target", probes)
	if state == Problem {
		return
	}
	const without, same = "no credentials", "the same request without credentials: "
	switch {
	case nobody.response == nil:
		found, _ := x.describeMissing(nobody, "target")
		x.add(Noted, without, same+found, "")
	case x.isRefused(nobody):
		x.add(Fine, without, fmt.Sprintf("%sstatus %d", same, nobody.response.Status), "")
	default:
		x.add(Noted, without, fmt.Sprintf("%sexpected 401 or 403, got %d; CP-AUTH-1 may fail", same, nobody.response.Status),
			baseAddress("target", ""))
	}
	for _, p := range singles {
		key := x.target.KeyOf(string(p.who))
		switch {
		case !x.isRefused(p):
		case p.who == target.AnotherTenant:
			x.add(Noted, "other_tenant", x.seen(p.response)+"; CP-AUTH-6 may fail",
				"check "+x.target.Sent("other_tenant", c.OtherTenant))
		default:
			x.add(Noted, key, "sent without the other credentials: "+x.seen(p.response)+"; CP-AUTH-4 will fail",
				"check "+c.Named(key))
		}
	}
}

// expectation describes the expected response to a request with credentials.
type expectation struct {
	key      string // key of the address
	isMet    func(*exchange.Response) bool
	response string // the expected response
	met      string // the conclusion if isMet
	hint     string // the remedy if the response is not the expected one
	refusal  string // the remedy if the credentials are refused
	unset    string // the remedy if no credentials are configured; "" if some are
}

// examine checks the response to a request with credentials.
func (x *examiner) examine(ctx context.Context, subject string, p, nobody *probe, want expectation) State {
	check := x.checkResponse(ctx, p, nobody, want.key, want.refusal)
	call := p.call() + ": "
	switch {
	case want.unset != "" && x.isRefused(p):
		check = Check{Noted, "", fmt.Sprintf("%sstatus %d without credentials; only checks of refused requests run", call,
			p.response.Status), want.unset}
	case check.Found != "":
	case want.isMet(p.response):
		check.Found = fmt.Sprintf("%sstatus %d, %s", call, p.response.Status, want.met)
	default:
		check = Check{Noted, "", call + "expected " + want.response + ", got " + x.seen(p.response), want.hint}
	}
	x.add(check.State, subject, check.Found, check.Remedy)
	return check.State
}

// examineExisting looks for deployments and refusals in the same way as a test run, unless there is a problem. It reports
// the deployment that a test run without create.body would read.
func (x *examiner) examineExisting(ctx context.Context) {
	if len(x.problems()) > 0 {
		return
	}
	err := x.forecast.Look(ctx, x.plane, x.agents)
	c := x.target.Config
	readsOne := c.Target != "" && c.HasCredentials() && len(c.Create.Body) == 0
	if err != nil || !readsOne {
		return
	}
	found := x.plane.Existing.Deployments()
	missing := x.plane.Existing.CheckDeployments(1)
	switch {
	case c.Existing.Deployment != "" && missing != nil:
		x.add(Noted, "existing.deployment", missing.Error(), "")
		return
	case len(found) == 0:
		x.add(Noted, "existing deployments", "GET /v2/deployments: no DEPLOYED deployment; checks that need one are skipped",
			"set create.body, or existing.deployment")
		return
	}
	x.add(Fine, "existing deployments", fmt.Sprintf("%s with %s; a test run reads it and does not change it", found[0].ID,
		reports.Count(len(found[0].Revisions), "revision")), "")
}

// listProbes returns requests for the threads: as each user of a test run, without credentials, with an unknown token,
// and with the blocked token if it is configured.
func (x *examiner) listProbes(search bool) (all []*probe) {
	users := x.target.UserKeys()
	for _, key := range users[:len(x.target.Config.JudgedUsers())] {
		all = append(all, x.listProbe(x.target.CallerWith(key), search))
	}
	all = append(all, x.listProbe(target.Caller{}, search), x.listProbe(x.target.UnknownCaller(), search))
	blocked, notConfigured := x.target.Caller(target.BlockedToken)
	if notConfigured == nil {
		all = append(all, x.listProbe(blocked, search))
	}
	return all
}

func (x *examiner) listProbe(who target.Caller, search bool) *probe {
	base := x.target.Config.AgentTarget
	if search {
		return &probe{request: x.target.ToAgent(base, who, http.MethodPost, agent.ThreadsPath+"/search", map[string]any{})}
	}
	return &probe{request: x.target.ToAgent(base, who, http.MethodGet, agent.ThreadsPath, nil)}
}

// orSearch requests the threads with the search endpoint if agent.listing is not set and GET /threads is not served or
// returns no list, as a test run does. It returns the probes of GET /threads if the search is not served either.
func (x *examiner) orSearch(ctx context.Context, listed []*probe) []*probe {
	first := listed[0]
	if x.target.Config.Agent.Listing != "" || first.response == nil {
		return listed
	}
	isNotList := first.response.OK() && !isList(first.response)
	if !isNotList && !target.NotServed(first.response) {
		return listed
	}
	searched := x.listProbes(true)
	x.sendAll(ctx, searched...)
	a := searched[0].response
	if a == nil || target.NotServed(a) || a.Status >= http.StatusInternalServerError || isNotList && !isList(a) {
		return listed
	}
	x.target.ListsBySearch()
	seen := fmt.Sprintf("status %d", first.response.Status)
	if isNotList {
		seen = "no array"
	}
	x.add(Noted, "agent.listing", fmt.Sprintf("%s: %s; threads are listed with POST /threads/search", first.call(), seen), "")
	return searched
}

const configureUsers = "set users: the first creates the data, the second must not see it"

// examineAgent checks the responses to the requests of listProbes. If no users are configured, it checks the request
// without credentials in place of the first user's.
func (x *examiner) examineAgent(ctx context.Context, probes []*probe) {
	n := len(x.target.Config.JudgedUsers())
	users, nobody, unknown := probes[:n], probes[n], probes[n+1]
	x.listed, x.nobody, x.unknown = probes[0], nobody, unknown
	defer x.examineConnection("agent_target", probes)
	want := expectation{key: "agent_target", isMet: isList, response: "200 with a list of threads", met: "a list of threads",
		hint: x.target.ListingHint(), refusal: configureUsers}
	if len(users) == 0 {
		want.unset = configureUsers
		state := x.examine(ctx, "agent server", nobody, nobody, want)
		if state != Problem && !x.isRefused(nobody) {
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
		state := x.examine(ctx, subject, p, nobody, want)
		if state == Problem && i == 0 {
			return
		}
	}
	x.examineRefusals(probes[n:])
}

// refusal is the response to a request that the authentication handler must refuse.
type refusal struct {
	probe       *probe
	how         string // "without credentials"
	requirement string // the requirement that fails if the response is wrong
	wanted      []int  // the configured statuses; empty: any 4xx
	expected    string // describes them
}

// isMet reports whether the response is the expected one.
func (r refusal) isMet() bool {
	a := r.probe.response
	if a == nil || len(r.wanted) == 0 {
		return a != nil && a.IsRefused()
	}
	return slices.Contains(r.wanted, a.Status)
}

// describe describes the response.
func (x *examiner) describe(r refusal) string {
	a := r.probe.response
	switch {
	case a == nil:
		found, _ := x.describeMissing(r.probe, "agent_target")
		return r.how + ": " + found
	case r.isMet():
		return fmt.Sprintf("%s: status %d", r.how, a.Status)
	}
	return fmt.Sprintf("%s: expected %s, got %d: %s will fail", r.how, r.expected, a.Status, r.requirement)
}

// examineRefusals reports in one line the responses to the requests without credentials, with an unknown token and, if
// configured, with the blocked token.
func (x *examiner) examineRefusals(probes []*probe) {
	status := x.target.Config.Agent.RejectedStatus
	expected := func(c config.RefusalCase) string { return cmp.Or(status.Words(c), "a 4xx status") }
	refusals := []refusal{
		{probes[0], "without credentials", "AS-AUTH-1", status.Missing, expected(config.Missing)},
		{probes[1], "with an unknown token", "AS-AUTH-2", status.Invalid, expected(config.Invalid)},
	}
	if len(probes) > 2 {
		refusals = append(refusals,
			refusal{probes[2], "with the blocked token", "AS-AUTH-2", status.Blocked, expected(config.Blocked)})
	}
	areMet := true
	var found []string
	var responses []*exchange.Response
	for _, r := range refusals {
		areMet = areMet && r.isMet()
		found = append(found, x.describe(r))
		responses = append(responses, r.probe.response)
	}
	text := probes[0].call() + " " + strings.Join(found, "; ")
	if areMet {
		x.add(Fine, "refusals", text, "")
		return
	}
	x.add(Noted, "refusals", text, remedyForRefusals(responses))
}

// remedyForRefusals returns the remedy for the responses to requests that the authentication handler must refuse, in the
// order of the cases. It returns "" if no configuration would accept the responses.
func remedyForRefusals(responses []*exchange.Response) string {
	if slices.Contains(responses, nil) {
		return ""
	}
	if responses[0].OK() || responses[1].OK() {
		return "name an authentication handler in auth.path of the graph configuration"
	}
	if responses[len(responses)-1].OK() {
		return "check agent.blocked_token: the authentication handler is supposed to refuse it"
	}
	isOne := true
	var perCase []string
	for i, a := range responses {
		if !a.IsRefused() {
			return ""
		}
		isOne = isOne && a.Status == responses[0].Status
		c := []config.RefusalCase{config.Missing, config.Invalid, config.Blocked}[i]
		perCase = append(perCase, fmt.Sprintf("%s: %d", c, a.Status))
	}
	value := "{" + strings.Join(perCase, ", ") + "}"
	if isOne {
		value = strconv.Itoa(responses[0].Status)
	}
	return "set agent.rejected_status to " + value + " if the authentication handler is supposed to return it"
}
