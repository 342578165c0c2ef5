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

// Options are the options of a control plane. The first six are required.
type Options struct {
	Edition  Edition
	Tenants  []Tenant
	Store    *store.Store
	Sources  Sources
	Runtime  Runtime
	AgentURL func(deploymentID string) string // returns the address of the agent server of a deployment

	Pace time.Duration // the minimum duration of each status of a revision
	Log  *slog.Logger  // nil discards the log
}

// Sources resolves and fetches the sources of revisions. [source.Fetcher] uses the network.
type Sources interface {
	// Resolve returns the ID of the current content of an origin. After an error, the revision is CREATE_FAILED.
	Resolve(ctx context.Context, o source.Origin) (content string, err error)
	// Fetch returns the content with an ID that Resolve returned. After an error, the revision is BUILD_FAILED.
	Fetch(ctx context.Context, o source.Origin, content string) (source.Archive, error)
}

// Runtime builds and runs agent servers.
type Runtime interface {
	// Build reads the graph configuration file in the tree, and loads its graphs and its auth handler. The build can be
	// deployed several times. After an error, the revision is BUILD_FAILED.
	Build(ctx context.Context, tree fs.FS, configPath string) (Build, error)
	// Deploy replaces the agent server of a deployment by a new one. The old one serves until the new one is up. env
	// contains the secrets of the deployment. After an error, the revision is DEPLOY_FAILED and the old agent server
	// remains in service.
	Deploy(ctx context.Context, tenant, deploymentID string, b Build, env map[string]string) error
	// Remove stops the agent server of a deployment and deletes its data. It returns no error if there is none.
	Remove(ctx context.Context, deploymentID string) error
}

// Build is a built agent server with its graphs and handlers.
type Build any

// Server serves the operations of the control plane and processes revisions until Close is called.
type Server struct {
	http.Handler
	opts Options

	// The pipeline.
	ctx     context.Context // canceled by Close
	cancel  context.CancelFunc
	work    sync.WaitGroup
	mu      sync.Mutex
	workers map[string]*worker // the current workers, by deployment
}

// New returns a control plane.
func New(opts Options) (*Server, error) {
	if opts.Edition != Cloud && opts.Edition != SelfHosted {
		return nil, fmt.Errorf("control plane: unknown edition %q; use %q or %q", opts.Edition, Cloud, SelfHosted)
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
		return nil, fmt.Errorf("creating the buckets of the control plane: %w", err)
	}
	s := &Server{opts: opts, workers: map[string]*worker{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.Handler = s.routes()
	return s, nil
}

// routes returns the handler of the operations: those of the interface (section 4), and vendor extensions that existing
// clients use.
func (s *Server) routes() http.Handler {
	const deployments = "/v2/deployments"
	const deployment = deployments + "/{deployment_id}"
	const revisions = deployment + "/revisions"
	const revision = revisions + "/{revision_id}"
	return httpapi.Routes{
		deployments: {"GET": s.authenticated(s.listDeployments), "POST": s.authenticated(s.createDeployment)},
		deployment: {
			"GET":    s.authenticated(s.getDeployment),
			"PATCH":  s.authenticated(s.updateDeployment),
			"DELETE": s.authenticated(s.deleteDeployment),
		},
		revisions: {"GET": s.authenticated(s.listRevisions)},
		revision:  {"GET": s.authenticated(s.getRevision)},
	}.Handler(func(r *http.Request, err error) {
		s.opts.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	})
}

// operation serves a request of a tenant.
type operation func(r *http.Request, tenant string) (status int, body any, err error)

// authenticated returns an endpoint that checks the credentials before it calls the operation.
func (s *Server) authenticated(do operation) httpapi.Endpoint {
	return func(r *http.Request) (int, any, error) {
		tenant, ok := s.identify(r.Header)
		if !ok {
			return 0, nil, httpapi.Refuse(http.StatusUnauthorized,
				"Valid credentials are needed: X-Api-Key, X-Tenant-Id or a bearer token.")
		}
		return do(r, tenant)
	}
}
