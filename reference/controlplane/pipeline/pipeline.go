package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/source"
	"golang.org/x/sync/semaphore"
)

// Store is what the pipeline needs of a store.
type Store interface {
	// All returns every deployment, deleted ones too.
	All(ctx context.Context) ([]controlplane.Deployment, error)
	// Work returns a deployment, deleted or not, and its revisions that are not settled, newest first.
	Work(ctx context.Context, deploymentID string) (controlplane.Deployment, []controlplane.Revision, error)
	// Revision returns one revision of a deployment of the tenant.
	Revision(ctx context.Context, tenant, deploymentID, revisionID string) (controlplane.Revision, error)
	// UpdateRevision changes a revision and its deployment in one transaction.
	UpdateRevision(ctx context.Context, deploymentID, revisionID string, change func(*controlplane.Deployment, *controlplane.Revision)) (controlplane.Revision, error)
	// Purge forgets a deployment.
	Purge(ctx context.Context, deploymentID string) error
	// Snapshot returns the archive of a content, nil when none was saved.
	Snapshot(ctx context.Context, content string) ([]byte, error)
	// SaveSnapshot keeps the archive of a content.
	SaveSnapshot(ctx context.Context, content string, archive []byte) error
}

// Sources finds and fetches what revisions are built from.
type Sources interface {
	Resolve(ctx context.Context, o source.Origin) (source.Version, error)
	Fetch(ctx context.Context, o source.Origin, v source.Version) (source.Archive, error)
}

// Options says what a pipeline is made of. The first three are needed.
type Options struct {
	Store   Store
	Sources Sources
	Runtime controlplane.Runtime

	Pace         time.Duration               // how long a revision stays in each status at least
	StageTimeout time.Duration               // how long one piece of work may take, a minute by default
	AtOnce       int                         // pieces of work at once, 4 by default
	Now          func() time.Time            // time.Now by default
	Observe      func(controlplane.Revision) // gets each status that was stored; must return at once
	Log          *slog.Logger                // none by default
	ConfigPath   string                      // the graph configuration file where none is named, agent.json by default
}

// Pipeline works on revisions. It is a controlplane.Pipeline.
type Pipeline struct {
	opts   Options
	places *semaphore.Weighted
	builds *builds

	ctx    context.Context // ends with Close; every worker's work hangs on it
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	workers map[string]*worker // by deployment, those that are at work
	closed  bool
}

var _ controlplane.Pipeline = (*Pipeline)(nil)

// New makes a pipeline. It works until Close.
func New(opts Options) (*Pipeline, error) {
	if opts.Store == nil || opts.Sources == nil || opts.Runtime == nil {
		return nil, errors.New("pipeline: Store, Sources and Runtime are needed")
	}
	setDefaults(&opts)
	p := &Pipeline{opts: opts, places: semaphore.NewWeighted(int64(opts.AtOnce)), builds: newBuilds(), workers: map[string]*worker{}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, nil
}

func setDefaults(opts *Options) {
	if opts.StageTimeout <= 0 {
		opts.StageTimeout = time.Minute
	}
	if opts.AtOnce <= 0 {
		opts.AtOnce = 4
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Observe == nil {
		opts.Observe = func(controlplane.Revision) {}
	}
	opts.Log = cmp.Or(opts.Log, slog.New(slog.DiscardHandler))
	opts.ConfigPath = cmp.Or(opts.ConfigPath, "agent.json")
}

// Submit implements controlplane.Pipeline.
func (p *Pipeline) Submit(deploymentID string) { p.wake(deploymentID) }

// Remove implements controlplane.Pipeline.
func (p *Pipeline) Remove(deploymentID string) { p.wake(deploymentID) }

// wake makes the deployment's worker look at the store again, or starts one.
func (p *Pipeline) wake(deploymentID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	w := p.workers[deploymentID]
	if w == nil {
		w = &worker{pipeline: p, deployment: deploymentID}
		p.workers[deploymentID] = w
		p.wg.Go(w.run)
	}
	w.news = true
	if w.interrupt != nil {
		w.interrupt()
	}
}

// Close stops all work and waits until it has stopped. What was in progress stays as it is in the store.
func (p *Pipeline) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.wg.Wait()
}

// Recover takes up what an earlier process left: it puts in service what was in service, and returns when that
// serves; revisions and removals that were in progress go on in the background. A deployment that cannot be put in
// service again is logged and left out: it must not keep the others from serving.
func (p *Pipeline) Recover(ctx context.Context) error {
	all, err := p.opts.Store.All(ctx)
	if err != nil {
		return fmt.Errorf("look for revisions in progress: %w", err)
	}
	var wg sync.WaitGroup
	for _, d := range all {
		if d.Deleted || d.ActiveRevisionID == "" {
			p.wake(d.ID)
			continue
		}
		wg.Go(func() {
			if err := p.serveAgain(ctx, d); err != nil {
				p.opts.Log.Error("could not be put in service again", "deployment", d.ID, "error", err)
			}
			p.wake(d.ID)
		})
	}
	wg.Wait()
	return ctx.Err()
}

// serveAgain puts the revision in service that was in service before the restart.
func (p *Pipeline) serveAgain(ctx context.Context, d controlplane.Deployment) error {
	if err := p.places.Acquire(ctx, 1); err != nil {
		return err
	}
	defer p.places.Release(1)
	ctx, cancel := context.WithTimeout(ctx, p.opts.StageTimeout)
	defer cancel()
	active, err := p.opts.Store.Revision(ctx, d.Tenant, d.ID, d.ActiveRevisionID)
	if err != nil {
		return err
	}
	build, err := p.build(ctx, active)
	if err != nil {
		return err
	}
	return p.opts.Runtime.Deploy(ctx, d.ID, build, d.Env())
}
