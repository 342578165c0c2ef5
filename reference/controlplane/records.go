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

// The thirteen statuses of a revision. The reference never shows Unknown: it always knows.
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

// onTheWay lists the statuses of a revision that is still being worked on, in the order in which they are passed.
var onTheWay = []Status{Creating, Queued, AwaitingBuild, Building, AwaitingDeploy, Deploying}

var statuses = slices.Concat(onTheWay, []Status{
	CreateFailed, BuildFailed, DeployFailed, Deployed, Skipped, Interrupted, Unknown,
})

// Settled says that nothing will change the status any more.
func (s Status) Settled() bool { return !slices.Contains(onTheWay, s) }

// Source says what a deployment's revisions are built from (interface, section 2).
type Source string

// The sources.
const (
	GitHost           Source = "git_host"
	ExternalContainer Source = "external_container"
	InternalContainer Source = "internal_container"
)

var sources = []Source{GitHost, ExternalContainer, InternalContainer}

// Edition is how the control plane is offered; it decides which sources there are.
type Edition string

// The editions.
const (
	Cloud      Edition = "cloud"
	SelfHosted Edition = "self-hosted"
)

// offers tells whether the edition takes deployments from the source: git_host is for the cloud only,
// external_container for self-hosted ones only (interface, section 2).
func (e Edition) offers(s Source) bool {
	return s == InternalContainer || s == GitHost && e == Cloud || s == ExternalContainer && e == SelfHosted
}

// SourceRevisionConfig says what one revision is built from (interface, section 2).
type SourceRevisionConfig struct {
	RepoRef         *string `json:"repo_ref"`
	GraphConfigPath *string `json:"graph_config_path"`
	ImageURI        *string `json:"image_uri"`
	RepoCommitSHA   *string `json:"repo_commit_sha"`
}

// Deployment is what is kept of a deployment.
type Deployment struct {
	DeploymentView
	Tenant  string            `json:"tenant"`
	Env     map[string]string `json:"env,omitempty"`     // the secrets, with their values
	Deleted bool              `json:"deleted,omitempty"` // accepted for removal; the pipeline removes it
}

// DeploymentView is what is shown of a deployment (interface, section 2, and further members).
type DeploymentView struct {
	ID                   string               `json:"id"`
	Name                 string               `json:"name"`
	CreatedAt            time.Time            `json:"created_at"`
	UpdatedAt            time.Time            `json:"updated_at"`
	Status               string               `json:"status"`
	Source               Source               `json:"source"`
	SourceConfig         map[string]any       `json:"source_config"`          // what was sent
	SourceRevisionConfig SourceRevisionConfig `json:"source_revision_config"` // of the latest revision
	Secrets              []Secret             `json:"secrets"`
	LatestRevisionID     string               `json:"latest_revision_id"`
	ActiveRevisionID     *string              `json:"active_revision_id"` // the one in service
}

// Secret is the name of an environment variable of the deployed agent server. Its value is never shown.
type Secret struct {
	Name string `json:"name"`
}

// Revision is what is kept of a revision.
type Revision struct {
	RevisionView
	DeploymentID     string `json:"deployment_id"`
	RepoURL          string `json:"repo_url,omitempty"` // as it was when the revision was created
	Content          string `json:"content,omitempty"`  // id of the exact content, once resolved
	RemoteReconciled bool   `json:"remote_reconciled,omitempty"`
}

// RevisionView is what is shown of a revision (interface, section 2).
type RevisionView struct {
	ID                   string               `json:"id"`
	CreatedAt            time.Time            `json:"created_at"`
	UpdatedAt            time.Time            `json:"updated_at"`
	Status               Status               `json:"status"`
	StatusMessage        *string              `json:"status_message"` // why it failed or was left
	Source               Source               `json:"source"`
	SourceRevisionConfig SourceRevisionConfig `json:"source_revision_config"`
}

func (r Revision) unsettled() bool { return !r.Status.Settled() }

// newRevision makes the next revision of a deployment. The commit is resolved anew.
func newRevision(d Deployment, from SourceRevisionConfig, now time.Time) Revision {
	repoURL, _ := d.SourceConfig["repo_url"].(string)
	from.RepoCommitSHA = nil
	return Revision{
		RevisionView: RevisionView{
			ID: store.NewID(), CreatedAt: now, UpdatedAt: now, Status: Creating, Source: d.Source, SourceRevisionConfig: from,
		},
		DeploymentID: d.ID, RepoURL: strings.TrimSpace(repoURL),
		RemoteReconciled: d.Source == ExternalContainer, // what runs on the user's own cluster is reconciled from there
	}
}

// tables are the buckets of the control plane within one transaction.
type tables struct {
	deployments *bbolt.Bucket // id -> Deployment
	revisions   *bbolt.Bucket // deployment id, revision id -> Revision
	snapshots   *bbolt.Bucket // content id -> archive
}

var bucketNames = [][]byte{[]byte("deployments"), []byte("revisions"), []byte("snapshots")}

func (s *Server) view(do func(tables) error) error { return s.opts.Store.View(within(do)) }

func (s *Server) update(do func(tables) error) error { return s.opts.Store.Update(within(do)) }

func within(do func(tables) error) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		return do(tables{tx.Bucket(bucketNames[0]), tx.Bucket(bucketNames[1]), tx.Bucket(bucketNames[2])})
	}
}

var errNoDeployment = errors.New("no such deployment")

// find reads a deployment of any tenant, deleted or not.
func (t tables) find(id string) (d Deployment, err error) {
	if d, err = store.Get[Deployment](t.deployments, id, errNoDeployment); err != nil {
		return d, err
	}
	return d, t.addLatest(&d)
}

// addLatest fills in what a deployment shows of its latest revision.
func (t tables) addLatest(d *Deployment) error {
	latest, err := t.revision(d.ID, d.LatestRevisionID)
	d.SourceRevisionConfig = latest.SourceRevisionConfig
	return err
}

// deployment reads a deployment as its tenant sees it. One of another tenant, and one that was deleted, does not exist.
func (t tables) deployment(tenant, id string) (Deployment, error) {
	d, err := t.find(id)
	if errors.Is(err, errNoDeployment) || err == nil && (d.Tenant != tenant || d.Deleted) {
		return Deployment{}, httpapi.Refuse(http.StatusNotFound, "Deployment ID %s not found.", id)
	}
	return d, err
}

func (t tables) revision(deploymentID, id string) (Revision, error) {
	missing := httpapi.Refuse(http.StatusNotFound, "Revision ID %s not found.", id)
	return store.Get[Revision](t.revisions, deploymentID+id, missing)
}

// put writes a deployment, and a revision where one changed.
func (t tables) put(d Deployment, r *Revision) error {
	if r != nil {
		if err := store.Put(t.revisions, d.ID+r.ID, r); err != nil {
			return err
		}
	}
	return store.Put(t.deployments, d.ID, d)
}
