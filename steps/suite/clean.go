package suite

import (
	"context"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// cleanUpTime bounds the removal of what the run created: the run must end also if the target does not answer.
const cleanUpTime = 30 * time.Second

// clean removes the run's deployments where the target can. What could not be removed stays in the ledger. It also runs
// after an interrupt.
func (r *run) clean(ctx context.Context) {
	if r.target.Client.Down.Cause(r.target.Config.Target) != "" || r.target.Config.Target == "" || r.unreachable != "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	ctx = evidence.WithScenario(ctx, "cleaning up", len(r.Catalogue.Scenarios())+1)
	slots := make(chan struct{}, r.Concurrency)
	var wait sync.WaitGroup
	for _, entry := range r.target.Ledger.Entries() {
		if entry.Kind != "deployment" || entry.Removed {
			continue
		}
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if r.plane.Remove(ctx, entry.ID) == "" {
				// If this fails, the ledger lists a deployment that is removed already, which does no harm.
				_ = r.target.Ledger.Removed(entry.Kind, entry.ID)
			}
		})
	}
	wait.Wait()
}

// Clean removes what earlier runs left at the target, and reports each with its problem, which is empty if it was
// removed.
func Clean(ctx context.Context, c *config.Config, left []evidence.Left, each func(e evidence.Left, problem string)) error {
	t, err := target.New(target.Options{Config: c})
	if err != nil {
		return err
	}
	defer t.Close() //nolint:errcheck // there is no ledger
	p := plane.New(t, shared.NewMaker(ctx), time.Now())
	for _, e := range left {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		each(e, p.Remove(ctx, e.ID))
	}
	return nil
}
