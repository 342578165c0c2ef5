package doctor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/safe"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// Discovery is the draft of a configuration for a target, with what the target was asked.
type Discovery struct {
	Draft *config.Draft
	// Problems say why an address gave no usable answer; what depends on it is left as comments.
	Problems []Check
}

// discoverer fills in a draft.
type discoverer struct {
	*examiner
	draft *config.Draft
	tell  func(step string)
}

// Discover asks the addresses of a configuration what they can, with the credentials in it, and drafts a configuration.
// It only reads, and tells each step before it is taken. The error is that of the context, or of the route.
func Discover(ctx context.Context, c *config.Config, tell func(step string)) (*Discovery, error) {
	t, err := target.New(target.Options{Config: c, Concurrency: requestsAtOnce})
	if err != nil {
		return nil, err
	}
	defer t.Close() //nolint:errcheck // there is no ledger
	x := &examiner{Examination: &Examination{}, target: t, plane: plane.New(t, nil, time.Time{})}
	d := &discoverer{x, config.NewDraft(), tell}
	addresses := slices.DeleteFunc([]string{c.Target, c.AgentTarget}, func(address string) bool { return address == "" })
	d.tell("asking " + strings.Join(addresses, " and ") + ", with the credentials and without")
	d.examineTarget(ctx)
	found := ""
	if c.Target != "" {
		found = d.askPlane(ctx)
	}
	d.draftUsers()
	if c.AgentTarget != "" {
		d.draft.Set("agent_target", c.AgentTarget, d.said("agent server"))
		d.askAgent(ctx)
	} else {
		d.suggestAgent(found)
	}
	d.suggestRest()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	problems := slices.DeleteFunc(d.Checks, func(check Check) bool { return check.State != Problem })
	return &Discovery{Draft: d.draft, Problems: problems}, nil
}

// said are the findings about subjects, as a comment.
func (d *discoverer) said(subjects ...string) string {
	var all []string
	for _, c := range d.Checks {
		if slices.Contains(subjects, c.Subject) {
			all = append(all, safe.Line(c.Found))
		}
	}
	return "Given. " + strings.Join(all, "; ") + "."
}

// line is a text of the target for a comment: without secrets and without line breaks.
func (d *discoverer) line(format string, args ...any) string {
	return safe.Line(d.target.Redact.Text(fmt.Sprintf(format, args...)))
}

// askPlane asks the control plane, and returns the address of an agent server that a deployment names.
func (d *discoverer) askPlane(ctx context.Context) (agentBase string) {
	d.draft.Set("target", d.target.Config.Target, d.said("control plane", "no credentials"))
	d.suggestCredentials()
	deployments, listed := d.deployments(ctx)
	d.askTenant(ctx)
	d.draftEdition(deployments)
	d.draftBody(deployments, listed)
	return d.draftAddress(ctx, deployments)
}

// suggestCredentials names the variables of the credentials that are set, and the files that may hold them instead.
func (d *discoverer) suggestCredentials() {
	for scheme, key := range map[string]string{target.SchemeAPIKey: "api_key", target.SchemeTenantID: "tenant_id",
		target.SchemeBearer: "bearer"} {
		value, full := d.target.Credential(scheme)
		why := "Not set: set " + target.Variable(full) + ", or name a file that holds only the credential."
		if value != "" {
			why = target.Variable(full) + " is set: this line is not needed. To read it from a file instead, name the file here."
		}
		for _, check := range d.Checks {
			if check.Subject == full {
				why = safe.Line(target.Variable(full)+" is set, but "+check.Found) + "."
			}
		}
		file := map[string]any{"file": "secrets/" + strings.ReplaceAll(key, "_", "-")}
		d.draft.Suggest("credentials."+key, file, why)
	}
	const other = "other_tenant.api_key"
	d.draft.Suggest(other, map[string]any{"file": "secrets/other-tenant-api-key"}, "Cannot be learned: set "+
		target.Variable(other)+", or name a file, to test that tenants are isolated (CP-AUTH-6).")
}

// deployments reads the list of deployments, as far as the target has one. Listed says what was asked and what came
// back.
func (d *discoverer) deployments(ctx context.Context) (rows []gjson.Result, listed string) {
	const most = 5
	d.tell("asking the control plane for its deployments")
	a, err := d.plane.Get(ctx, plane.DeploymentsPath, plane.PageOf(20, 0))
	call := "GET " + plane.DeploymentsPath + ": "
	switch {
	case err != nil:
		return nil, call + "no answer"
	case !a.OK() || !a.Get("resources").IsArray():
		return nil, d.line("%s%s: the target lists no deployments", call, d.seen(a))
	}
	rows = a.Get("resources").Array()
	return rows[:min(most, len(rows))], fmt.Sprintf("%sstatus %d, a list of %s", call, a.Status,
		reports.Count(len(rows), "deployment"))
}

// askTenant tries the tenant ID without a key, where a request without credentials is refused.
func (d *discoverer) askTenant(ctx context.Context) {
	id, path := d.target.Config.Credentials.TenantID, plane.RevisionsPath(target.UnknownID())
	if id == "" {
		return
	}
	nobody := &probe{request: d.target.ToControlPlane(target.Nobody, http.MethodGet, path, nil)}
	alone := &probe{request: d.target.ToControlPlane(target.Nobody, http.MethodGet, path, nil)}
	alone.request.Header = http.Header{http.CanonicalHeaderKey(d.target.Config.CredentialHeaders.TenantID): {id}}
	d.sendAll(ctx, nobody, alone)
	if alone.answer != nil && d.refused(nobody) && alone.answer.Status < http.StatusInternalServerError {
		d.draft.Set("tenant_id_alone", !d.refused(alone),
			fmt.Sprintf("Learned: GET %s with the tenant ID alone: status %d.", path, alone.answer.Status))
	}
}

// draftEdition takes the edition that was given, else that of the source of a deployment: each source is of one edition
// (section 2).
func (d *discoverer) draftEdition(deployments []gjson.Result) {
	if given := d.target.Config.Edition; given != "" {
		d.draft.Set("edition", given, "Given.")
		return
	}
	editions := map[string]string{config.GitHost: config.Cloud, config.ExternalContainer: config.SelfHosted}
	for _, row := range deployments {
		if edition := editions[row.Get("source").String()]; edition != "" {
			d.draft.Set("edition", edition, d.line("Learned: the deployment %s has the source %s, which only this edition offers.",
				row.Get("id"), row.Get("source")))
			return
		}
	}
	d.draft.Suggest("edition", config.Cloud, "Not known: no deployment with a source of one edition is listed. "+
		"Put cloud or self-hosted here.")
}

// sourceExamples are bodies of POST /v2/deployments, by source (section 2).
var sourceExamples = map[string]map[string]any{
	config.GitHost: {"name": "conformance", "source": config.GitHost,
		"source_config":          map[string]any{"repo_url": "https://git.example/agents.git", "build_on_push": false},
		"source_revision_config": map[string]any{"repo_ref": "main", "graph_config_path": "agent.json"}},
	config.ExternalContainer: {"name": "conformance", "source": config.ExternalContainer, "source_config": map[string]any{},
		"source_revision_config": map[string]any{"image_uri": "registry.example/conformance:v1"}},
}

// draftBody suggests how deployments are created. Whether the run may create any is for the user to decide.
func (d *discoverer) draftBody(deployments []gjson.Result, listed string) {
	own, other := config.GitHost, config.ExternalContainer
	if d.draft.Value("edition") == config.SelfHosted {
		own, other = other, own
	}
	d.draft.Suggest("create.body", sourceExamples[own], listed+". Without create.body a run creates nothing and is partial. "+
		"Put a body here that builds the conformance graph.")
	d.draft.Suggest("create.refused", sourceExamples[other])
	for _, row := range deployments {
		source := row.Get("source").String()
		if !slices.Contains([]string{own, other, config.InternalContainer, ""}, source) {
			d.draft.Suggest("vocabulary", map[string]any{own: d.line("%.60s", source)}, d.line("The deployment %s has the source "+
				"%.60q, which is not a name of the interface. If it is the target's name for one of the sources, put that source "+
				"on the left.", row.Get("id"), source))
			break
		}
	}
	if own == config.GitHost {
		d.draft.Suggest("alternatives.repo_ref", "second-branch")
		d.draft.Suggest("alternatives.tag_ref", "refs/tags/v1.0.0")
		d.draft.Suggest("alternatives.graph_config_path", "second.json")
	} else {
		d.draft.Suggest("alternatives.image_uri", "registry.example/conformance:v2")
	}
}

// draftAddress looks in the deployments for the address of an agent server. Nothing is sent there: it may be anybody's.
func (d *discoverer) draftAddress(ctx context.Context, deployments []gjson.Result) (found string) {
	const key = "agent_url_from"
	usual := config.Default().AgentURLFrom
	for _, row := range deployments {
		a, err := d.plane.Get(ctx, plane.DeploymentPath(row.Get("id").String()), "")
		if err != nil || !a.OK() {
			continue
		}
		candidates := plane.AddressesIn(a, nil)
		if at := a.Get(usual); at.Type == gjson.String {
			candidates = append([]plane.Address{{Path: usual, URL: at.String()}}, candidates...)
		}
		var paths []string
		for _, at := range candidates {
			base, wrong := d.target.Client.Names.Base(at.URL)
			switch {
			case wrong != nil:
				d.tell(d.line("%s in the deployment %s cannot be the address of an agent server: %v", at.URL, row.Get("id"), wrong))
			case at.Path == usual:
				d.draft.Set(key, at.Path, d.line("Found: at this path the deployment %s has %s. It was not asked: give it with "+
					"--agent-target to have it asked.", row.Get("id"), at.URL))
				return base
			default:
				paths, found = append(paths, at.Path), base
			}
		}
		if len(paths) > 0 {
			d.draft.Suggest(key, paths[0], d.line("Found: the deployment %s has a URL at %s, which was not asked. Put the path of "+
				"the agent server's URL here.", row.Get("id"), strings.Join(paths, " and at ")))
			if len(paths) > 1 {
				return ""
			}
			return found
		}
	}
	d.draft.Suggest(key, usual, fmt.Sprintf("Not known: no URL of an agent server was found in %s. Put the path of the agent "+
		"server's URL in a deployment here.", reports.Count(len(deployments), "listed deployment")))
	return ""
}

// draftUsers writes the users of the environment, without their tokens.
func (d *discoverer) draftUsers() {
	users := d.target.Config.Users
	if len(users) == 0 {
		d.draft.Suggest("users", []any{
			map[string]any{"name": "ada", "token": map[string]any{"file": "secrets/ada"}, "identity": "ada@example.org"},
			map[string]any{"name": "bob", "token": map[string]any{"file": "secrets/bob"}, "identity": "bob@example.org"},
		}, "Not known: set "+target.Variable("users.0.token")+" and "+target.Variable("users.1.token")+" and run init again, "+
			"or put the users here. identity is what the authentication handler returns.")
		return
	}
	var all []any
	var named []string
	for i, u := range users {
		shown := map[string]any{"name": u.Name}
		if u.Identity != u.Name {
			shown["identity"] = u.Identity
		}
		all = append(all, shown)
		named = append(named, target.Variable(fmt.Sprintf("users.%d.token", i)))
	}
	d.draft.Set("users", all, d.line("From the environment: the tokens stay in %s; to read one from a file, add "+
		"token: {file: path} to the user.", strings.Join(named, ", ")),
		"Cannot be learned: identity, what the authentication handler returns for the user; without it, the name is expected.")
}

// The examples for what the agent server is asked.
const exampleDetail = "Invalid credentials"

// askAgent takes how threads are listed from the answer to the first user, and status and detail of a refusal that does
// not depend on what is wrong with the credentials.
func (d *discoverer) askAgent(ctx context.Context) {
	const listing, status, detail = "agent.listing", "agent.rejected_status", "agent.rejected_detail"
	d.tell(d.line("asking %s how callers are refused", d.target.Config.AgentTarget))
	unknown := d.listing(d.target.UnknownCaller(), d.target.Searches())
	d.sendAll(ctx, unknown)
	call := d.listed.request.Method + " " + d.listed.request.Path
	search := d.target.Searches()
	switch {
	case !lists(d.listed.answer):
		d.draft.Suggest(listing, "search", "Not known: "+call+" returned no list. Put get or search here; without it, GET "+
			"/threads is tried, then POST /threads/search.")
	default:
		d.draft.Set(listing, map[bool]string{false: "get", true: "search"}[search],
			fmt.Sprintf("Learned: %s: status %d, a list of threads.", call, d.listed.answer.Status))
	}
	a, b := d.nobody.answer, unknown.answer
	if a == nil || b == nil || a.Status != b.Status || !a.Refused() || target.NotServed(a) {
		how := fmt.Sprintf("%s without credentials: status %d, with an unknown token: status %d", call, statusOf(a), statusOf(b))
		d.draft.Suggest(status, http.StatusUnauthorized, "Not known: "+how+". Put the status here with which wrong credentials "+
			"are refused.")
		d.draft.Suggest(detail, exampleDetail, "Not known. Put the detail of that answer here; without it, it is not tested.")
		return
	}
	d.draft.Set(status, a.Status, fmt.Sprintf("Learned: %s without credentials and with an unknown token: status %d.",
		call, a.Status))
	first, second := detailOf(a), detailOf(b)
	if first != "" && first == second && d.line("%s", first) == first {
		d.draft.Set(detail, first, "Learned: both answers have it.")
		return
	}
	d.draft.Suggest(detail, exampleDetail, d.line("Not known: without credentials %q, with an unknown token %q. Put what both "+
		"contain here; without it, the detail is not tested.", first, second))
}

func statusOf(a *client.Answer) int {
	if a == nil {
		return 0
	}
	return a.Status
}

// detailOf is the detail of a refusal: a string of JSON, or a short plain text.
func detailOf(a *client.Answer) string {
	const most = 200
	text := strings.TrimSpace(string(a.Body))
	switch detail := a.Get("detail"); {
	case a.IsJSON() && detail.Type != gjson.String, isPage(a):
		return ""
	case a.IsJSON():
		text = detail.String()
	}
	if len(text) > most {
		return ""
	}
	return text
}

// suggestAgent leaves the keys of an agent server that was not given, with the address that a deployment names, if any.
func (d *discoverer) suggestAgent(found string) {
	example, why := "https://agents.example/conformance", "Not given: without it, agent servers are tested that the run "+
		"deploys (create.body)."
	if found != "" {
		example = found
		why += d.line(" %s stands in a deployment that is listed: name it here to test it.", found)
	}
	d.draft.Suggest("agent_target", example, why)
	const unknown = "Not known: no agent server was given with --agent-target. "
	d.draft.Suggest("agent.listing", "search", unknown+"Put get or search here.")
	d.draft.Suggest("agent.rejected_status", http.StatusUnauthorized, unknown+"Put the status here with which wrong "+
		"credentials are refused.")
	d.draft.Suggest("agent.rejected_detail", exampleDetail, unknown+"Put the detail of that answer here.")
}

// suggestRest leaves the keys as comments that no request can tell.
func (d *discoverer) suggestRest() {
	claim := []any{features.ControlPlane, features.AgentServer, features.EndToEnd}
	if d.target.Config.Target == "" {
		claim = []any{features.AgentServer}
		d.draft.Suggest("target", "https://control.example", "Not given: the requirements of the control plane are not tested.")
	} else {
		d.draft.Suggest("separate_credentials", true, "Not asked: credentials are sent only where they belong. Remove the "+
			"\"# \" if it is true.")
		d.draft.Suggest("max_deployments", 10)
	}
	d.draft.Suggest("implementation.name", "name of your product")
	d.draft.Suggest("implementation.version", "1.0.0")
	d.draft.Suggest("supports", claim, "Cannot be learned. docs/configuration.md lists the words; a part of a profile is "+
		"claimed by its capabilities, such as [agent-server-core, rollback].")
	d.draft.Suggest("assistant_id", config.Default().AssistantID, "Not asked. Put the name here with which the conformance "+
		"graph is deployed.")
	d.draft.Suggest("agent.studio_headers", map[string]any{"X-Auth-Scheme": "studio"}, "Cannot be learned: put the headers of "+
		"a user of your development environment here, if there is one.")
}
