package controlplane

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/store"
)

// createDeployment makes a deployment and its first revision (interface, section 1, step 1).
func (s *Server) createDeployment(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	body, err := form.Body(r, false)
	if err != nil {
		return 0, nil, err
	}
	sent := readBody(body, true)
	checkApplies(&form, sent.source, sent.from)
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	if !s.opts.Edition.offers(sent.source) {
		return 0, nil, httpapi.Refuse(http.StatusBadRequest,
			"Source %s is not available for %s deployments.", sent.source, s.opts.Edition)
	}
	at := s.opts.Store.Now()
	d := Deployment{Tenant: tenant, DeploymentView: DeploymentView{
		ID: store.NewID(), CreatedAt: at, Source: sent.source, Secrets: []Secret{},
		Status:       "READY", // nothing has to be made ready before the first revision
		SourceConfig: map[string]any{"repo_url": nil, "build_on_push": false},
	}}
	if err := d.apply(sent, at); err != nil {
		return 0, nil, err
	}
	first := newRevision(d, d.SourceRevisionConfig, at)
	d.LatestRevisionID = first.ID
	err = s.update(func(t tables) error {
		return cmp.Or(s.opts.Store.Room(t.deployments.Tx()), t.put(d, &first))
	})
	if err != nil {
		return 0, nil, err
	}
	s.wake(d.ID)
	return http.StatusCreated, s.show(d), nil
}

// updateDeployment changes a deployment. It makes a revision exactly when a field of source_revision_config that
// triggers one is not null (interface, section 2).
func (s *Server) updateDeployment(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	id := form.PathUUID(r, "deployment_id")
	body, err := form.Body(r, false)
	if err != nil {
		return 0, nil, err
	}
	sent := readBody(body, false)
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	d, err := s.change(tenant, id, func(_ tables, d *Deployment) (*Revision, error) {
		if sent.source != "" && sent.source != d.Source {
			return nil, httpapi.Refuse(http.StatusBadRequest,
				"The source of a deployment cannot be changed after it was created; it is %s.", d.Source)
		}
		checkApplies(&form, d.Source, sent.from)
		if err := form.Err(); err != nil {
			return nil, err
		}
		if err := d.apply(sent, s.opts.Store.Now()); err != nil || sent.from == (SourceRevisionConfig{}) {
			return nil, err
		}
		next := newRevision(*d, d.SourceRevisionConfig, d.UpdatedAt)
		return &next, nil
	})
	return http.StatusOK, s.show(d), err
}

// change changes a deployment of a tenant in one transaction. A revision that do returns is added, and the pipeline
// works on it.
func (s *Server) change(tenant, id string, do func(tables, *Deployment) (*Revision, error)) (d Deployment, err error) {
	var next *Revision
	err = s.update(func(t tables) error {
		if d, err = t.deployment(tenant, id); err != nil {
			return err
		}
		if next, err = do(t, &d); err != nil {
			return err
		}
		if next != nil {
			d.LatestRevisionID, d.SourceRevisionConfig = next.ID, next.SourceRevisionConfig
			err = s.opts.Store.Room(t.deployments.Tx())
		}
		return cmp.Or(err, t.put(d, next))
	})
	if err == nil && (next != nil || d.Deleted) {
		s.wake(id)
	}
	return d, err
}

// deploymentBody is the body of a create or an update. What is absent leaves things as they are.
type deploymentBody struct {
	name    *string
	source  Source
	config  map[string]any
	from    SourceRevisionConfig
	secrets map[string]string // nil when none were sent
}

// readBody reads it. Fields that are read-only or unknown are passed over. A new deployment needs some of the others.
func readBody(body httpapi.Object, isNew bool) deploymentBody {
	config, from := body.Object("source_config"), body.Object("source_revision_config")
	config.Text("repo_url")
	httpapi.Get[bool](config, "build_on_push", "boolean")
	sent := deploymentBody{
		name: body.Text("name"), source: httpapi.Choice(body, "source", sources), config: maps.Clone(config.Members),
		from: SourceRevisionConfig{
			RepoRef: from.Text("repo_ref"), GraphConfigPath: from.Text("graph_config_path"), ImageURI: from.Text("image_uri"),
		},
	}
	maps.DeleteFunc(sent.config, func(name string, value any) bool {
		return value == nil || name == "custom_url" // which is ours to say
	})
	if body.Members["secrets"] != nil {
		sent.secrets = map[string]string{}
	}
	for _, item := range body.Objects("secrets") {
		item.Require("name", "value")
		if name, value := item.Text("name"), item.String("value"); name != nil && value != nil {
			sent.secrets[*name] = *value
		}
	}
	if isNew {
		body.Require("name", "source")
		switch sent.source {
		case GitHost:
			config.Require("repo_url")
		case ExternalContainer, InternalContainer:
			from.Require("image_uri")
		}
	}
	return sent
}

// checkApplies notes the fields that have no meaning for the source (interface, section 2, "Applies to source").
// internal_container is given an image as well: the interface names no other way to say what to run.
func checkApplies(form *httpapi.Form, source Source, from SourceRevisionConfig) {
	refuse := func(field string, value *string) {
		if value != nil {
			form.Wrong("value_error", "Value error, "+field+" does not apply to the source "+string(source),
				"body", "source_revision_config", field)
		}
	}
	switch source {
	case GitHost:
		refuse("image_uri", from.ImageURI)
	case ExternalContainer, InternalContainer:
		refuse("repo_ref", from.RepoRef)
		refuse("graph_config_path", from.GraphConfigPath)
	}
}

// apply brings what was sent to a deployment. The rule on tags is checked against the result, so that one update
// may change a ref and build_on_push together.
func (d *Deployment) apply(sent deploymentBody, now time.Time) error {
	maps.Copy(d.SourceConfig, sent.config)
	d.SourceRevisionConfig = SourceRevisionConfig{
		RepoRef:         cmp.Or(sent.from.RepoRef, d.SourceRevisionConfig.RepoRef),
		GraphConfigPath: cmp.Or(sent.from.GraphConfigPath, d.SourceRevisionConfig.GraphConfigPath),
		ImageURI:        cmp.Or(sent.from.ImageURI, d.SourceRevisionConfig.ImageURI),
		RepoCommitSHA:   d.SourceRevisionConfig.RepoCommitSHA,
	}
	if sent.secrets != nil {
		d.Env, d.Secrets = sent.secrets, []Secret{}
		for _, name := range slices.Sorted(maps.Keys(sent.secrets)) {
			d.Secrets = append(d.Secrets, Secret{name})
		}
	}
	if sent.name != nil {
		d.Name = *sent.name
	}
	d.UpdatedAt = now
	return d.checkTag(d.SourceRevisionConfig)
}

// checkTag refuses build_on_push with a tag: tags are immutable (interface, section 2).
func (d *Deployment) checkTag(from SourceRevisionConfig) error {
	if d.SourceConfig["build_on_push"] == true && from.RepoRef != nil && strings.HasPrefix(*from.RepoRef, "refs/tags/") {
		return httpapi.Refuse(http.StatusBadRequest,
			"source_config.build_on_push must be false when repo_ref is a tag (%s): tags are immutable.", *from.RepoRef)
	}
	return nil
}

func (s *Server) getDeployment(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	id := form.PathUUID(r, "deployment_id")
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	var d Deployment
	err := s.view(func(t tables) (err error) {
		d, err = t.deployment(tenant, id)
		return err
	})
	return http.StatusOK, s.show(d), err
}

func (s *Server) listDeployments(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	query := form.Query(r)
	page, name := readPage(query), query.Text("name_contains")
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	var list []DeploymentView
	err := s.view(func(t tables) error {
		found, err := store.Cut(store.Newest[Deployment](t.deployments, ""), page, func(d Deployment) bool {
			return d.Tenant == tenant && !d.Deleted && strings.Contains(d.Name, name)
		})
		for _, d := range found {
			if err == nil {
				err = t.addLatest(&d)
			}
			list = append(list, s.show(d))
		}
		return err
	})
	return http.StatusOK, paged(list, page), err
}

// deleteDeployment accepts a deployment for removal; from then on it is not found.
func (s *Server) deleteDeployment(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	id := form.PathUUID(r, "deployment_id")
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	_, err := s.change(tenant, id, func(_ tables, d *Deployment) (*Revision, error) {
		d.Deleted = true
		return nil, nil
	})
	return http.StatusNoContent, nil, err
}

// show is what is shown of a deployment, with the address of its agent server.
func (s *Server) show(d Deployment) DeploymentView {
	shown := d.DeploymentView
	shown.SourceConfig = maps.Clone(d.SourceConfig)
	if shown.SourceConfig != nil {
		shown.SourceConfig["custom_url"] = s.opts.AgentURL(d.ID)
	}
	return shown
}

// readPage reads which page of a list is asked for (interface, section 8).
func readPage(query httpapi.Scalars) store.Page {
	return store.Page{Limit: query.Int("limit", 20, 1, 100), Offset: query.Int("offset", 0, 0, math.MaxInt)}
}

// paged is a page of a list. Its offset is where the next page begins (interface, section 2).
func paged[T any](items []T, page store.Page) any {
	return map[string]any{"resources": append([]T{}, items...), "offset": page.Offset + len(items)}
}
