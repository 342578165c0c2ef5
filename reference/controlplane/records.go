package controlplane

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/store"
)

// Status is the status of a revision (interface, section 3).
type Status string

// The thirteen statuses of a revision. The reference never shows Unknown.
const (
	Creating       Status = "CREATING"
	Queued         Status = "QUEUED"
	AwaitingBuild  Status = "AWAITING_BUILD"
	Building       Status = "BUILDING"
	AwaitingDeploy Status = "AWAITING_DEPLOY"
	Deploying      Status = "DEPLOYING"
	CreateFailed   Status = "CREATE_FAILED"
	BuildFailed    Status = "BUILD_FAILED"
	DeployFailed   Status = "DEPLOY_FAILED"
	Deployed       Status = "DEPLOYED"
	Skipped        Status = "SKIPPED"
	Interrupted    Status = "INTERRUPTED"
	Unknown        Status = "UNKNOWN"
)

// inProgress contains the statuses of a revision in progress, in order.
var inProgress = []Status{Creating, Queued, AwaitingBuild, Building, AwaitingDeploy, Deploying}

// statuses contains all statuses.
var statuses = slices.Concat(inProgress, []Status{
	CreateFailed, BuildFailed, DeployFailed, Deployed, Skipped, Interrupted, Unknown,
})

// Settled reports whether the status is final.
func (s Status) Settled() bool { return !slices.Contains(inProgress, s) }

// Source is the kind of source of a deployment (interface, section 2).
type Source string

// The sources.
const (
	GitHost           Source = "git_host"
	ExternalContainer Source = "external_container"
	InternalContainer Source = "internal_container"
)

var sources = []Source{GitHost, ExternalContainer, InternalContainer}

// Edition is the edition of the control plane. It determines the available sources.
type Edition string

// The editions.
const (
	Cloud      Edition = "cloud"
	SelfHosted Edition = "self-hosted"
)

// offers reports whether the edition has a source. git_host is only available in the cloud, and external_container only
// for self-hosted deployments (interface, section 2).
func (e Edition) offers(s Source) bool {
	return s == InternalContainer || s == GitHost && e == Cloud || s == ExternalContainer && e == SelfHosted
}

// SourceRevisionConfig contains the source of one revision (interface, section 2).
type SourceRevisionConfig struct {
	RepoRef         *string `json:"repo_ref"`
	GraphConfigPath *string `json:"graph_config_path"`
	ImageURI        *string `json:"image_uri"`
	RepoCommitSHA   *string `json:"repo_commit_sha"`
}

// Deployment is the stored record of a deployment.
type Deployment struct {
	DeploymentView
	Tenant  string            `json:"tenant"`
	Env     map[string]string `json:"env,omitempty"`     // the secrets with their values
	Deleted bool              `json:"deleted,omitempty"` // the pipeline removes the deployment
}

// DeploymentView is the public view of a deployment (interface, section 2, with additional members).
type DeploymentView struct {
	ID                   string               `json:"id"`
	Name                 string               `json:"name"`
	CreatedAt            time.Time            `json:"created_at"`
	UpdatedAt            time.Time            `json:"updated_at"`
	Status               string               `json:"status"`
	Source               Source               `json:"source"`
	SourceConfig         map[string]any       `json:"source_config"`          // as in the request
	SourceRevisionConfig SourceRevisionConfig `json:"source_revision_config"` // configuration of the latest revision
	Secrets              []Secret             `json:"secrets"`
	LatestRevisionID     string               `json:"latest_revision_id"`
	ActiveRevisionID     *string              `json:"active_revision_id"` // the revision in service
}

// Secret is the name of an environment variable of the deployed agent server. Its value is never shown.
type Secret struct {
	Name string `json:"name"`
}

// Revision is the stored record of a revision.
type Revision struct {
	RevisionView
	DeploymentID     string `json:"deployment_id"`
	RepoURL          string `json:"repo_url,omitempty"` // when the revision was created
	Content          string `json:"content,omitempty"`  // the ID of the exact content, when it is resolved
	RemoteReconciled bool   `json:"remote_reconciled,omitempty"`
}

// RevisionView is the public view of a revision (interface, section 2).
type RevisionView struct {
	ID                   string               `json:"id"`
	CreatedAt            time.Time            `json:"created_at"`
	UpdatedAt            time.Time            `json:"updated_at"`
	Status               Status               `json:"status"`
	StatusMessage        *string              `json:"status_message"` // the reason why it failed or was superseded
	Source               Source               `json:"source"`
	SourceRevisionConfig SourceRevisionConfig `json:"source_revision_config"`
}

func (r Revision) unsettled() bool { return !r.Status.Settled() }

// newRevision returns a new revision of a deployment. Its commit is not resolved yet.
func newRevision(d Deployment, config SourceRevisionConfig, now time.Time) Revision {
	repoURL, _ := d.SourceConfig["repo_url"].(string)
	config.RepoCommitSHA = nil
	return Revision{
		RevisionView: RevisionView{
			ID: store.NewID(), CreatedAt: now, UpdatedAt: now, Status: Creating, Source: d.Source, SourceRevisionConfig: config,
		},
		DeploymentID: d.ID, RepoURL: strings.TrimSpace(repoURL),
		RemoteReconciled: d.Source == ExternalContainer, // it runs on the user's cluster and is reconciled there
	}
}

// tables contains the buckets of the control plane in one transaction.
type tables struct {
	deployments *bbolt.Bucket // id -> Deployment
	revisions   *bbolt.Bucket // deployment id, revision id -> Revision
	snapshots   *bbolt.Bucket // content id -> archive
}

var bucketNames = [][]byte{[]byte("deployments"), []byte("revisions"), []byte("snapshots")}

// view runs a function in a read-only transaction.
func (s *Server) view(do func(tables) error) error { return s.opts.Store.View(within(do)) }

// update runs a function in a transaction, which is rolled back if the function returns an error.
func (s *Server) update(do func(tables) error) error { return s.opts.Store.Update(within(do)) }

// within returns a function that calls do with the tables of a transaction.
func within(do func(tables) error) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		return do(tables{tx.Bucket(bucketNames[0]), tx.Bucket(bucketNames[1]), tx.Bucket(bucketNames[2])})
	}
}

var errNoDeployment = errors.New("no such deployment")

// find returns a deployment of any tenant, deleted or not, or errNoDeployment.
func (t tables) find(id string) (Deployment, error) {
	d, err := store.Get[Deployment](t.deployments, id, errNoDeployment)
	if err != nil {
		return d, err
	}
	err = t.addLatest(&d)
	return d, err
}

// addLatest sets the source_revision_config of a deployment, which is that of its latest revision.
func (t tables) addLatest(d *Deployment) error {
	latest, err := t.revision(d.ID, d.LatestRevisionID)
	d.SourceRevisionConfig = latest.SourceRevisionConfig
	return err
}

// deployment returns a deployment of a tenant. Deployments of other tenants and deleted deployments return 404.
func (t tables) deployment(tenant, id string) (Deployment, error) {
	d, err := t.find(id)
	if errors.Is(err, errNoDeployment) || err == nil && (d.Tenant != tenant || d.Deleted) {
		return Deployment{}, httpapi.Refuse(http.StatusNotFound, "Deployment ID %s not found.", id)
	}
	return d, err
}

// revision returns a revision of a deployment, or 404.
func (t tables) revision(deploymentID, id string) (Revision, error) {
	missing := httpapi.Refuse(http.StatusNotFound, "Revision ID %s not found.", id)
	return store.Get[Revision](t.revisions, deploymentID+id, missing)
}

// put writes a deployment and, unless it is nil, a revision.
func (t tables) put(d Deployment, r *Revision) error {
	if r != nil {
		if err := store.Put(t.revisions, d.ID+r.ID, r); err != nil {
			return err
		}
	}
	return store.Put(t.deployments, d.ID, d)
}
