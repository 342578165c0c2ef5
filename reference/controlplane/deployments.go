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

// createDeployment creates a deployment and its first revision (interface, section 1, step 1).
func (s *Server) createDeployment(r *http.Request, tenant string) (int, any, error) {
	var form httpapi.Form
	body, err := form.Body(r, false)
	if err != nil {
		return 0, nil, err
	}
	sent := readBody(body, true)
	checkApplies(&form, sent.source, sent.revisionConfig)
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	if !s.opts.Edition.offers(sent.source) {
		return 0, nil, httpapi.Refuse(http.StatusBadRequest,
			"Source %s is not available for %s deployments.", sent.source, s.opts.Edition)
	}
	now := s.opts.Store.Now()
	d := Deployment{Tenant: tenant, DeploymentView: DeploymentView{
		ID: store.NewID(), CreatedAt: now, Source: sent.source, Secrets: []Secret{},
		Status:       "READY", // a deployment needs no preparation before its first revision
		SourceConfig: map[string]any{"repo_url": nil, "build_on_push": false},
	}}
	if err := d.apply(sent, now); err != nil {
		return 0, nil, err
	}
	first := newRevision(d, d.SourceRevisionConfig, now)
	d.LatestRevisionID = first.ID
	err = s.update(func(t tables) error {
		if err := s.opts.Store.Room(t.deployments.Tx()); err != nil {
			return err
		}
		return t.put(d, &first)
	})
	if err != nil {
		return 0, nil, err
	}
	s.wake(d.ID)
	return http.StatusCreated, s.show(d), nil
}

// updateDeployment changes a deployment. It creates a revision if a field of source_revision_config is not null
// (interface, section 2).
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
		checkApplies(&form, d.Source, sent.revisionConfig)
		if err := form.Err(); err != nil {
			return nil, err
		}
		if err := d.apply(sent, s.opts.Store.Now()); err != nil {
			return nil, err
		}
		if sent.revisionConfig == (SourceRevisionConfig{}) {
			return nil, nil
		}
		next := newRevision(*d, d.SourceRevisionConfig, d.UpdatedAt)
		return &next, nil
	})
	return http.StatusOK, s.show(d), err
}

// change changes a deployment of a tenant in one transaction. If do returns a revision, change adds it and starts the
// pipeline.
func (s *Server) change(tenant, id string, do func(tables, *Deployment) (*Revision, error)) (Deployment, error) {
	var d Deployment
	var next *Revision
	err := s.update(func(t tables) (err error) {
		d, err = t.deployment(tenant, id)
		if err != nil {
			return err
		}
		next, err = do(t, &d)
		if err != nil {
			return err
		}
		if next != nil {
			d.LatestRevisionID, d.SourceRevisionConfig = next.ID, next.SourceRevisionConfig
			if err := s.opts.Store.Room(t.deployments.Tx()); err != nil {
				return err
			}
		}
		return t.put(d, next)
	})
	if err != nil {
		return d, err
	}
	if next != nil || d.Deleted {
		s.wake(id)
	}
	return d, nil
}

// deploymentBody is the body of a create or an update. Absent fields do not change the deployment.
type deploymentBody struct {
	name           *string
	source         Source
	config         map[string]any
	revisionConfig SourceRevisionConfig
	secrets        map[string]string // nil if the body has no secrets
}

// readBody reads the body of a create or an update. It ignores read-only and unknown fields. A new deployment has
// required fields.
func readBody(body httpapi.Object, isNew bool) deploymentBody {
	config, revisionConfig := body.Object("source_config"), body.Object("source_revision_config")
	config.Text("repo_url")
	httpapi.Get[bool](config, "build_on_push", "boolean")
	sent := deploymentBody{
		name: body.Text("name"), source: httpapi.Choice(body, "source", sources), config: maps.Clone(config.Members),
		revisionConfig: SourceRevisionConfig{
			RepoRef:         revisionConfig.Text("repo_ref"),
			GraphConfigPath: revisionConfig.Text("graph_config_path"),
			ImageURI:        revisionConfig.Text("image_uri"),
		},
	}
	maps.DeleteFunc(sent.config, func(name string, value any) bool {
		return value == nil || name == "custom_url" // the server sets custom_url
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
			revisionConfig.Require("image_uri")
		}
	}
	return sent
}

// checkApplies adds a problem for each field that does not apply to the source (interface, section 2, "Applies to
// source"). image_uri also applies to internal_container, because the interface has no other field for it.
func checkApplies(form *httpapi.Form, source Source, config SourceRevisionConfig) {
	refuse := func(field string, value *string) {
		if value != nil {
			form.Wrong("value_error", "Value error, "+field+" does not apply to the source "+string(source),
				"body", "source_revision_config", field)
		}
	}
	switch source {
	case GitHost:
		refuse("image_uri", config.ImageURI)
	case ExternalContainer, InternalContainer:
		refuse("repo_ref", config.RepoRef)
		refuse("graph_config_path", config.GraphConfigPath)
	}
}

// apply applies a body to a deployment. The rule about tags is checked for the result, so that one update can change
// repo_ref and build_on_push together.
func (d *Deployment) apply(sent deploymentBody, now time.Time) error {
	maps.Copy(d.SourceConfig, sent.config)
	d.SourceRevisionConfig = SourceRevisionConfig{
		RepoRef:         cmp.Or(sent.revisionConfig.RepoRef, d.SourceRevisionConfig.RepoRef),
		GraphConfigPath: cmp.Or(sent.revisionConfig.GraphConfigPath, d.SourceRevisionConfig.GraphConfigPath),
		ImageURI:        cmp.Or(sent.revisionConfig.ImageURI, d.SourceRevisionConfig.ImageURI),
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

// checkTag refuses build_on_push with a tag, because tags are immutable (interface, section 2).
func (d *Deployment) checkTag(config SourceRevisionConfig) error {
	isTag := config.RepoRef != nil && strings.HasPrefix(*config.RepoRef, "refs/tags/")
	if isTag && d.SourceConfig["build_on_push"] == true {
		return httpapi.Refuse(http.StatusBadRequest,
			"source_config.build_on_push must be false when repo_ref is a tag (%s): tags are immutable.", *config.RepoRef)
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

// listDeployments lists the deployments of the tenant, newest first.
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
		if err != nil {
			return err
		}
		for _, d := range found {
			if err := t.addLatest(&d); err != nil {
				return err
			}
			list = append(list, s.show(d))
		}
		return nil
	})
	return http.StatusOK, paged(list, page), err
}

// deleteDeployment marks a deployment for removal. From then on, requests return 404.
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

// show returns the public view of a deployment, with the address of its agent server.
func (s *Server) show(d Deployment) DeploymentView {
	shown := d.DeploymentView
	shown.SourceConfig = maps.Clone(d.SourceConfig)
	if shown.SourceConfig != nil {
		shown.SourceConfig["custom_url"] = s.opts.AgentURL(d.ID)
	}
	return shown
}

// readPage reads limit and offset (interface, section 8).
func readPage(query httpapi.Scalars) store.Page {
	return store.Page{Limit: query.Int("limit", 20, 1, 100), Offset: query.Int("offset", 0, 0, math.MaxInt)}
}

// paged returns the body of a list. Its offset is that of the next page (interface, section 2).
func paged[T any](items []T, page store.Page) any {
	return map[string]any{"resources": append([]T{}, items...), "offset": page.Offset + len(items)}
}
