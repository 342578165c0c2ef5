package agentserver

import (
	"context"
	"slices"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// concurrent holds the sentences about several runs on one thread (section 3).
type concurrent struct {
	*World
	started []*agent.GraphRun // one after the other, or at once
	left    []*agent.GraphRun // those of them that are still found
}

func (w *concurrent) define(r *common.Definitions) {
	r.When(`the user starts five runs with rollback, (one after the other|all at once)`, w.userStartsConcurrent)
	r.Then(`(only the last|exactly one) of these runs can be retrieved`, w.oneRunLeft)
	r.Then(`the state holds the messages of that run only`, w.stateHoldsLeft)
}

func (w *concurrent) userStartsConcurrent(ctx context.Context, when string) error {
	if err := w.server.PlainRunsWork(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	if when == "all at once" {
		return w.startsAtOnce(ctx)
	}
	return w.startsInTurn(ctx)
}

// startsInTurn wins when every run was surely in progress until the next one had been accepted. It tries again where
// one would have been over before the last was complete: that a run comes back is another requirement's concern.
func (w *concurrent) startsInTurn(ctx context.Context) error {
	var q *agent.Sequence
	for range agent.Attempts {
		if err := w.onNewThread(ctx); err != nil {
			return err
		}
		start := time.Now()
		var err error
		if q, err = w.server.StartInTurn(ctx, w.thread, w.wanted); err != nil {
			return outcome.Unless(ctx, err, w.server.RollbackActs) // which is a precondition
		}
		if w.started = q.Runs; q.InProgress && q.Prompt {
			return nil
		}
		took := time.Since(start)
		if err := w.server.RollbackActs(ctx); err != nil {
			return err // the more time, the longer each run of the sequence waits for the one before
		}
		w.wanted = agent.Longer(q.Runs[0].Order.Hold, took)
	}
	if !q.InProgress {
		return endedEarly()
	}
	return nil
}

// startsAtOnce wins when every run was surely in progress until all others had been accepted.
func (w *concurrent) startsAtOnce(ctx context.Context) error {
	for range agent.Attempts {
		if err := w.onNewThread(ctx); err != nil {
			return err
		}
		var err error
		if w.started, err = w.server.StartAtOnce(ctx, w.thread, w.wanted); err != nil {
			return outcome.Unless(ctx, err, w.server.RollbackActs) // which is a precondition
		}
		if agent.EachInProgress(w.started) {
			return w.awaitAny(ctx)
		}
		w.wanted = agent.Longer(w.started[0].Order.Hold, time.Since(w.started[0].Answer.Sent))
	}
	return endedEarly()
}

func endedEarly() error {
	return outcome.Inconclusive("one of the runs ended before another was accepted, in %d attempts", agent.Attempts)
}

// awaitAny waits until one of the runs has completed: nobody can say which.
func (w *concurrent) awaitAny(ctx context.Context) error {
	for _, g := range w.started {
		if err := client.Sleep(ctx, time.Until(g.Answered().Add(g.Order.Hold))); err != nil {
			return err
		}
	}
	_, _, err := w.server.ReadState(ctx, w.thread, time.Now().Add(w.target.Config.Timeouts.Run), func(a *client.Answer) bool {
		return slices.ContainsFunc(w.started, func(g *agent.GraphRun) bool { return g.CompleteIn(a) })
	})
	if err != nil {
		return err
	}
	return client.Sleep(ctx, w.agents.Slack())
}

// oneRunLeft looks when the last run has completed, or the time of all that were started at once is over.
func (w *concurrent) oneRunLeft(ctx context.Context, which string) error {
	w.left = nil
	var last *client.Answer
	for _, g := range w.started {
		a, err := w.server.GetRun(ctx, w.owner(), g)
		if err != nil {
			return err
		}
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

// stateHoldsLeft asks for the messages of one of the runs that are left: that only one is, was judged before.
func (w *concurrent) stateHoldsLeft(ctx context.Context) error {
	a, err := w.server.State(ctx, w.owner(), w.thread)
	if err != nil {
		return err
	}
	var wrong error
	for _, g := range w.left {
		if wrong = agent.HoldsOnly(a, g); wrong == nil {
			return nil
		}
	}
	return wrong
}
