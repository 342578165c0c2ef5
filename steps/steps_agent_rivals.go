package steps

import (
	"context"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// defineRivals holds the sentences about several runs that want to take each other's place (section 3).
func (w *World) defineRivals(b *book) {
	b.when(`the user starts five runs with rollback, (one after the other|all at once)`, w.userStartsRivals)
	b.then(`(only the last|exactly one) of these runs is left`, w.oneRivalLeft)
	b.then(`the state holds the messages of the run that is left only`, w.stateHoldsLeft)
}

const rivals = 5

// userStartsRivals wins when every run was surely in progress until the next one, or each of those at once, had been
// accepted.
func (w *World) userStartsRivals(ctx context.Context, when string) error {
	for attempt := range attempts {
		t, err := w.agent.newThread(ctx, w.run.owner())
		if err != nil {
			return asPrecondition(err)
		}
		w.thread = t
		o := order{hold: w.run.holdFor(attempt, w.wanted), strategy: rollbackStrategy}
		start, atOnce := time.Now(), when == "all at once"
		if atOnce {
			w.rivals, err = w.agent.startAtOnce(ctx, t, o)
		} else {
			w.rivals, err = w.agent.startInTurn(ctx, t, o)
		}
		if err != nil {
			return err
		}
		if eachInProgress(w.rivals, atOnce) {
			return w.awaitAnyRival(ctx)
		}
		w.wanted = longer(o.hold, time.Since(start))
	}
	return inconclusive("one of the runs was over before another was accepted, in %d attempts", attempts)
}

func (s *agentServer) startInTurn(ctx context.Context, t *thread, o order) ([]*graphRun, error) {
	var all []*graphRun
	for range rivals {
		g, err := s.post(ctx, t.owner, t, o)
		if err != nil {
			return nil, err
		}
		if err := g.accepted(); err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// startAtOnce leaves out runs that were refused: a target may refuse some of many at the same time.
func (s *agentServer) startAtOnce(ctx context.Context, t *thread, o order) ([]*graphRun, error) {
	var wait sync.WaitGroup
	started, errs := make([]*graphRun, rivals), make([]error, rivals)
	for i := range rivals {
		wait.Go(func() { // each counts its run on a thread of its own, which is the same at the target
			same := *t
			started[i], errs[i] = s.post(ctx, t.owner, &same, o)
		})
	}
	wait.Wait()
	var all []*graphRun
	for i, g := range started {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if g.id != "" {
			all = append(all, g)
		}
	}
	if len(all) == 0 {
		return nil, started[0].accepted()
	}
	return all, nil
}

// eachInProgress tells whether every run was surely in progress until the next one, or each of those at once, had
// been accepted.
func eachInProgress(runs []*graphRun, atOnce bool) bool {
	for i, g := range runs {
		for j, other := range runs {
			if (atOnce || j == i-1) && !g.answered().Before(other.notOverBefore()) {
				return false
			}
		}
	}
	return true
}

// awaitAnyRival waits until one of the runs has completed: nobody can say which.
func (w *World) awaitAnyRival(ctx context.Context) error {
	var over time.Time
	for _, g := range w.rivals {
		if end := g.answered().Add(g.order.hold); end.After(over) {
			over = end
		}
	}
	if err := client.Sleep(ctx, time.Until(over)); err != nil {
		return err
	}
	_, _, err := w.agent.readState(ctx, w.thread, time.Now().Add(w.run.pace.patience()), func(a *client.Answer) bool {
		for _, g := range w.rivals {
			if g.completeIn(a) {
				return true
			}
		}
		return false
	})
	if err != nil {
		return err
	}
	return client.Sleep(ctx, w.run.pace.slack())
}

// oneRivalLeft looks when the time of all runs is over.
func (w *World) oneRivalLeft(ctx context.Context, which string) error {
	w.left = nil
	var last *client.Answer
	for _, g := range w.rivals {
		a, err := w.agent.getRun(ctx, w.run.owner(), g)
		if err != nil {
			return err
		}
		if last = a; a.OK() {
			w.left, w.answer = append(w.left, g), a
		}
	}
	newest := w.rivals[len(w.rivals)-1]
	switch {
	case len(w.left) == 0:
		return violated(last, "one run that is left", "none of %d", len(w.rivals))
	case len(w.left) > 1:
		return unless(ctx, violated(w.answer, "one run that is left", "%d of %d", len(w.left), len(w.rivals)), w.agent.pendingIsRemoved, w.agent.staysRemoved)
	case which == "only the last" && w.left[0] != newest:
		return violated(w.answer, "the run "+newest.id, "the run %s", w.left[0].id)
	}
	return nil
}

// stateHoldsLeft asks for the messages of one of the runs that are left: that only one is, was judged before.
func (w *World) stateHoldsLeft(ctx context.Context) error {
	a, err := w.agent.state(ctx, w.run.owner(), w.thread)
	if err != nil {
		return err
	}
	var wrong error
	for _, g := range w.left {
		if wrong = holdsOnly(a, g); wrong == nil {
			return nil
		}
	}
	return unless(ctx, wrong, w.agent.pendingIsRemoved, w.agent.staysRemoved)
}
