package reference

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"io/fs"
	"sync"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/fixtures"
	"github.com/agentconform/agentconform/reference/graphs"
	"github.com/agentconform/agentconform/reference/store"
)

// standing is the name under which the standing agent server is served, in place of a deployment id.
const standing = "conformance"

// conformanceMaterial makes the fixtures' material once: it takes a while, and never changes.
var conformanceMaterial = sync.OnceValues(func() (*fixtures.Material, error) { return fixtures.Build(graphs.FS) })

// deployStanding puts the standing agent server in service, which no deployment stands behind.
func deployStanding(ctx context.Context, runtime controlplane.Runtime, secrets fixtures.Secrets) error {
	files, err := fs.Sub(graphs.FS, graphs.Conformance)
	if err != nil {
		return err
	}
	app, err := runtime.Build(ctx, files, fixtures.GraphConfigPath)
	if err != nil {
		return fmt.Errorf("build the standing agent server: %w", err)
	}
	env, err := secrets.Env()
	if err != nil {
		return err
	}
	if err := runtime.Deploy(ctx, standing, app, env); err != nil {
		return fmt.Errorf("put the standing agent server in service: %w", err)
	}
	return nil
}

func tenants(secrets fixtures.Secrets) []controlplane.Tenant {
	tenant := func(name string, c fixtures.Credentials) controlplane.Tenant {
		return controlplane.Tenant{Name: name, APIKey: c.APIKey, TenantID: c.TenantID, Bearer: c.Bearer}
	}
	return []controlplane.Tenant{tenant("owner", secrets.Owner), tenant("stranger", secrets.Stranger)}
}

// keyOwners tells agent servers whose an API key is: each knows the key of the tenant that it was deployed for.
func keyOwners(db *store.Store, secrets fixtures.Secrets) func(context.Context, string) (func(string) (string, bool), error) {
	known := tenants(secrets)
	return func(ctx context.Context, deploymentID string) (func(string) (string, bool), error) {
		name := known[0].Name // the standing one is the first tenant's
		if deploymentID != standing {
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
		return nil, fmt.Errorf("there is no tenant %s", name)
	}
}
