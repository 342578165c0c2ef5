package controlplane

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane/validate"
	"github.com/google/uuid"
)

// RuleError says that a well-formed request asks for what the interface does not allow.
type RuleError struct{ Detail string }

func (e *RuleError) Error() string { return e.Detail }

// service decides what becomes of deployments and revisions. It knows nothing of HTTP.
type service struct {
	edition  Edition
	store    Store
	pipeline Pipeline
	now      func() time.Time
}

// create makes a deployment and its first revision (interface, section 1, step 1).
func (s *service) create(ctx context.Context, tenant string, req createRequest) (Deployment, error) {
	if !s.edition.Offers(req.source) {
		return Deployment{}, &RuleError{"Source " + string(req.source) + " is not available for " + string(s.edition) + " deployments."}
	}
	if err := checkTagRule(req.config, req.built); err != nil {
		return Deployment{}, err
	}
	now := s.now()
	d := Deployment{
		ID: uuid.NewString(), Tenant: tenant, Name: req.name, CreatedAt: now, UpdatedAt: now,
		Source: req.source, SourceConfig: req.config, Secrets: secretsAfter(nil, req.secrets),
	}
	d.Latest = newRevision(d, req.built, now)
	d.LatestRevisionID = d.Latest.ID
	if err := s.store.CreateDeployment(ctx, d, d.Latest); err != nil {
		return Deployment{}, err
	}
	s.pipeline.Submit(d.ID)
	return d, nil
}

// update changes a deployment, and creates a revision exactly when a field of source_revision_config that triggers
// one is not null (interface, section 2).
func (s *service) update(ctx context.Context, tenant, id string, req updateRequest) (Deployment, error) {
	d, err := s.store.UpdateDeployment(ctx, tenant, id, func(d *Deployment) (*Revision, error) {
		return s.apply(d, req)
	})
	if err == nil && req.asksForRevision() {
		s.pipeline.Submit(id)
	}
	return d, err
}

// apply brings an update to a stored deployment. The rules are checked against the result, so that an
// update may change a ref and build_on_push together.
func (s *service) apply(d *Deployment, req updateRequest) (*Revision, error) {
	if req.source != nil && *req.source != string(d.Source) {
		return nil, &RuleError{"The source of a deployment cannot be changed after it was created; it is " + string(d.Source) + "."}
	}
	var problems validate.Problems
	checkApplies(d.Source, req.built, &problems)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	config, built := merge(d.SourceConfig, req), overlay(d.Latest.Config, req.built)
	if err := checkTagRule(config, built); err != nil {
		return nil, err
	}
	d.SourceConfig = config
	d.Secrets = secretsAfter(d.Secrets, req.secrets)
	if req.name != nil {
		d.Name = *req.name
	}
	d.UpdatedAt = later(s.now(), d.CreatedAt)
	if !req.asksForRevision() {
		return nil, nil
	}
	r := newRevision(*d, built, d.UpdatedAt)
	return &r, nil
}

// redeploy creates a revision from the configuration of an earlier one.
func (s *service) redeploy(ctx context.Context, tenant, id, revisionID string) (Revision, error) {
	earlier, err := s.store.Revision(ctx, tenant, id, revisionID)
	if err != nil {
		return Revision{}, err
	}
	d, err := s.store.UpdateDeployment(ctx, tenant, id, func(d *Deployment) (*Revision, error) {
		if err := checkTagRule(d.SourceConfig, earlier.Config); err != nil {
			return nil, err
		}
		d.UpdatedAt = later(s.now(), d.CreatedAt)
		r := newRevision(*d, overlay(earlier.Config, SourceRevisionConfig{}), d.UpdatedAt)
		r.RepoURL = earlier.RepoURL
		return &r, nil
	})
	if err != nil {
		return Revision{}, err
	}
	s.pipeline.Submit(id)
	return d.Latest, nil
}

// remove accepts a deployment for removal; from then on it is not found.
func (s *service) remove(ctx context.Context, tenant, id string) error {
	_, err := s.store.UpdateDeployment(ctx, tenant, id, func(d *Deployment) (*Revision, error) {
		d.Deleted = true
		return nil, nil
	})
	if err == nil {
		s.pipeline.Remove(id)
	}
	return err
}

// checkTagRule refuses build_on_push with a tag ref: tags are immutable (interface, section 2).
func checkTagRule(config SourceConfig, built SourceRevisionConfig) error {
	if config.BuildOnPush && built.isTag() {
		return &RuleError{"source_config.build_on_push must be false when repo_ref is a tag (" + *built.RepoRef + "): tags are immutable."}
	}
	return nil
}

// overlay returns what a new revision is built from: what was asked for, and the latest revision's for the rest.
// The commit is resolved anew.
func overlay(latest, asked SourceRevisionConfig) SourceRevisionConfig {
	return SourceRevisionConfig{
		RepoRef:         cmp.Or(asked.RepoRef, latest.RepoRef),
		GraphConfigPath: cmp.Or(asked.GraphConfigPath, latest.GraphConfigPath),
		ImageURI:        cmp.Or(asked.ImageURI, latest.ImageURI),
	}
}

func newRevision(d Deployment, built SourceRevisionConfig, now time.Time) Revision {
	r := Revision{
		ID: uuid.NewString(), DeploymentID: d.ID, CreatedAt: now, UpdatedAt: now,
		Status: Creating, Source: d.Source, Config: built,
		// What runs on the user's own cluster is reconciled from there.
		RemoteReconciled: d.Source == ExternalContainer,
	}
	if d.SourceConfig.RepoURL != nil {
		r.RepoURL = strings.TrimSpace(*d.SourceConfig.RepoURL)
	}
	return r
}

// later keeps times from running backwards when the machine's clock does.
func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
