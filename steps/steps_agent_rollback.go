package steps

import (
	"context"
	"errors"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// defineRollback holds the sentences about runs that make room for others (sections 3 and 7).
func (w *World) defineRollback(b *book) {
	b.given(`a run in progress that has written`, w.aRunThatHasWritten)
	b.given(`a run that was rolled back (after it had written|as soon as it was accepted|while it waited behind another run)`, w.aRolledBackRun)
	b.given(`a rollback that has removed a run`, w.aSoundRollback)
	b.given(`a thread that keeps the messages of its completed runs`, w.aThreadThatKeeps)
	b.given(`a completed run and a run in progress on other threads of the user`, w.runsElsewhere)
	b.given(`the user waits in a join for it`, w.userWaitsInJoin)
	b.when(`the user starts another run with rollback`, w.userReplaces)
	b.when(`the user looks for the prior run`, w.userLooksForPrior)
	b.when(`the user looks for the prior run and at the state`, w.userLooks)
	b.when(`the user looks for the prior run and at the state after its time is over`, w.userLooksLater)
	b.when(`the user's next run on the thread, with rollback, completes`, w.nextRollbackCompletes)
	b.then(`the new run is accepted`, w.newRunAccepted)
	b.then(`it completes before the time of the prior run is over`, w.newRunPrompt)
	b.then(`the prior run is gone`, w.priorIsGone)
	b.then(`the state holds the new run only`, w.stateHoldsNewOnly)
	b.then(`the earlier runs are found`, w.earlierRunsFound)
	b.then(`the runs on the other threads are found`, w.runsElsewhereFound)
	b.then(`they end with their own messages`, w.runsElsewhereEnd)
	b.then(`the join on the prior run is released`, w.joinReleased)
}

// look is what the user saw at one time: the prior run, the state, or both.
type look struct {
	run, state *client.Answer
	late       bool // after the prior run's time
}

func (w *World) aRunThatHasWritten(ctx context.Context) error {
	return w.prepare(ctx, func(ctx context.Context, attempt int) error {
		p, err := w.agent.inProgress(ctx, hasWritten, attempt, w.wanted)
		if err == nil {
			w.prior = p
			w.speakOf(p.graphRun)
		}
		return err
	})
}

func (w *World) aRolledBackRun(ctx context.Context, moment string) (err error) {
	if moment == hasWritten {
		w.rolled, err = w.agent.aRollback(ctx)
	} else {
		w.rolled, err = w.agent.rollBack(ctx, moment)
	}
	if err == nil {
		w.prior, w.current, w.thread = w.rolled.prior, w.rolled.next, w.rolled.next.thread
	}
	return err
}

func (w *World) aSoundRollback(ctx context.Context) (err error) {
	w.rolled, err = w.agent.aSoundRollback(ctx)
	if err == nil {
		w.prior, w.current, w.thread = w.rolled.prior, w.rolled.next, w.rolled.next.thread
	}
	return err
}

func (w *World) aThreadThatKeeps(ctx context.Context) error {
	if err := w.agent.plainRunsWork(ctx); err != nil {
		return err
	}
	switch adds, err := w.agent.runsAdd(ctx); {
	case err != nil:
		return err
	case !adds:
		return inapplicable("plain runs do not keep the messages of earlier ones either (AS-STATE-3), so none can be lost")
	}
	if err := w.aThread(ctx); err != nil {
		return err
	}
	for range 2 {
		if err := w.nextRunCompletes(ctx); err != nil {
			return err
		}
	}
	return holdsOnly(w.answer, w.kept...)
}

// runsElsewhere gives the run in progress twice the time, so that the other one's race is over first.
func (w *World) runsElsewhere(ctx context.Context) error {
	return w.prepare(ctx, func(ctx context.Context, attempt int) error {
		var threads [2]*thread
		for i := range threads {
			var err error
			if threads[i], err = w.agent.newThread(ctx, w.run.owner()); err != nil {
				return err
			}
		}
		completed, err := w.agent.start(ctx, threads[0], order{})
		if err != nil {
			return err
		}
		if _, err := w.agent.completed(ctx, completed); err != nil {
			return err
		}
		goingOn, err := w.agent.start(ctx, threads[1], order{hold: w.run.holdFor(attempt+1, 2*w.wanted)})
		if err != nil {
			return err
		}
		w.aside = []*graphRun{completed, goingOn}
		return w.allFound(ctx, w.aside)
	})
}

// userWaitsInJoin lets the join arrive before anything else happens. It arrived too early or not at all when it is
// answered while the run goes on.
func (w *World) userWaitsInJoin(ctx context.Context) error {
	return w.prepare(ctx, func(ctx context.Context, _ int) error {
		if err := w.agent.joinsAnswer(ctx); err != nil {
			return err
		}
		w.joined = w.agent.joinNow(ctx, w.prior.graphRun)
		w.atEnd(w.joined.leave)
		if err := w.joined.orUntil(ctx, time.Now().Add(w.run.pace.slack())); err != nil {
			return err
		}
		if w.joined.over() && time.Now().Before(w.prior.until) {
			return blocked("the join has answered while the run was in progress (AS-RUN-4)")
		}
		return nil
	})
}

// userReplaces wins when all runs that matter were in progress until the new run had been accepted, and that did not
// wait for the prior one.
func (w *World) userReplaces(ctx context.Context) error {
	return w.race(ctx, func(ctx context.Context) (bool, error) {
		rb, err := w.agent.replace(ctx, w.prior)
		if err != nil {
			return false, err
		}
		w.rolled, w.current = rb, rb.next
		w.answer = rb.next.answer
		if rb.state != nil {
			w.answer = rb.state
		}
		inTime := true
		for _, g := range w.aside {
			inTime = inTime && (g.complete || rb.next.answered().Before(g.notOverBefore()))
		}
		won := rb.settled() && inTime
		if !won {
			w.wanted = w.prior.afterLoss()
		}
		return won, nil
	})
}

func (w *World) userLooksForPrior(ctx context.Context) error {
	for _, g := range w.prior.line() {
		a, err := w.agent.getRun(ctx, w.run.owner(), g)
		if err != nil {
			return err
		}
		w.looks = append(w.looks, look{run: a})
	}
	return nil
}

func (w *World) userLooks(ctx context.Context) error {
	if err := w.userLooksForPrior(ctx); err != nil {
		return err
	}
	return w.userReadsState(ctx)
}

func (w *World) userLooksLater(ctx context.Context) error {
	if err := client.Sleep(ctx, time.Until(w.prior.over)); err != nil {
		return err
	}
	before := len(w.looks)
	err := w.userLooks(ctx)
	for i := range w.looks[before:] {
		w.looks[before+i].late = true
	}
	return err
}

func (w *World) nextRollbackCompletes(ctx context.Context) error {
	return w.nextRun(ctx, order{strategy: rollbackStrategy})
}

func (w *World) newRunAccepted() error { return w.rolled.next.accepted() }

func (w *World) newRunPrompt() error {
	rb := w.rolled
	switch {
	case rb.prompt():
		return nil
	case w.tooSlowFor(rb.prior.graphRun) || rb.prior.tooShort() || 2*w.run.pace.turnarounds.worst() > rb.prior.order.hold:
		return inconclusive("the target is too slow to tell whether the new run has waited for the prior one")
	}
	return violated(rb.state, "the new run to complete while the prior one would still be in progress",
		"its answer %s after the prior run had begun, which was to take %s", rb.done.Sub(rb.prior.answer.Sent).Round(time.Millisecond), rb.prior.order.hold)
}

func (w *World) priorIsGone(ctx context.Context) error {
	for _, l := range w.looks {
		if l.run == nil {
			continue
		}
		if err := isGone(l.run); err != nil {
			return w.asSeen(ctx, l, err)
		}
	}
	return nil
}

func (w *World) stateHoldsNewOnly(ctx context.Context) error {
	for _, l := range w.looks {
		if l.state == nil {
			continue
		}
		if err := holdsOnly(l.state, w.rolled.next); err != nil {
			return w.asSeen(ctx, l, err)
		}
	}
	return nil
}

// asSeen is for what a look has shown. What was not there at first has come back; and where even a run that had
// written comes back, that is told by the requirement about those.
func (w *World) asSeen(ctx context.Context, l look, wrong error) error {
	if !l.late {
		return unless(ctx, wrong, w.rolled.cameBack)
	}
	if shared, _ := w.agent.aRollback(ctx); w.rolled == shared {
		return wrong
	}
	return unless(ctx, wrong, w.agent.staysRemoved)
}

func (w *World) earlierRunsFound(ctx context.Context) error {
	return w.allFound(ctx, w.kept[:len(w.kept)-1])
}

func (w *World) runsElsewhereFound(ctx context.Context) error {
	rb := w.rolled
	if err := rb.usable(); err != nil {
		return asPrecondition(err)
	}
	for _, g := range w.aside {
		if !g.complete && !rb.next.answered().Before(g.notOverBefore()) {
			return inconclusive("the run on the other thread was over before the rollback, in %d attempts", attempts)
		}
	}
	return w.allFound(ctx, w.aside)
}

func (w *World) allFound(ctx context.Context, runs []*graphRun) error {
	for _, g := range runs {
		a, err := w.agent.getRun(ctx, w.run.owner(), g)
		if err != nil {
			return err
		}
		if !a.OK() {
			return violated(a, "the run "+g.id, "%s", seen(a))
		}
	}
	return nil
}

func (w *World) runsElsewhereEnd(ctx context.Context) error {
	for _, g := range w.aside {
		state, err := w.agent.await(ctx, g)
		if err != nil {
			return err
		}
		if err := holdsOnly(state, g); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) joinReleased(ctx context.Context) error {
	if err := w.rolled.usable(); err != nil {
		return asPrecondition(err)
	}
	limit := w.run.config.Timeouts.Request
	if err := w.joined.orUntil(ctx, time.Now().Add(limit)); err != nil {
		return err
	}
	if busy := (*client.Busy)(nil); errors.As(w.joined.err, &busy) {
		return busy
	}
	if none := (*client.NoAnswer)(nil); w.joined.over() && !(errors.As(w.joined.err, &none) && none.Timeout) {
		return nil
	}
	wrong := violated(w.rolled.next.answer, "an answer to the join on the prior run", "none within %s after the new run had completed", limit)
	return unless(ctx, wrong, w.agent.joinsWake)
}
