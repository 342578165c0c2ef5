package independent

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// deployment is guarded by Server.mu.
type deployment struct {
	id, tenant, title, source, slug string
	repoURL                         string
	secrets                         map[string]string
	buildOnPush                     *bool
	revisions                       []*revision // oldest first
	agent                           *agent
	live                            int // number of the revision that the agent server runs; 0 is none
}

// wish is what a body of create or update asks for, after its types were checked.
type wish struct {
	title, source, repoURL *string
	buildOnPush            *bool
	ref, path, image       *string
	secrets                map[string]string // by name; nil: none are given
}

func (w wish) revision() bool { return w.ref != nil || w.path != nil || w.image != nil }

// readWish ignores read-only and unknown fields.
func readWish(c *checker, r *http.Request) wish {
	f := c.readObject(r)
	sc, rc := f.object("source_config"), f.object("source_revision_config")
	var secrets map[string]string
	for _, secret := range f.objects("secrets") {
		name := secret.text("name")
		if name == nil {
			secret.c.add(secret.at("name"), "absent", "a secret has a name")
			continue
		}
		if secrets == nil {
			secrets = map[string]string{}
		}
		secrets[*name], _ = secret.m["value"].(string)
	}
	return wish{
		secrets: secrets,
		title:   f.text("name"), source: f.text("source"), repoURL: sc.text("repo_url"), buildOnPush: sc.boolean("build_on_push"),
		ref: rc.text("repo_ref"), path: rc.text("graph_config_path"), image: rc.text("image_uri"),
	}
}

// applies refuses fields of another source: the interface says which field applies to which (section 2).
func (w wish) applies(c *checker, source string) {
	for _, f := range []struct {
		name  string
		value *string
		ofGit bool
	}{{"repo_ref", w.ref, true}, {"graph_config_path", w.path, true}, {"image_uri", w.image, false}} {
		if f.value != nil && f.ofGit != (source == sourceGit) {
			c.add([]any{"source_revision_config", f.name}, "other-source", "does not apply to %s", source)
		}
	}
}

// checkSource keeps the rule which edition takes which source (interface, section 2, source).
func (s *Server) checkSource(c *checker, source *string) string {
	loc := []any{"source"}
	switch {
	case source == nil:
		c.add(loc, "absent", "say what to deploy from")
	case *source == sourceInternal, *source == s.Source:
		return *source
	case *source == sourceGit, *source == sourceExternal:
		c.add(loc, "other-edition", "%s cannot be had on the %s edition", *source, s.Edition)
	default:
		c.add(loc, "unknown-value", "%q is no source", *source)
	}
	return ""
}

func (s *Server) createDeployment(r *http.Request, tenant string) response {
	c := &checker{}
	want := readWish(c, r)
	source := ""
	if c.ok() {
		source = s.checkSource(c, want.source)
	}
	if c.ok() {
		want.applies(c, source)
	}
	if !c.ok() {
		return c.invalid()
	}
	d := &deployment{id: uuid.Must(uuid.NewV7()).String(), tenant: tenant, title: orElse(want.title, "untitled"), source: source,
		slug: "s" + uuid.NewString()[:13], repoURL: orElse(want.repoURL, ""), buildOnPush: want.buildOnPush,
		secrets: want.secrets, agent: newAgent(s, build{})}
	if source == sourceGit && !s.opts.Clone {
		want.ref, want.path = cmp.Or(want.ref, new(mainRef)), cmp.Or(want.path, new(mainGraph))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID[d.id] = d
	s.order = append([]*deployment{d}, s.order...)
	s.addRevision(d, want)
	return response{http.StatusAccepted, s.deploymentBody(d)}
}

func (s *Server) updateDeployment(r *http.Request, tenant, id string) response {
	c := &checker{}
	c.uuid("deployment_id", id)
	var d *deployment
	refused := s.withDeployment(c, tenant, id, func(found *deployment) response { d = found; return response{} })
	if d == nil {
		return refused
	}
	want := readWish(c, r) // outside the lock: the body may come slowly
	want.applies(c, d.source)
	if !c.ok() {
		return c.invalid()
	}
	if want.source != nil && *want.source != d.source {
		return response{http.StatusConflict, object{"detail": "a deployment keeps the source that it was created with"}}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d.title, d.buildOnPush = orElse(want.title, d.title), cmp.Or(want.buildOnPush, d.buildOnPush)
	if want.secrets != nil {
		d.secrets = want.secrets
	}
	status := http.StatusOK
	if want.revision() {
		status = http.StatusCreated
		s.addRevision(d, want)
	}
	keepTagRule(d) // also where build_on_push alone was asked for
	return response{status, s.deploymentBody(d)}
}

// keepTagRule sets build_on_push to false with a tag ref (interface, section 2, repo_ref), rather than refusing the request.
func keepTagRule(d *deployment) {
	if strings.HasPrefix(orElse(d.latest().ref, ""), "refs/tags/") {
		d.buildOnPush = new(false)
	}
}

func (d *deployment) latest() *revision { return d.revisions[len(d.revisions)-1] }

// deploymentBody needs s.mu. The agent server's address is absent until there is something to call.
func (s *Server) deploymentBody(d *deployment) object {
	config := object{"build_on_push": d.buildOnPush != nil && *d.buildOnPush, "pace": "brisk", "weight": 1.5}
	if d.repoURL != "" {
		config["repo_url"] = d.repoURL
	}
	if d.live > 0 {
		config["custom_url"] = s.agentBase + "/" + d.slug
	}
	body := object{
		"id": d.id, "latest_revision_id": d.latest().id, "source": d.source, "source_config": config,
		"source_revision_config": d.latest().config(d.source),
		"title":                  d.title, "détail": "Größe: 3 «Stück» ✔", "error": nil, "links": []object{{"rel": "self", "n": 1}},
		"revision_count": fmt.Sprint(len(d.revisions)), "asked_at": updatedAt(time.Now(), len(d.revisions)),
	}
	if s.opts.Extras {
		body["name"] = d.title
	}
	return body
}

func orElse(p *string, fallback string) string {
	if p == nil {
		return fallback
	}
	return *p
}
