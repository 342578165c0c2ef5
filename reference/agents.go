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
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/fixtures"
	"github.com/agentconform/agentconform/reference/graphs"
	"github.com/agentconform/agentconform/reference/store"
)

// agents runs the agent servers of all deployments, each with its data in a separate bucket. It is the Runtime of
// the pipeline.
type agents struct {
	db        *store.Store
	log       *slog.Logger
	keyOwner  func(ctx context.Context, deploymentID string) (func(key string) (identity string, ok bool), error)
	configure func(*agentserver.Options) // nil: leaves them as they are

	mu      sync.Mutex
	serving map[string]*agentserver.Server
}

var _ controlplane.Runtime = (*agents)(nil)

// build is an app as the pipeline hands it around.
type build struct{ *agentserver.App }

// GraphNames implements controlplane.Build.
func (b build) GraphNames() []string { return b.Graphs() }

// Build implements controlplane.Runtime.
func (a *agents) Build(ctx context.Context, tree fs.FS, configPath string) (controlplane.Build, error) {
	app, err := agentserver.Load(ctx, tree, configPath)
	if err != nil {
		return nil, err
	}
	return build{app}, nil
}

// Deploy implements controlplane.Runtime. A deployment that is in service goes on with the new build: its threads
// stay, and runs in progress finish on the old one.
func (a *agents) Deploy(ctx context.Context, deploymentID string, b controlplane.Build, env map[string]string) error {
	built, ok := b.(build)
	if !ok {
		return fmt.Errorf("deploy %T: it was built by another runtime", b)
	}
	if server := a.server(deploymentID); server != nil {
		server.Swap(built.App, env)
		return nil
	}
	keyOwner, err := a.keyOwner(ctx, deploymentID)
	if err != nil {
		return fmt.Errorf("find out whose the deployment is: %w", err)
	}
	opts := agentserver.Options{Log: a.log.With("deployment", deploymentID), APIKeyOwner: keyOwner}
	if a.configure != nil {
		a.configure(&opts)
	}
	server, err := agentserver.New(built.App, a.db, bucket(deploymentID), env, opts)
	if err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serving[deploymentID] = server
	return nil
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
	err := a.db.Update(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(bucket(deploymentID))) })
	if err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
		return fmt.Errorf("delete the data of the agent server: %w", err)
	}
	return nil
}

// Handler implements controlplane.Runtime.
func (a *agents) Handler(deploymentID string) http.Handler {
	if server := a.server(deploymentID); server != nil {
		return server
	}
	return nil
}

func (a *agents) server(deploymentID string) *agentserver.Server {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.serving[deploymentID]
}

// close ends all agent servers, each within the limit.
func (a *agents) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	results := make(chan error, len(a.serving))
	for _, server := range a.serving {
		go func() { results <- server.Close(ctx) }()
	}
	var err error
	for range a.serving {
		err = errors.Join(err, <-results)
	}
	clear(a.serving)
	return err
}

func bucket(deploymentID string) string { return "agent " + deploymentID }

// closeTimeout bounds the wait for each kind of work in progress at Close.
const closeTimeout = 5 * time.Second

// builtinAgent is the name under which the built-in agent server is served, instead of a deployment id.
const builtinAgent = "conformance"

// conformanceMaterial makes the fixtures' material once: it takes a while, and never changes.
var conformanceMaterial = sync.OnceValues(func() (*fixtures.Material, error) { return fixtures.Build(graphs.FS) })

// deployBuiltinAgent puts the built-in agent server in service. It belongs to no deployment. Its graph may be changed.
func deployBuiltinAgent(ctx context.Context, runtime controlplane.Runtime, secrets fixtures.Secrets, change func(source string) string) error {
	files, err := graphs.Changed(graphs.Conformance, change)
	if err != nil {
		return err
	}
	app, err := runtime.Build(ctx, files, fixtures.GraphConfigPath)
	if err != nil {
		return fmt.Errorf("build the built-in agent server: %w", err)
	}
	env, err := secrets.Env()
	if err != nil {
		return err
	}
	if err := runtime.Deploy(ctx, builtinAgent, app, env); err != nil {
		return fmt.Errorf("put the built-in agent server in service: %w", err)
	}
	return nil
}

func tenants(secrets fixtures.Secrets) []controlplane.Tenant {
	tenant := func(name string, c fixtures.Credentials) controlplane.Tenant {
		return controlplane.Tenant{Name: name, APIKey: c.APIKey, TenantID: c.TenantID, Bearer: c.Bearer}
	}
	return []controlplane.Tenant{tenant("owner", secrets.Owner), tenant("other", secrets.OtherTenant)}
}

// keyOwners tells agent servers whose an API key is: each knows the key of the tenant that it was deployed for.
func keyOwners(db *store.Store, secrets fixtures.Secrets) func(context.Context, string) (func(string) (string, bool), error) {
	known := tenants(secrets)
	return func(ctx context.Context, deploymentID string) (func(string) (string, bool), error) {
		name := known[0].Name // the built-in one is the first tenant's
		if deploymentID != builtinAgent {
			d, _, err := db.Work(ctx, deploymentID)
			if err != nil {
				return nil, err
			}
			name = d.Tenant
		}
		for _, t := range known {
			if t.Name == name {
				want := sha256.Sum256([]byte(t.APIKey))
				return func(key string) (string, bool) {
					got := sha256.Sum256([]byte(key))
					return name, subtle.ConstantTimeCompare(got[:], want[:]) == 1
				}, nil
			}
		}
		return nil, fmt.Errorf("unknown tenant %s", name)
	}
}
