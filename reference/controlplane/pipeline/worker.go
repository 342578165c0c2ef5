package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
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

const longestMessage = 2000

func shortened(message string) string {
	if runes := []rune(message); len(runes) > longestMessage {
		return string(runes[:longestMessage]) + "…"
	}
	return message
}
