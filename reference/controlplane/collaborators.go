package controlplane

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
)

// ErrNoDeployment says that there is no such deployment for the tenant that asks.
var ErrNoDeployment = errors.New("no such deployment")

// ErrNoRevision says that the deployment has no such revision.
var ErrNoRevision = errors.New("no such revision")

// Store keeps deployments and revisions. Every method is one transaction: what it has acknowledged is there after a
// crash, and nothing of what it has refused. Lists are newest first. A deployment of another tenant, and one that
// was deleted, is ErrNoDeployment.
type Store interface {
	// CreateDeployment keeps a new deployment together with its first revision.
	CreateDeployment(ctx context.Context, d Deployment, first Revision) error
	// Deployment returns one deployment of the tenant.
	Deployment(ctx context.Context, tenant, id string) (Deployment, error)
	// Deployments returns a page of the tenant's deployments.
	Deployments(ctx context.Context, tenant string, filter DeploymentFilter) ([]Deployment, error)
	// UpdateDeployment changes a deployment of the tenant. A revision that change returns is added and becomes the
	// latest. An error of change leaves everything as it was and is returned as it is.
	UpdateDeployment(ctx context.Context, tenant, id string, change func(*Deployment) (*Revision, error)) (Deployment, error)
	// Revision returns one revision of a deployment of the tenant.
	Revision(ctx context.Context, tenant, deploymentID, revisionID string) (Revision, error)
	// Revisions returns a page of the revisions of a deployment of the tenant.
	Revisions(ctx context.Context, tenant, deploymentID string, filter RevisionFilter) ([]Revision, error)
}

// Page is a part of a list.
type Page struct{ Limit, Offset int }

// DeploymentFilter selects deployments; zero fields select all.
type DeploymentFilter struct {
	NameContains string
	Page         Page
}

// RevisionFilter selects revisions; zero fields select all. The filter comes before paging (interface, section 4).
type RevisionFilter struct {
	Statuses         []Status
	RemoteReconciled *bool
	Page             Page
}

// Pipeline works on what is in the store. Its methods return at once.
type Pipeline interface {
	// Submit says that a deployment has a new revision.
	Submit(deploymentID string)
	// Remove says that a deployment was deleted.
	Remove(deploymentID string)
}

// Runtime builds agent servers and runs them. The pipeline drives it.
type Runtime interface {
	// Build reads the graph configuration file in the tree and loads the graphs and the auth handler it names. The
	// build may be deployed several times. An error ends the revision in BUILD_FAILED.
	Build(ctx context.Context, tree fs.FS, configPath string) (Build, error)
	// Deploy puts a build in service for a deployment, in place of the one that is there, which serves until the
	// new one is up. env holds the deployment's secrets. An error ends the revision in DEPLOY_FAILED and leaves the
	// old one in service.
	Deploy(ctx context.Context, deploymentID string, b Build, env map[string]string) error
	// Remove takes a deployment out of service and deletes its data. It is not an error if there is none.
	Remove(ctx context.Context, deploymentID string) error
	// Handler returns the agent server in service for a deployment, nil when there is none. Its routes are relative
	// to the deployment's address.
	Handler(deploymentID string) http.Handler
}

// Build is a built agent server: graphs and handlers, loaded and ready.
type Build interface {
	GraphNames() []string
}
