package agentserver

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// concurrent holds the sentences about several runs on one thread.
type concurrent struct {
	*World
	started []*agent.GraphRun // one after the other, or at once
	left    []*agent.GraphRun // those of them that are still found
}

// define holds the sentences about several runs that want to take each other's place (section 3).
func (w *concurrent) define(r *common.Registrar) {
	r.When(`the user starts five runs with rollback, (one after the other|all at once)`, w.userStartsConcurrent)
	r.Then(`(only the last|exactly one) of these runs can be retrieved`, w.oneRunLeft)
	r.Then(`the state holds the messages of that run only`, w.stateHoldsLeft)
}

// userStartsConcurrent wins when every run was surely in progress until the next one, or each of those at once, had been
// accepted.
func (w *concurrent) userStartsConcurrent(ctx context.Context, when string) error {
	for attempt := range agent.Attempts {
		t, err := w.server.NewThread(ctx, w.target.Owner())
		if err != nil {
			return outcome.AsPrecondition(err)
		}
		w.thread = t
		o := agent.Order{Hold: w.agents.HoldFor(attempt, w.wanted), Strategy: agent.RollbackStrategy}
		start, atOnce := time.Now(), when == "all at once"
		if atOnce {
			w.started, err = w.server.StartAtOnce(ctx, t, o)
		} else {
			w.started, err = w.server.StartInTurn(ctx, t, o)
		}
		if err != nil {
			return outcome.Unless(ctx, err, w.server.RollbackActs)
		}
		if agent.EachInProgress(w.started, atOnce) {
			return w.awaitAny(ctx)
		}
		w.wanted = agent.Longer(o.Hold, time.Since(start))
	}
	return outcome.Inconclusive("one of the runs ended before another was accepted, in %d attempts", agent.Attempts)
}

// awaitAny waits until one of the runs has completed: nobody can say which.
func (w *concurrent) awaitAny(ctx context.Context) error {
	var over time.Time
	for _, g := range w.started {
		if end := g.Answered().Add(g.Order.Hold); end.After(over) {
			over = end
		}
	}
	if err := client.Sleep(ctx, time.Until(over)); err != nil {
		return err
	}
	_, _, err := w.server.ReadState(ctx, w.thread, time.Now().Add(w.agents.Pace.Patience()), func(a *client.Answer) bool {
		for _, g := range w.started {
			if g.CompleteIn(a) {
				return true
			}
		}
		return false
	})
	if err != nil {
		return err
	}
	return client.Sleep(ctx, w.agents.Pace.Slack())
}

// oneRunLeft looks when the time of all runs is over.
func (w *concurrent) oneRunLeft(ctx context.Context, which string) error {
	w.left = nil
	var last *client.Answer
	for _, g := range w.started {
		a, err := w.server.GetRun(ctx, w.target.Owner(), g)
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
		return outcome.Unless(ctx, outcome.Violated(w.scene.Answer, "exactly one run that can be retrieved", "%d of %d", len(w.left), len(w.started)), w.server.RollbackActs)
	case which == "only the last" && w.left[0] != newest:
		return outcome.Violated(w.scene.Answer, "the run "+newest.ID, "the run %s", w.left[0].ID).Comparing(w.scene.Answer, newest.Answer)
	}
	return nil
}

// stateHoldsLeft asks for the messages of one of the runs that are left: that only one is, was judged before.
func (w *concurrent) stateHoldsLeft(ctx context.Context) error {
	a, err := w.server.State(ctx, w.target.Owner(), w.thread)
	if err != nil {
		return err
	}
	var wrong error
	for _, g := range w.left {
		if wrong = agent.HoldsOnly(a, g); wrong == nil {
			return nil
		}
	}
	return outcome.Unless(ctx, wrong, w.server.RollbackActs)
}
