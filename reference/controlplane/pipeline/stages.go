package pipeline

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/source"
)

// stageError is a failure of the revision itself, not of the pipeline.
type stageError struct {
	status controlplane.Status
	cause  error
}

func (e *stageError) Error() string { return e.cause.Error() }

func (e *stageError) Unwrap() error { return e.cause }

// prepare does all that may be interrupted: everything before the new agent server is put in service.
func (w *worker) prepare(ctx context.Context, r *controlplane.Revision) error {
	if err := w.pause(ctx); err != nil {
		return err
	}
	if r.Content == "" {
		if err := w.resolve(ctx, r); err != nil {
			return err
		}
	}
	for _, status := range []controlplane.Status{controlplane.Queued, controlplane.AwaitingBuild} {
		if err := w.enter(ctx, r, status); err != nil {
			return err
		}
	}
	return w.withPlace(ctx, r, controlplane.Building, controlplane.BuildFailed, func(ctx context.Context) error {
		_, err := w.pipeline.build(ctx, *r)
		return err
	})
}

func (w *worker) resolve(ctx context.Context, r *controlplane.Revision) error {
	limited, cancel := context.WithTimeout(ctx, w.pipeline.opts.StageTimeout)
	defer cancel()
	version, err := w.pipeline.opts.Sources.Resolve(limited, origin(*r))
	if err != nil {
		return &stageError{controlplane.CreateFailed, err}
	}
	resolved, err := w.pipeline.opts.Store.UpdateRevision(ctx, r.DeploymentID, r.ID, func(_ *controlplane.Deployment, r *controlplane.Revision) {
		r.Content = version.Content
		if version.CommitSHA != "" {
			r.Config.RepoCommitSHA = &version.CommitSHA
		}
		r.UpdatedAt = w.later(r.CreatedAt)
	})
	if err == nil {
		*r = resolved
	}
	return err
}

func (w *worker) deploy(ctx context.Context, d controlplane.Deployment, r *controlplane.Revision) error {
	if err := w.enter(ctx, r, controlplane.AwaitingDeploy); err != nil {
		return err
	}
	err := w.withPlace(ctx, r, controlplane.Deploying, controlplane.DeployFailed, func(ctx context.Context) error {
		build, err := w.pipeline.build(ctx, *r)
		if err != nil {
			return err
		}
		return w.pipeline.opts.Runtime.Deploy(ctx, r.DeploymentID, build, d.Env())
	})
	if err != nil {
		return err
	}
	return w.store(*r, controlplane.Deployed, "", func(d *controlplane.Deployment) { d.ActiveRevisionID = r.ID })
}

// withPlace does a piece of work when a place is free. The pace is kept outside of it: a revision that lingers for
// the looks of it must not keep others from working.
func (w *worker) withPlace(ctx context.Context, r *controlplane.Revision, during, failed controlplane.Status, do func(context.Context) error) error {
	p := w.pipeline
	if err := p.places.Acquire(ctx, 1); err != nil {
		return err
	}
	if err := w.record(r, during); err != nil {
		p.places.Release(1)
		return err
	}
	limited, cancel := context.WithTimeout(ctx, p.opts.StageTimeout)
	err := do(limited)
	cancel()
	p.places.Release(1)
	if err != nil {
		return &stageError{failed, err}
	}
	return w.pause(ctx)
}

// enter stores a status and stays in it for the pace.
func (w *worker) enter(ctx context.Context, r *controlplane.Revision, status controlplane.Status) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := w.record(r, status); err != nil {
		return err
	}
	return w.pause(ctx)
}

// record stores a status on the way, unless the revision was there already before a restart.
func (w *worker) record(r *controlplane.Revision, status controlplane.Status) error {
	if !r.Status.Before(status) {
		return nil
	}
	if err := w.store(*r, status, "", nil); err != nil {
		return err
	}
	r.Status = status
	return nil
}

// pause waits for the pace.
func (w *worker) pause(ctx context.Context) error {
	if w.pipeline.opts.Pace <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(w.pipeline.opts.Pace)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func origin(r controlplane.Revision) source.Origin {
	o := source.Origin{RepoURL: r.RepoURL}
	if r.Config.RepoRef != nil {
		o.Ref = *r.Config.RepoRef
	}
	if r.Config.ImageURI != nil {
		o.ImageURI = *r.Config.ImageURI
	}
	return o
}

// mostBuilds bounds the builds that are kept for reuse.
const mostBuilds = 64

// builds keeps what was built, by the id of its content and the configuration file: the same content builds to the
// same agent server, however many deployments ask for it.
type builds struct {
	mu   sync.Mutex
	done map[buildKey]controlplane.Build
}

type buildKey struct{ content, configPath string }

func newBuilds() *builds { return &builds{done: map[buildKey]controlplane.Build{}} }

func (b *builds) get(key buildKey) controlplane.Build {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done[key]
}

func (b *builds) put(key buildKey, build controlplane.Build) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.done) >= mostBuilds {
		clear(b.done) // rare, and what is still needed is soon built again
	}
	b.done[key] = build
}

// build returns the build of a resolved revision.
func (p *Pipeline) build(ctx context.Context, r controlplane.Revision) (controlplane.Build, error) {
	key := buildKey{content: r.Content, configPath: p.opts.ConfigPath}
	if r.Config.GraphConfigPath != nil {
		key.configPath = *r.Config.GraphConfigPath
	}
	if build := p.builds.get(key); build != nil {
		return build, nil
	}
	archive, err := p.snapshot(ctx, r)
	if err != nil {
		return nil, err
	}
	tree, err := archive.Open()
	if err != nil {
		return nil, err
	}
	build, err := p.opts.Runtime.Build(ctx, tree, key.configPath)
	if err != nil {
		return nil, err
	}
	p.builds.put(key, build)
	return build, nil
}

// snapshot returns a revision's content, and sees to it that it is there after a restart, when the place it came
// from may not be.
func (p *Pipeline) snapshot(ctx context.Context, r controlplane.Revision) (source.Archive, error) {
	saved, err := p.opts.Store.Snapshot(ctx, r.Content)
	if err != nil || saved != nil {
		return saved, err
	}
	version := source.Version{Content: r.Content}
	if r.Config.RepoCommitSHA != nil {
		version.CommitSHA = *r.Config.RepoCommitSHA
	}
	archive, err := p.opts.Sources.Fetch(ctx, origin(r), version)
	if err != nil {
		return nil, err
	}
	if err := p.opts.Store.SaveSnapshot(ctx, r.Content, archive); err != nil {
		return nil, fmt.Errorf("keep the snapshot of the source: %w", err)
	}
	return archive, nil
}
