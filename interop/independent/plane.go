package independent

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/steps/config"
)

const (
	folder   = "/shared/box" // the path of the control plane on its host
	deployed = "DEPLOYED"
)

// The values of source (interface, section 2).
const (
	gitHost           = "git_host"
	externalContainer = "external_container"
	internalContainer = "internal_container"
)

type deployment struct {
	id, tenant, source, slug string
	repoURL                  *string
	buildOnPush              *bool
	revisions                []*revision // oldest first
	agent                    *agent
	live                     int // the number of the revision in service, or 0
}

func (d *deployment) latest() *revision { return d.revisions[len(d.revisions)-1] }

func (s *Server) controlPlane() http.Handler {
	routes := http.NewServeMux()
	for pattern, handler := range map[string]func(*call) response{
		"POST /v2/deployments":                                        (*call).createDeployment,
		"GET /v2/deployments/{deployment_id}":                         (*call).getDeployment,
		"PATCH /v2/deployments/{deployment_id}":                       (*call).updateDeployment,
		"GET /v2/deployments/{deployment_id}/revisions":               (*call).listRevisions,
		"GET /v2/deployments/{deployment_id}/revisions/{revision_id}": (*call).getRevision,
	} {
		routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			(&call{Server: s, r: r, tenant: tenantOf(r)}).serve(w, (*call).findDeployment, handler)
		})
	}
	return http.StripPrefix(folder, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tenantOf(r) == "" { // checked first, so that a refusal reveals nothing
			send(w, r, http.StatusForbidden, "text/plain; charset=utf-8", []byte("You shall not pass.\n"))
			return
		}
		routes.ServeHTTP(w, r)
	}))
}

// invalid returns an HTTPValidationError (interface, sections 2 and 7) with an additional member.
func (c *call) invalid() response {
	return answer(http.StatusUnprocessableEntity, object{"detail": c.problems, "kind": "invalid"})
}

// missing returns a 404 that contains the ID of the request (interface, section 7).
func (c *call) missing(what string) response {
	detail := "«" + c.r.PathValue(what) + "»: no such " + what + " was found here"
	return answer(http.StatusNotFound, object{"detail": detail, "kind": "missing"})
}

// findDeployment finds the deployment of the path. It returns false with a refusal if it does not exist or belongs to
// another tenant. IDs are UUIDs of 36 characters in any case.
func (c *call) findDeployment() (response, bool) {
	for _, name := range []string{"deployment_id", "revision_id"} {
		text := c.r.PathValue(name)
		if text != "" && (len(text) != 36 || uuid.Validate(text) != nil) {
			c.wrong("not-uuid", strconv.Quote(text)+" is not a valid UUID", name)
		}
	}
	if !c.ok() {
		return c.invalid(), false
	}
	c.deployment = c.deployments[strings.ToLower(c.r.PathValue("deployment_id"))]
	if c.r.PathValue("deployment_id") != "" && (c.deployment == nil || c.deployment.tenant != c.tenant) {
		return c.missing("deployment_id"), false
	}
	return response{}, true
}

// deploymentBody is the body of create or update. Read-only and unknown fields are ignored.
type deploymentBody struct {
	Source       *string `json:"source"`
	SourceConfig struct {
		RepoURL     *string `json:"repo_url"`
		BuildOnPush *bool   `json:"build_on_push"`
	} `json:"source_config"`
	Revision revisionSource `json:"source_revision_config"`
}

type revisionSource struct {
	Ref   *string `json:"repo_ref"`
	Path  *string `json:"graph_config_path"`
	Image *string `json:"image_uri"`
}

// editionSources contains the source that is only available in an edition (interface, section 2).
var editionSources = map[string]string{config.Cloud: gitHost, config.SelfHosted: externalContainer}

// readDeploymentBody reads the body of create or update. It adds problems for a source of the other edition and for fields
// of other sources (interface, section 2).
func (c *call) readDeploymentBody() (b deploymentBody) {
	c.read(&b)
	if !c.ok() {
		return b
	}
	source := orElse(b.Source, "")
	if c.deployment != nil {
		source = c.deployment.source
	}
	if source != editionSources[c.edition] && source != internalContainer {
		c.wrong("source", fmt.Sprintf("%q cannot be had on the %s edition", source, c.edition), "source")
		return b
	}
	for name, value := range map[string]*string{"repo_ref": b.Revision.Ref, "graph_config_path": b.Revision.Path,
		"image_uri": b.Revision.Image} {
		if value != nil && (name == "image_uri") == (source == gitHost) {
			c.wrong("other-source", "does not apply to "+source, "source_revision_config", name)
		}
	}
	return b
}

// createDeployment creates a deployment and its first revision.
func (c *call) createDeployment() response {
	want := c.readDeploymentBody()
	if !c.ok() {
		return c.invalid()
	}
	d := &deployment{id: uuid.Must(uuid.NewV7()).String(), slug: "s" + uuid.NewString()[:13], agent: &agent{},
		tenant: c.tenant, source: *want.Source,
		repoURL: want.SourceConfig.RepoURL, buildOnPush: want.SourceConfig.BuildOnPush}
	if d.source == gitHost {
		want.Revision.Ref = cmp.Or(want.Revision.Ref, new(mainRef))
		want.Revision.Path = cmp.Or(want.Revision.Path, new(mainGraph))
	}
	c.deployments[d.id], c.deployment = d, d
	c.addRevision(d, want.Revision)
	return answer(http.StatusAccepted, c.describe(d))
}

func (c *call) getDeployment() response { return answer(http.StatusOK, c.describe(c.deployment)) }

// updateDeployment changes a deployment. It returns 201 if it creates a revision.
func (c *call) updateDeployment() response {
	d, want, status := c.deployment, c.readDeploymentBody(), http.StatusOK
	switch {
	case !c.ok():
		return c.invalid()
	case orElse(want.Source, d.source) != d.source:
		return answer(http.StatusConflict, object{"detail": "a deployment keeps the source that it was created with"})
	}
	d.buildOnPush = cmp.Or(want.SourceConfig.BuildOnPush, d.buildOnPush)
	if want.Revision != (revisionSource{}) {
		status = http.StatusCreated
		c.addRevision(d, want.Revision)
	}
	return answer(status, c.describe(d))
}

// describe returns a deployment as JSON. It contains the address of the agent server if a revision is in service. With a
// tag, build_on_push is always false (interface, section 2, repo_ref).
func (s *Server) describe(d *deployment) object {
	pushes := orElse(d.buildOnPush, false) && !strings.HasPrefix(orElse(d.latest().Ref, ""), "refs/tags/")
	source := object{"repo_url": d.repoURL, "build_on_push": pushes, "pace": "brisk", "weight": 1.5}
	if d.live > 0 {
		source["custom_url"] = s.agentBase + "/" + d.slug
	}
	return object{"id": d.id, "latest_revision_id": d.latest().id, "source": d.source, "source_config": source,
		"source_revision_config": d.latest().config(d.source), "error": nil, "détail": "Größe: 3 «Stück» ✔",
		"links": []object{{"rel": "self", "n": 1}}, "asked_at": instant(s.now(), len(d.revisions))}
}

func (c *call) getRevision() response {
	for _, rev := range c.deployment.revisions {
		if rev.id == strings.ToLower(c.r.PathValue("revision_id")) {
			return answer(http.StatusOK, rev.describe(c.deployment.source))
		}
	}
	return c.missing("revision_id")
}

// listRevisions lists revisions (interface, section 4), newest first, which the interface does not state. A revision counts as reconciled if it is DEPLOYED.
func (c *call) listRevisions() response {
	q := c.r.URL.Query()
	limit, offset := c.number(q, "limit", 20, 1, 100), c.number(q, "offset", 0, 0, 1<<30)
	wanted, reconciled := statuses, strings.ToLower(q.Get("remote_reconciled"))
	if q.Has("status") {
		wanted = strings.Split(q.Get("status"), ",")
	}
	for _, part := range wanted {
		if !slices.Contains(statuses, part) {
			c.wrong("unknown-value", strconv.Quote(part)+" is no status", "status")
		}
	}
	if q.Has("remote_reconciled") && reconciled != "true" && reconciled != "false" {
		c.wrong("wrong-kind", strconv.Quote(reconciled)+" is neither true nor false", "remote_reconciled")
	}
	if !c.ok() {
		return c.invalid()
	}
	found := []object{}
	for _, rev := range slices.Backward(c.deployment.revisions) {
		up := strconv.FormatBool(rev.status == deployed)
		if slices.Contains(wanted, rev.status) && (reconciled == "" || reconciled == up) {
			found = append(found, rev.describe(c.deployment.source))
		}
	}
	resources := cut(found, limit, offset)
	return answer(http.StatusOK, object{"resources": resources, "offset": offset + limit, "total": len(found)})
}

// number reads an integer with the limits of section 8. An offset above the limit is reduced to it.
func (c *call) number(q url.Values, name string, fallback, low, high int) int {
	if !q.Has(name) {
		return fallback
	}
	n, err := strconv.Atoi(q.Get(name)) // out of range, n is the maximum
	if err != nil && !errors.Is(err, strconv.ErrRange) || n < low || n > high && name == "limit" {
		c.wrong("no-number", fmt.Sprintf("%q is no whole number from %d on", q.Get(name), low), name)
	}
	return min(n, high)
}

// statuses contains all statuses of the interface (section 3).
var statuses = []string{"CREATING", "QUEUED", "AWAITING_BUILD", "BUILDING", "AWAITING_DEPLOY", "DEPLOYING",
	"CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED", deployed, "SKIPPED", "INTERRUPTED", "UNKNOWN"}

type revision struct {
	revisionSource
	id               string
	n                int // the number of the revision, from 1
	status           string
	created, updated time.Time
	commit           *string
}

// addRevision adds a revision and builds it. Missing fields are those of the previous revision. The interface does not
// specify transitions between statuses (section 3): they differ between revisions, and every third revision is finished
// before the response is sent.
func (s *Server) addRevision(d *deployment, from revisionSource) {
	id := uuid.Must(uuid.NewUUID()).String()
	rev := &revision{revisionSource: from, id: id, n: len(d.revisions) + 1, created: s.now()}
	if rev.n > 1 {
		before := d.latest()
		rev.Ref, rev.Path = cmp.Or(from.Ref, before.Ref), cmp.Or(from.Path, before.Path)
		rev.Image = cmp.Or(from.Image, before.Image)
	}
	d.revisions = append(d.revisions, rev)
	end := rev.end(d)
	transitions := [][]string{{"QUEUED", "UNKNOWN", "BUILDING", end}, {"CREATING", "AWAITING_BUILD", end}, {end}}
	steps := transitions[rev.n%len(transitions)]
	s.setStatus(d, rev, steps[0])
	s.work.Go(func() {
		for _, next := range steps[1:] {
			if !pause(s.ctx, 5*time.Millisecond) {
				return
			}
			s.mu.Lock()
			s.setStatus(d, rev, next)
			s.mu.Unlock()
		}
	})
}

// end returns the final status of a revision.
func (rev *revision) end(d *deployment) string {
	path := orElse(rev.Path, "")
	hasSource := orElse(d.repoURL, "") == repoURL && (path == mainGraph || path == otherGraph)
	switch {
	case d.source == gitHost && (!hasSource || voices[*rev.Ref] == ""):
		return "BUILD_FAILED"
	case d.source == externalContainer && voices[orElse(rev.Image, "")] == "":
		return "DEPLOY_FAILED"
	}
	return deployed
}

// setStatus changes the status of a revision. A DEPLOYED revision is put in service, unless a newer one is.
func (s *Server) setStatus(d *deployment, rev *revision, status string) {
	rev.status, rev.updated = status, s.now()
	if id, known := commits[orElse(rev.Ref, "")]; known && (status == deployed || status == "BUILD_FAILED") {
		rev.commit = &id
	}
	if status == deployed && rev.n > d.live {
		d.live, s.agents[d.slug] = rev.n, d.agent
		d.agent.voice = cmp.Or(voices[orElse(rev.Ref, "")], voices[orElse(rev.Image, "")], "Inner voice")
		if orElse(rev.Path, "") == otherGraph {
			d.agent.voice = "Nested " + strings.ToLower(d.agent.voice)
		}
	}
}

// config returns the source_revision_config of a revision. It omits fields that do not apply to the source, because no field
// is required (interface, section 2).
func (rev *revision) config(source string) object {
	if source == gitHost {
		return object{"repo_ref": rev.Ref, "graph_config_path": rev.Path, "repo_commit_sha": rev.commit, "shallow": true}
	}
	return object{"image_uri": rev.Image, "digest": nil}
}

func (rev *revision) describe(source string) object {
	return object{"id": rev.id, "created_at": instant(rev.created, rev.n), "updated_at": instant(rev.updated, rev.n+1),
		"status": rev.status, "source": source, "source_revision_config": rev.config(source),
		"number": rev.n, "detail": nil, "tags": []string{}, "builder": object{"id": "b-7", "status": "IDLE"}}
}
