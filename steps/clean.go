package steps

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/evidence"
)

// cleanUpTime bounds the removal of what the run created: also a target that has gone must let the run end.
const cleanUpTime = 30 * time.Second

// clean removes the run's deployments where the target can (the operation is the field's, not the interface's).
// What stays is in the ledger, not removed. It goes on when the run was interrupted.
func (r *run) clean(ctx context.Context) {
	if r.client.Down.Cause() != "" || r.config.Target == "" {
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
			a, err := r.client.Do(ctx, r.toControlPlane(theClient, http.MethodDelete, deploymentPath(entry.ID), nil))
			if err == nil && (a.OK() || a.Status == http.StatusNotFound) {
				// Failing to note it leaves a ledger that names too much, which does no harm.
				_ = r.ledger.Removed(entry.Kind, entry.ID)
			}
		})
	}
	wait.Wait()
}
