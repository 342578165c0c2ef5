package steps

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
)

// cleanUpTime bounds the removal of what the run created: also a target that has gone must let the run end.
const cleanUpTime = 30 * time.Second

// clean removes the run's deployments where the target can. What stays is in the ledger, not removed. It goes on
// when the run was interrupted.
func (r *run) clean(ctx context.Context) {
	if r.client.Down.Cause(r.config.Target) != "" || r.config.Target == "" || r.unreachable != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	ctx = evidence.WithScenario(ctx, "cleaning up", len(r.Catalogue.Scenarios())+1)
	slots := make(chan struct{}, r.Concurrency)
	var wait sync.WaitGroup
	for _, entry := range r.ledger.Entries() {
		if entry.Kind != "deployment" || entry.Removed {
			continue
		}
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if r.remove(ctx, entry.ID) == "" {
				// Failing to note it leaves a ledger that names too much, which does no harm.
				_ = r.ledger.Removed(entry.Kind, entry.ID)
			}
		})
	}
	wait.Wait()
}

// remove removes a deployment, and says why it could not. The operation is the field's, not the interface's.
func (r *run) remove(ctx context.Context, id string) (problem string) {
	a, err := r.client.Do(ctx, r.toControlPlane(theClient, http.MethodDelete, deploymentPath(id), nil))
	switch {
	case err != nil:
		return err.Error()
	case a.OK() || a.Status == http.StatusNotFound:
		return ""
	}
	return r.redact.Excerpt(seen(a))
}

// Clean removes what earlier runs left at the target, and tells of each what came of it: an empty problem when it is
// gone.
func Clean(ctx context.Context, c *config.Config, left []evidence.Left, each func(e evidence.Left, problem string)) error {
	r := &run{config: c, client: client.New(1), redact: client.NewRedactor(c.Secrets())}
	defer r.client.Close()
	for _, e := range left {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		each(e, r.remove(ctx, e.ID))
	}
	return nil
}
