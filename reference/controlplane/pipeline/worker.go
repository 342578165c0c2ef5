package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/source"
)

// worker does the work of one deployment, one thing at a time.
type worker struct {
	pipeline   *Pipeline
	deployment string

	// Guarded by pipeline.mu.
	news      bool               // the store holds something that the worker has not looked at
	interrupt context.CancelFunc // ends the work in progress; nil while there is none that may be interrupted
}

// run works until there is no more news. The worker then ends; the next news starts another.
func (w *worker) run() {
	for w.takeNews() {
		w.look()
	}
}

func (w *worker) takeNews() bool {
	p := w.pipeline
	p.mu.Lock()
	defer p.mu.Unlock()
	if !w.news || p.closed {
		delete(p.workers, w.deployment)
		return false
	}
	w.news = false
	return true
}

// interruptible returns a context that ends when there is news.
func (w *worker) interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	p := w.pipeline
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.news {
		cancel()
	}
	w.interrupt = cancel
	return ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		w.interrupt = nil
		cancel()
	}
}

// look reads from the store what is to be done, and does it.
func (w *worker) look() {
	p := w.pipeline
	d, unsettled, err := p.opts.Store.Work(p.ctx, w.deployment)
	switch {
	case errors.Is(err, controlplane.ErrNoDeployment):
		return
	case err == nil && d.Deleted:
		err = w.remove()
	case err == nil && len(unsettled) > 0:
		for _, old := range unsettled[1:] {
			err = errors.Join(err, w.supersede(old))
		}
		if err == nil {
			err = w.work(d, unsettled[0])
		}
	}
	if err != nil && p.ctx.Err() == nil {
		p.opts.Log.Error("work on a deployment failed", "deployment", w.deployment, "error", err)
	}
}

// remove takes a deleted deployment out of service and forgets it, in this order: a crash in between leaves it in
// the store, to be removed at the next start.
func (w *worker) remove() error {
	p := w.pipeline
	ctx, cancel := context.WithTimeout(p.ctx, p.opts.StageTimeout)
	defer cancel()
	if err := p.opts.Runtime.Remove(ctx, w.deployment); err != nil {
		return err
	}
	return p.opts.Store.Purge(ctx, w.deployment)
}

// supersede settles a revision that a newer one has overtaken.
func (w *worker) supersede(old controlplane.Revision) error {
	status, message := controlplane.Skipped, "A newer revision came before this one was deployed."
	if old.Status == controlplane.Building || old.Status == controlplane.Deploying {
		status, message = controlplane.Interrupted, "A newer revision came while this one was being worked on."
	}
	return w.store(old, status, message, nil)
}

// work brings a revision to its end, unless there is news or the pipeline is closed.
func (w *worker) work(d controlplane.Deployment, r controlplane.Revision) error {
	ctx, done := w.interruptible(w.pipeline.ctx)
	err := w.prepare(ctx, &r)
	overtaken := ctx.Err() != nil
	done()
	if err == nil && !overtaken {
		err = w.deploy(w.pipeline.ctx, d, &r)
	}
	var failed *stageError
	switch {
	case overtaken || w.pipeline.ctx.Err() != nil:
		return nil // whoever looks next decides what becomes of it
	case errors.As(err, &failed):
		return w.store(r, failed.status, failed.Error(), nil)
	}
	return err
}

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

// store writes a status. It does not hang on the interruptible context: what happened is written in any case.
func (w *worker) store(r controlplane.Revision, status controlplane.Status, message string, change func(*controlplane.Deployment)) error {
	stored, err := w.pipeline.opts.Store.UpdateRevision(w.pipeline.ctx, r.DeploymentID, r.ID, func(d *controlplane.Deployment, r *controlplane.Revision) {
		r.Status, r.Message = status, shortened(message)
		r.UpdatedAt = w.later(r.CreatedAt)
		if change != nil {
			change(d)
			d.UpdatedAt = w.later(d.UpdatedAt)
		}
	})
	if err == nil {
		w.pipeline.opts.Observe(stored)
	}
	return err
}

// later is the time now, or the given one should the machine's clock have gone backwards.
func (w *worker) later(than time.Time) time.Time {
	now := w.pipeline.opts.Now().UTC().Truncate(time.Microsecond)
	if now.Before(than) {
		return than
	}
	return now
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

const longestMessage = 2000

func shortened(message string) string {
	if runes := []rune(message); len(runes) > longestMessage {
		return string(runes[:longestMessage]) + "…"
	}
	return message
}
