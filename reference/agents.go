package reference

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"golang.org/x/sync/errgroup"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/store"
)

// agents runs the agent servers of all deployments. Each has its own bucket in the store. agents is the Runtime of the
// control plane.
type agents struct {
	store     *store.Store
	log       *slog.Logger
	tenants   []controlplane.Tenant
	configure []func(*agentserver.Options)
	buildTime time.Duration // the minimum duration of a build

	mu      sync.Mutex
	serving map[string]*agentserver.Server
}

var _ controlplane.Runtime = (*agents)(nil)

// Build implements controlplane.Runtime.
func (a *agents) Build(ctx context.Context, tree fs.FS, configPath string) (controlplane.Build, error) {
	if a.buildTime > 0 {
		select {
		case <-time.After(a.buildTime):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return agentserver.Load(ctx, tree, configPath)
}

// Deploy implements controlplane.Runtime. An agent server that is in service continues with the new build. Its threads
// remain, and runs in progress finish with the old build.
func (a *agents) Deploy(
	_ context.Context, tenant, deploymentID string, b controlplane.Build, env map[string]string,
) error {
	app, ok := b.(*agentserver.App)
	if !ok {
		return fmt.Errorf("deploy %T: it was built by another runtime", b)
	}
	if server := a.server(deploymentID); server != nil {
		server.Swap(app, env)
		return nil
	}
	opts := agentserver.Options{Log: a.log.With("deployment", deploymentID), APIKeyOwner: a.keyOwner(tenant)}
	for _, configure := range a.configure {
		configure(&opts)
	}
	server, err := agentserver.New(app, a.store, bucket(deploymentID), env, opts)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serving[deploymentID] = server
	return nil
}

// keyOwner returns a function that returns the owner of an API key. It knows only the key of the tenant.
func (a *agents) keyOwner(tenant string) func(key string) (identity string, ok bool) {
	var want [sha256.Size]byte
	for _, t := range a.tenants {
		if t.Name == tenant {
			want = sha256.Sum256([]byte(t.APIKey))
		}
	}
	return func(key string) (string, bool) {
		got := sha256.Sum256([]byte(key))
		return tenant, subtle.ConstantTimeCompare(got[:], want[:]) == 1
	}
}

// Remove implements controlplane.Runtime.
func (a *agents) Remove(_ context.Context, deploymentID string) error {
	a.mu.Lock()
	server := a.serving[deploymentID]
	delete(a.serving, deploymentID)
	a.mu.Unlock()
	if server != nil {
		return server.DeleteData()
	}
	err := a.store.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(bucket(deploymentID))) })
	if err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
		return fmt.Errorf("deleting the data of the agent server: %w", err)
	}
	return nil
}

// server returns the agent server of a deployment, or nil if none is in service.
func (a *agents) server(deploymentID string) *agentserver.Server {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.serving[deploymentID]
}

// ServeHTTP serves the agent servers, each below the ID of its deployment.
func (a *agents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, agentsPath), "/")
	server := a.server(id)
	if server == nil {
		httpapi.WriteDetail(w, http.StatusNotFound, "No agent server is in service at this address.")
		return
	}
	http.StripPrefix(agentsPath+id, server).ServeHTTP(w, r)
}

// close closes all agent servers. It waits for them until closeTimeout.
func (a *agents) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	var all errgroup.Group
	for _, server := range a.serving {
		all.Go(func() error { return server.Close(ctx) })
	}
	return all.Wait()
}

// bucket returns the name of the bucket of an agent server.
func bucket(deploymentID string) string { return "agent " + deploymentID }
