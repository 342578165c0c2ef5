package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/source"
	"github.com/agentconform/agentconform/reference/store"
)

// Options says what a control plane is made of. The first six are needed.
type Options struct {
	Edition  Edition
	Tenants  []Tenant
	Store    *store.Store
	Sources  Sources
	Runtime  Runtime
	AgentURL func(deploymentID string) string // where a deployment's agent server answers

	Pace time.Duration // how long a revision stays in each status at least
	Log  *slog.Logger  // none by default
}

// Sources finds and fetches what revisions are built from; [source.Fetcher] does so over the network.
type Sources interface {
	// Resolve returns the id of the exact content that the origin has now. An error ends the revision in CREATE_FAILED.
	Resolve(ctx context.Context, o source.Origin) (content string, err error)
	// Fetch returns the content with an id that Resolve returned. An error ends the revision in BUILD_FAILED.
	Fetch(ctx context.Context, o source.Origin, content string) (source.Archive, error)
}

// Runtime builds agent servers and runs them.
type Runtime interface {
	// Build reads the graph configuration file in the tree and loads the graphs and the auth handler it names. The
	// build may be deployed several times. An error ends the revision in BUILD_FAILED.
	Build(ctx context.Context, tree fs.FS, configPath string) (Build, error)
	// Deploy puts a build in service for a deployment of the tenant, in place of the one that is there, which serves
	// until the new one is up. env holds the deployment's secrets. An error ends the revision in DEPLOY_FAILED and
	// leaves the old one in service.
	Deploy(ctx context.Context, tenant, deploymentID string, b Build, env map[string]string) error
	// Remove takes a deployment out of service and deletes its data. It is not an error if there is none.
	Remove(ctx context.Context, deploymentID string) error
}

// Build is a built agent server: graphs and handlers, loaded and ready.
type Build any

// Server answers the operations of the control plane, and works on revisions until Close.
type Server struct {
	http.Handler
	opts Options

	// The pipeline.
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	work    sync.WaitGroup
	mu      sync.Mutex
	workers map[string]*worker // by deployment, those that are at work
}

// New makes a control plane.
func New(opts Options) (*Server, error) {
	if opts.Edition != Cloud && opts.Edition != SelfHosted {
		return nil, fmt.Errorf("control plane: edition %q is unknown; give %q or %q", opts.Edition, Cloud, SelfHosted)
	}
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	err := opts.Store.Update(func(tx *bbolt.Tx) error {
		for _, name := range bucketNames {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the store of the control plane: %w", err)
	}
	s := &Server{opts: opts, workers: map[string]*worker{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.Handler = s.routes()
	return s, nil
}

// routes are the paths of the interface, section 4, and those of clients in the field.
func (s *Server) routes() http.Handler {
	const deployments = "/v2/deployments"
	const deployment = deployments + "/{deployment_id}"
	const revisions = deployment + "/revisions"
	const revision = revisions + "/{revision_id}"
	return httpapi.Routes{
		deployments: {"GET": s.as(s.listDeployments), "POST": s.as(s.createDeployment)},
		deployment: {
			"GET": s.as(s.getDeployment), "PATCH": s.as(s.updateDeployment), "DELETE": s.as(s.deleteDeployment),
		},
		revisions: {"GET": s.as(s.listRevisions)},
		revision:  {"GET": s.as(s.getRevision)},
	}.Handler(func(r *http.Request, err error) {
		s.opts.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	})
}

// as asks who is calling before anything else of a request is looked at.
func (s *Server) as(operation func(r *http.Request, tenant string) (status int, body any, err error)) httpapi.Endpoint {
	return func(r *http.Request) (int, any, error) {
		tenant, ok := s.identify(r.Header)
		if !ok {
			return 0, nil, httpapi.Refuse(http.StatusUnauthorized,
				"Valid credentials are needed: X-Api-Key, X-Tenant-Id or a bearer token.")
		}
		return operation(r, tenant)
	}
}
