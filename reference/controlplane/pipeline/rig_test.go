package pipeline_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/controlplane/pipeline"
	"github.com/agentconform/agentconform/reference/fixtures"
	"github.com/agentconform/agentconform/reference/source"
	"github.com/agentconform/agentconform/reference/store"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var material = sync.OnceValues(func() (*fixtures.Material, error) { return fixtures.Build(toyGraphs()) })

// watchdog ends a test that hangs. Its length shows nothing: the slowest machine needs a fraction of it.
const watchdog = 2 * time.Minute

// rig is a pipeline with all that it stands on, and a record of the statuses that were stored.
type rig struct {
	t        *testing.T
	store    *store.Store
	fetcher  *source.Fetcher
	runtime  *toyRuntime
	pipeline *pipeline.Pipeline
	opts     pipeline.Options
	repo     string
	registry string

	mu      sync.Mutex
	seen    map[string][]controlplane.Status
	order   []controlplane.Revision // every status of every revision, in the order in which they were stored
	changed chan struct{}           // closed and replaced at every change
}

func newRig(t *testing.T, configure func(*pipeline.Options, *toyRuntime)) *rig {
	t.Helper()
	m, err := material()
	require.NoError(t, err)
	r := &rig{t: t, runtime: &toyRuntime{}, seen: map[string][]controlplane.Status{}, changed: make(chan struct{})}
	host, err := m.Serve("127.0.0.1:0", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, host.Close()) })
	r.repo, r.registry = host.Place().RepoURL, host.Place().Registry
	r.store, err = store.Open(filepath.Join(t.TempDir(), "store.db"), true)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.store.Close()) })
	r.fetcher, err = source.New()
	require.NoError(t, err)
	t.Cleanup(r.fetcher.Close)
	r.opts = pipeline.Options{Store: r.store, Sources: r.fetcher, Runtime: r.runtime, Observe: r.observe}
	if configure != nil {
		configure(&r.opts, r.runtime)
	}
	r.start()
	return r
}

func (r *rig) start() {
	p, err := pipeline.New(r.opts)
	require.NoError(r.t, err)
	r.pipeline = p
	r.t.Cleanup(p.Close)
}

func (r *rig) observe(rev controlplane.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[rev.ID] = append(r.seen[rev.ID], rev.Status)
	r.order = append(r.order, rev)
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *rig) statuses(revision string) []controlplane.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[revision]
}

// await returns when the revision has had the status.
func (r *rig) await(revision string, status controlplane.Status) {
	r.t.Helper()
	limit := time.After(watchdog)
	for {
		r.mu.Lock()
		seen, changed := r.seen[revision], r.changed
		r.mu.Unlock()
		for _, s := range seen {
			if s == status {
				return
			}
		}
		select {
		case <-changed:
		case <-limit:
			require.FailNow(r.t, "the status did not come", "want %s, seen %v", status, seen)
		}
	}
}

func (r *rig) git(ref string) controlplane.Revision {
	return controlplane.Revision{Source: controlplane.GitHost, RepoURL: r.repo, Config: controlplane.SourceRevisionConfig{RepoRef: &ref}}
}

func (r *rig) image(tag string) controlplane.Revision {
	uri := r.registry + "/conformance:" + tag
	return controlplane.Revision{Source: controlplane.ExternalContainer, Config: controlplane.SourceRevisionConfig{ImageURI: &uri}}
}

// create stores a deployment with its first revision and submits it.
func (r *rig) create(first controlplane.Revision) controlplane.Deployment {
	r.t.Helper()
	now := time.Now().UTC()
	d := controlplane.Deployment{ID: uuid.NewString(), Tenant: "t", Name: "d", Source: first.Source, CreatedAt: now, UpdatedAt: now,
		Secrets: []controlplane.Secret{{Name: "S", Value: "1"}}}
	d.Latest = prepare(d.ID, first)
	d.LatestRevisionID = d.Latest.ID
	require.NoError(r.t, r.store.CreateDeployment(r.t.Context(), d, d.Latest))
	r.pipeline.Submit(d.ID)
	return d
}

// update adds a revision to a deployment and submits it.
func (r *rig) update(d controlplane.Deployment, next controlplane.Revision) controlplane.Revision {
	r.t.Helper()
	next = prepare(d.ID, next)
	_, err := r.store.UpdateDeployment(r.t.Context(), "t", d.ID, func(*controlplane.Deployment) (*controlplane.Revision, error) { return &next, nil })
	require.NoError(r.t, err)
	r.pipeline.Submit(d.ID)
	return next
}

func prepare(deployment string, rev controlplane.Revision) controlplane.Revision {
	now := time.Now().UTC()
	rev.ID, rev.DeploymentID, rev.Status, rev.CreatedAt, rev.UpdatedAt = uuid.NewString(), deployment, controlplane.Creating, now, now
	return rev
}

func (r *rig) revision(rev controlplane.Revision) controlplane.Revision {
	r.t.Helper()
	stored, err := r.store.Revision(r.t.Context(), "t", rev.DeploymentID, rev.ID)
	require.NoError(r.t, err)
	return stored
}
