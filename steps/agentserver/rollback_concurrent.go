package agentserver

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// defineConcurrent registers the sentences about several runs on one thread (section 3).
func (w *World) defineConcurrent(r *common.Definitions) {
	r.When(`the user starts five runs with rollback, (one after the other|all at once)`, w.userStartsConcurrent)
	r.Then(`(only the last|exactly one) of these runs can be retrieved`, w.oneRunLeft)
	r.Then(`the state holds the messages of that run only`, func(ctx context.Context) error {
		return agent.HoldsOnly(common.Must(w.server.State(ctx, w.owner(), w.thread)), w.left...)
	})
}

// userStartsConcurrent wins when every run was surely in progress until the next one, or all others, had been accepted.
// In turn, it tries again also where one would have been over before the last was complete: that a run comes back is
// another requirement's concern.
func (w *World) userStartsConcurrent(ctx context.Context, when string) error {
	common.Check(outcome.AsPrecondition(w.server.PlainRunsWork(ctx)))
	start, inProgress := w.server.StartInTurn, false
	if when == "all at once" {
		start = w.server.StartAtOnce
	}
	w.race(ctx, func(ctx context.Context) bool {
		w.onNewThread(ctx)
		all, err := start(ctx, w.thread, w.wanted)
		if err != nil {
			common.Check(outcome.Unless(ctx, err, w.server.RollbackActs))
		}
		if w.started, inProgress = all.Runs, all.InProgress; inProgress && all.Prompt {
			return true
		}
		common.Check(w.server.RollbackActs(ctx)) // with more time, each run would wait longer for the one before
		w.wanted = agent.Longer(w.started[0].Order.Hold, time.Since(w.started[0].Answer.Sent))
		return false
	})
	if inProgress {
		return nil
	}
	return outcome.Inconclusive("one of the runs ended before another was accepted, in %d attempts", agent.Attempts)
}

// oneRunLeft looks when the last run has completed, or the time of all that were started at once is over.
func (w *World) oneRunLeft(ctx context.Context, which string) error {
	var last *client.Answer
	for _, g := range w.started {
		a := common.Must(w.server.GetRun(ctx, w.owner(), g))
		if last = a; a.OK() {
			w.left, w.scene.Answer = append(w.left, g), a
		}
	}
	newest := w.started[len(w.started)-1]
	switch {
	case len(w.left) == 0:
		return outcome.Violated(last, "exactly one run that can be retrieved", "none of %d", len(w.started))
	case len(w.left) > 1:
		return outcome.Violated(w.scene.Answer, "exactly one run that can be retrieved", "%d of %d", len(w.left), len(w.started))
	case which == "only the last" && w.left[0] != newest:
		return outcome.Violated(w.scene.Answer, "the run "+newest.ID, "the run %s", w.left[0].ID).Comparing(w.scene.Answer, newest.Answer)
	}
	return nil
}
