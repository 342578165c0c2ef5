package controlplane

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
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

// Statuses returns the thirteen statuses in the interface's order.
func Statuses() []Status {
	return []Status{Creating, Queued, AwaitingBuild, Building, AwaitingDeploy, Deploying, CreateFailed, BuildFailed,
		DeployFailed, Deployed, Skipped, Interrupted, Unknown}
}

// Settled says that nothing will change the status any more.
func (s Status) Settled() bool { return !slices.Contains(onTheWay, s) }

// Before says that a revision at s has yet to pass next. A settled status comes before none.
func (s Status) Before(next Status) bool {
	at := slices.Index(onTheWay, s)
	if at < 0 {
		return false
	}
	to := slices.Index(onTheWay, next)
	return to < 0 || at < to
}

// Source says what a deployment's revisions are built from (interface, section 2).
type Source string

// The sources.
const (
	GitHost           Source = "git_host"
	ExternalContainer Source = "external_container"
	InternalContainer Source = "internal_container"
)

// Sources returns the sources in the interface's order.
func Sources() []Source { return []Source{GitHost, ExternalContainer, InternalContainer} }

// Edition is how the control plane is offered; it decides which sources are to be had.
type Edition string

// The editions.
const (
	Cloud      Edition = "cloud"
	SelfHosted Edition = "self-hosted"
)

// Offers says whether the edition takes deployments from the source: git_host is for the cloud only,
// external_container for self-hosted ones only (interface, section 2).
func (e Edition) Offers(s Source) bool {
	switch s {
	case GitHost:
		return e == Cloud
	case ExternalContainer:
		return e == SelfHosted
	}
	return s == InternalContainer
}

// SourceRevisionConfig says what one revision is built from (interface, section 2).
type SourceRevisionConfig struct {
	RepoRef         *string `json:"repo_ref"`
	GraphConfigPath *string `json:"graph_config_path"`
	ImageURI        *string `json:"image_uri"`
	RepoCommitSHA   *string `json:"repo_commit_sha"`
}

// isTag says that the revision is built from a tag, which never moves.
func (c SourceRevisionConfig) isTag() bool {
	return c.RepoRef != nil && strings.HasPrefix(*c.RepoRef, "refs/tags/")
}

// SourceConfig is what all revisions of a deployment have in common about their source.
type SourceConfig struct {
	RepoURL     *string                    `json:"repo_url"`
	BuildOnPush bool                       `json:"build_on_push"`
	Other       map[string]json.RawMessage `json:"other,omitempty"` // kept and shown as it was sent
}

// Secret is an environment variable of the deployed agent server. Its value is never shown.
type Secret struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Deployment is a deployment as it is stored.
type Deployment struct {
	ID               string       `json:"id"`
	Tenant           string       `json:"tenant"`
	Name             string       `json:"name"`
	CreatedAt        time.Time    `json:"created_at"`
	UpdatedAt        time.Time    `json:"updated_at"`
	Source           Source       `json:"source"`
	SourceConfig     SourceConfig `json:"source_config"`
	Secrets          []Secret     `json:"secrets,omitempty"`
	LatestRevisionID string       `json:"latest_revision_id"`
	ActiveRevisionID string       `json:"active_revision_id,omitempty"` // the one in service; empty before the first
	Deleted          bool         `json:"deleted,omitempty"`            // accepted for removal; the pipeline removes it

	Latest Revision `json:"-"` // the revision that LatestRevisionID names, filled in by the store at every read
}

// Env returns the secrets as the environment of the agent server.
func (d Deployment) Env() map[string]string {
	env := make(map[string]string, len(d.Secrets))
	for _, s := range d.Secrets {
		env[s.Name] = s.Value
	}
	return env
}

// Revision is a revision as it is stored.
type Revision struct {
	ID               string               `json:"id"`
	DeploymentID     string               `json:"deployment_id"`
	CreatedAt        time.Time            `json:"created_at"`
	UpdatedAt        time.Time            `json:"updated_at"`
	Status           Status               `json:"status"`
	Message          string               `json:"message,omitempty"` // why it failed or was left
	Source           Source               `json:"source"`
	Config           SourceRevisionConfig `json:"config"`
	RepoURL          string               `json:"repo_url,omitempty"` // as it was when the revision was created
	Content          string               `json:"content,omitempty"`  // id of the exact content, once resolved
	RemoteReconciled bool                 `json:"remote_reconciled,omitempty"`
}
