package agentserver

import (
	"context"
	"slices"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// rollbacks has several runs of one thread.
type rollbacks struct {
	*World
	started   []*agent.GraphRun // runs that were started, one after the other or at once
	retrieved []*agent.GraphRun // started runs that can still be retrieved
}

// define registers the steps about several rollbacks on one thread (section 3).
func (w *rollbacks) define(r *common.Definitions) {
	r.When(`the user starts five runs with rollback, (one after the other|all at once)`, w.startConcurrent)
	r.When(`the user starts a run, and then one with rollback that fails`, w.replaceByFailing)
	r.Then(`(only the last|exactly one) of these runs can be retrieved`, w.oneRunRemains)
	r.Then(`the state holds the messages of that run only`, w.stateHoldsRetrieved)
}

// startConcurrent starts several runs with rollback on a new thread, one after the other or all at once. The race is won
// if every run was in progress until the next one, or all others, had been accepted. If they start one after the other,
// the last must also complete before the first would have ended (Prompt), because another requirement judges runs that
// reappear. This is not required of a server on which each run waits for the one before it (Serial), because it is
// impossible there.
func (w *rollbacks) startConcurrent(ctx context.Context, when string) error {
	if err := w.server.PlainRunsWork(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	inProgress := false // whether the runs of the last attempt were in progress
	start := w.server.StartInTurn
	if when == "all at once" {
		start = w.server.StartAtOnce
	}
	_, err := w.race(ctx, func(ctx context.Context) (bool, error) {
		if err := w.onNewThread(ctx); err != nil {
			return false, err
		}
		all, err := start(ctx, w.thread, w.wanted)
		if err != nil {
			return false, outcome.Unless(ctx, err, w.server.RollbackActs)
		}
		w.started, inProgress = all.Runs, all.InProgress
		if inProgress && (all.Prompt || all.Serial) {
			return true, nil
		}
		// Longer runs do not help if rollbacks have no effect: each run would wait longer for the one before it.
		if err := w.server.RollbackActs(ctx); err != nil {
			return false, err
		}
		w.wanted = agent.Longer(w.started[0].Order.Hold, time.Since(w.started[0].Response.Sent))
		return false, nil
	})
	if err != nil {
		return err
	}
	if inProgress {
		return nil
	}
	return outcome.Inconclusive("one of the runs ended before another was accepted, in %d attempts", agent.Attempts)
}

// replaceByFailing rolls back a run with a run whose graph raises an error.
func (w *rollbacks) replaceByFailing(ctx context.Context) error {
	if err := w.server.PlainRunsWork(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	return w.win(ctx, "the run ended before the one with rollback was accepted", func(ctx context.Context) (bool, error) {
		if err := w.onNewThread(ctx); err != nil {
			return false, err
		}
		p, err := w.server.InProgressOn(ctx, w.thread, agent.HasStarted, agent.Order{Hold: w.wanted})
		if err != nil {
			return false, outcome.AsPrecondition(err)
		}
		g, err := w.server.Start(ctx, w.thread, agent.Order{Words: agent.Fail, Strategy: agent.RollbackStrategy})
		if err != nil {
			return false, outcome.AsPrecondition(err)
		}
		if _, err := w.server.Await(ctx, g); err != nil {
			return false, outcome.AsPrecondition(err)
		}
		w.started, w.wanted = []*agent.GraphRun{p.GraphRun, g}, p.AfterLoss()
		return g.Responded().Before(p.Until()), nil
	})
}

// oneRunRemains judges that exactly one of the runs can be retrieved. It is called after the last run has completed, or
// after all runs that were started at once have ended. If GET finds none of them, it tries again until patience after the
// last creation has passed.
func (w *rollbacks) oneRunRemains(ctx context.Context, which string) error {
	var settled time.Time
	for _, g := range w.started {
		settled = client.Later(settled, g.Responded().Add(w.target.Config.Patience))
	}
	const first, longest = 10 * time.Millisecond, 250 * time.Millisecond
	var all []judge.Retrieved
	err := client.Repeat(ctx, first, longest, settled, func() (bool, error) {
		all = nil
		for _, g := range w.started {
			a, err := w.server.GetRun(ctx, w.owner(), g)
			if err != nil {
				return false, err
			}
			all = append(all, judge.Retrieved{Run: g.Value(), Response: a})
			if a.OK() {
				w.retrieved, w.scene.Response = append(w.retrieved, g), a
			}
		}
		return len(w.retrieved) > 0, nil
	})
	if err != nil {
		return err
	}
	return judge.OneRunRemains(all, which == "only the last")
}

func (w *rollbacks) stateHoldsRetrieved(ctx context.Context) error {
	state, err := w.server.ReadCompleted(ctx, w.thread, w.retrieved...)
	if err != nil {
		return err
	}
	var removed []*agent.GraphRun
	for _, g := range w.started {
		if !slices.Contains(w.retrieved, g) {
			removed = append(removed, g)
		}
	}
	return judge.HoldsRemainingOnly(state, agent.Values(w.retrieved), agent.Values(removed))
}
