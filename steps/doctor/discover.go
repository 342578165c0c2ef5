package doctor

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

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

// Discover asks the addresses of a configuration what they can, with the credentials in it, and drafts a configuration. It only
// reads, and tells each step before it is taken. The error is that of the context.
func Discover(ctx context.Context, c *config.Config, tell func(step string)) (*Discovery, error) {
	t, err := target.New(target.Options{Config: c, Concurrency: atOnce})
	if err != nil {
		return nil, err
	}
	defer t.Close() //nolint:errcheck // there is no ledger
	d := &discoverer{&examiner{target: t, plane: plane.New(t, nil, time.Time{})}, config.NewDraft(), tell}
	e := &Examination{}
	d.tell("asking " + strings.Join(slices.DeleteFunc([]string{c.Target, c.AgentTarget}, func(address string) bool { return address == "" }), " and ") + ", with the credentials and without")
	if err := d.examineTarget(ctx, e); err != nil {
		return nil, err
	}
	found := ""
	if c.Target != "" {
		if found, err = d.askPlane(ctx, e); err != nil {
			return nil, err
		}
	}
	if c.AgentTarget != "" {
		d.draft.Set("agent_target", c.AgentTarget, d.said(e, "agent server"))
	}
	if err := d.askAgent(ctx, c.AgentTarget); err != nil {
		return nil, err
	}
	d.suggestRest(found)
	out := &Discovery{Draft: d.draft}
	for _, check := range e.Checks {
		if check.State == Problem {
			out.Problems = append(out.Problems, check)
		}
	}
	return out, nil
}

// said are the findings of an examination about a subject, as a comment.
func (d *discoverer) said(e *Examination, subjects ...string) string {
	var all []string
	for _, c := range e.Checks {
		if slices.Contains(subjects, c.Subject) {
			all = append(all, safe.Line(c.Found))
		}
	}
	if len(all) == 0 {
		return "Given."
	}
	return "Given. " + strings.Join(all, "; ") + "."
}

// line is a text of the target for a comment: without secrets and without line breaks.
func (d *discoverer) line(format string, args ...any) string {
	return safe.Line(d.target.Redact.Text(fmt.Sprintf(format, args...)))
}

// askPlane asks the control plane, and returns the address of an agent server that a deployment names.
func (d *discoverer) askPlane(ctx context.Context, e *Examination) (agentBase string, err error) {
	c := d.target.Config
	d.draft.Set("target", c.Target, d.said(e, "control plane", "no credentials"))
	d.suggestCredentials(e)
	deployments, listed, err := d.deployments(ctx)
	if err != nil {
		return "", err
	}
	if err := d.askTenant(ctx); err != nil {
		return "", err
	}
	d.draftEdition(deployments)
	d.draftBody(deployments, listed)
	return d.draftAddress(ctx, deployments)
}

// suggestCredentials names the variables of the credentials that are set, and the files that may hold them instead.
func (d *discoverer) suggestCredentials(e *Examination) {
	key := "credentials"
	for _, each := range []struct{ name, key, file string }{{target.SchemeAPIKey, "api_key", "api-key"}, {target.SchemeTenantID, "tenant_id", "tenant-id"}, {target.SchemeBearer, "bearer", "bearer"}} {
		value, full := d.target.Credential(each.name)
		why := "Not set: set " + target.Variable(full) + ", or name a file that holds only the credential."
		if value != "" {
			why = target.Variable(full) + " is set: this line is not needed. To read it from a file instead, name the file here."
			for _, check := range e.Checks {
				if check.Subject == full {
					why = safe.Line(target.Variable(full)+" is set, but "+check.Found) + "."
				}
			}
		}
		d.draft.Suggest(key+"."+each.key, map[string]any{"file": "secrets/" + each.file}, why)
	}
	d.draft.Suggest("other_tenant.api_key", map[string]any{"file": "secrets/other-tenant-api-key"},
		"Cannot be learned: set "+target.Variable("other_tenant.api_key")+", or name a file, to test that tenants are isolated (CP-AUTH-6).")
}

// deployments reads the list of deployments, as far as the target has one. Listed says what was asked and what came back.
func (d *discoverer) deployments(ctx context.Context) (rows []gjson.Result, listed string, err error) {
	const most = 5
	d.tell("asking the control plane for its deployments")
	a, err := d.plane.Get(ctx, plane.DeploymentsPath, plane.PageOf(20, 0))
	call := "GET " + plane.DeploymentsPath + ": "
	switch {
	case ctx.Err() != nil:
		return nil, "", context.Cause(ctx)
	case err != nil:
		return nil, d.line("%sno answer", call), nil
	case !a.OK() || !a.Get("resources").IsArray():
		return nil, d.line("%s%s: the target lists no deployments", call, d.seen(a)), nil
	}
	rows = a.Get("resources").Array()
	listed = fmt.Sprintf("%sstatus %d, a list of %s", call, a.Status, reports.Count(len(rows), "deployment"))
	return rows[:min(most, len(rows))], listed, nil
}

// askTenant tries the tenant ID without a key, where a request without credentials is refused.
func (d *discoverer) askTenant(ctx context.Context) error {
	id, key := d.target.Config.Credentials.TenantID, "tenant_id_alone"
	if id == "" {
		return nil
	}
	path := plane.RevisionsPath(target.UnknownID())
	nobody := &probe{request: d.target.ToControlPlane(target.Nobody, http.MethodGet, path, nil)}
	alone := &probe{request: d.target.ToControlPlane(target.Nobody, http.MethodGet, path, nil)}
	alone.request.Header = http.Header{http.CanonicalHeaderKey(d.target.Config.CredentialHeaders.TenantID): {id}}
	if err := d.sendAll(ctx, nobody, alone); err != nil {
		return err
	}
	if alone.answer == nil || !refusesCaller(nobody) || alone.answer.Status >= http.StatusInternalServerError {
		return nil
	}
	accepted := !refusesCaller(alone)
	d.draft.Set(key, accepted, fmt.Sprintf("Learned: GET %s with the tenant ID alone: status %d.", path, alone.answer.Status))
	return nil
}

// draftEdition takes the edition that was given, else that of the source of a deployment: each source is of one edition (section 2).
func (d *discoverer) draftEdition(deployments []gjson.Result) {
	if given := d.target.Config.Edition; given != "" {
		d.draft.Set("edition", given, "Given.")
		return
	}
	editions := map[string]string{config.GitHost: config.Cloud, config.ExternalContainer: config.SelfHosted}
	for _, row := range deployments {
		if edition := editions[row.Get("source").String()]; edition != "" {
			d.draft.Set("edition", edition, d.line("Learned: the deployment %s has the source %s, which only this edition offers.", row.Get("id"), row.Get("source")))
			return
		}
	}
	d.draft.Suggest("edition", config.Cloud, "Not known: no deployment with a source of one edition is listed. Put cloud or self-hosted here.")
}

// sourceExamples are bodies of POST /v2/deployments, by source (section 2).
var sourceExamples = map[string]map[string]any{
	config.GitHost: {"name": "conformance", "source": config.GitHost, "source_config": map[string]any{"repo_url": "https://git.example/agents.git", "build_on_push": false},
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
	d.draft.Suggest("create.body", sourceExamples[own], listed+". Without create.body a run creates nothing and is partial. Put a body here that builds the conformance graph.")
	d.draft.Suggest("create.refused", sourceExamples[other])
	for _, row := range deployments {
		source := row.Get("source").String()
		if _, known := sourceExamples[source]; !known && source != config.InternalContainer && source != "" {
			d.draft.Suggest("vocabulary", map[string]any{own: d.line("%.60s", source)}, d.line("The deployment %s has the source %.60q, which is not a name of the interface. "+
				"If it is the target's name for one of the sources, put that source on the left.", row.Get("id"), source))
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
func (d *discoverer) draftAddress(ctx context.Context, deployments []gjson.Result) (found string, err error) {
	const key = "agent_url_from"
	for _, row := range deployments {
		a, err := d.plane.Get(ctx, plane.DeploymentPath(row.Get("id").String()), "")
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil || !a.OK() {
			continue
		}
		var paths []string
		base := ""
		for _, at := range d.candidates(a) {
			allowed, wrong := d.target.Client.Names.Base(at.URL)
			switch {
			case wrong != nil:
				d.tell(d.line("%s in the deployment %s cannot be the address of an agent server: %v", at.URL, row.Get("id"), wrong))
			case at.Path == config.Default().AgentURLFrom:
				d.draft.Set(key, at.Path, d.line("Found: at this path the deployment %s has %s. It was not asked: give it with --agent-target to have it asked.",
					row.Get("id"), at.URL))
				return allowed, nil
			default:
				paths, base = append(paths, at.Path), allowed
			}
		}
		if len(paths) > 0 {
			if len(paths) > 1 {
				base = ""
			}
			d.draft.Suggest(key, paths[0], d.line("Found: the deployment %s has a URL at %s, which was not asked. Put the path of the agent server's URL here.",
				row.Get("id"), strings.Join(paths, " and at ")))
			return base, nil
		}
	}
	why := "Not known: no deployment is listed that has the URL of an agent server."
	if len(deployments) > 0 {
		why = fmt.Sprintf("Not known: no URL of an agent server was found in %s.", reports.Count(len(deployments), "listed deployment"))
	}
	d.draft.Suggest(key, config.Default().AgentURLFrom, why+" Put the path of the agent server's URL in a deployment here.")
	return "", nil
}

func statusOf(a *client.Answer) int {
	if a == nil {
		return 0
	}
	return a.Status
}
