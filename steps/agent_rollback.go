package steps

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// The moments at which a run makes room for another, as the sentences name them.
const (
	hasWritten  = "after it had written"
	justStarted = "as soon as it was accepted"
	hasWaited   = "while it waited behind another run"
)

// progress is a run in progress, and how long it is going to be that.
type progress struct {
	*graphRun
	until time.Time // it is surely in progress until then
	over  time.Time // it would surely be over by then, if nobody touched it
}

// inProgress starts a run on a thread of its own and returns at the moment, while it is surely in progress. Later
// attempts give more time.
func (s *agentServer) inProgress(ctx context.Context, moment string, attempt int) (*progress, error) {
	for ; attempt < attempts; attempt++ {
		p, err := s.begin(ctx, moment, s.pace.hold(attempt))
		if err != nil {
			return nil, err
		}
		if time.Now().Before(p.until) {
			return p, nil
		}
	}
	return nil, blocked("a run that was to take a while was over before anything could be done, in %d attempts", attempts)
}

func (s *agentServer) begin(ctx context.Context, moment string, hold time.Duration) (*progress, error) {
	t, err := s.newThread(ctx, s.owner())
	if err != nil {
		return nil, err
	}
	g, err := s.start(ctx, t, order{hold: hold, written: moment == hasWritten})
	if err != nil {
		return nil, err
	}
	p := &progress{graphRun: g, until: g.notOverBefore(), over: g.answered().Add(hold + s.pace.slack())}
	switch moment {
	case hasWritten:
		return p, s.awaitWritten(ctx, p)
	case hasWaited:
		return s.behind(ctx, p)
	}
	return p, nil
}

// awaitWritten reads the state until the run has written. A state that does not show it tells that the run had not
// begun to wait when it was asked for.
func (s *agentServer) awaitWritten(ctx context.Context, p *progress) error {
	limit := p.answered().Add(s.config.Timeouts.Run)
	state, written, err := s.readState(ctx, p.thread, limit, func(a *client.Answer) bool {
		if p.begunIn(a) {
			return true
		}
		p.begun = a.Sent
		return false
	})
	switch {
	case err != nil:
		return err
	case !written:
		return violated(state, "a first message of the run that is in progress", "%s", shownMessages(messagesOf(state)))
	}
	p.until = p.notOverBefore()
	p.over = state.Sent.Add(state.Took + p.order.hold + s.pace.slack())
	return nil
}

// behind starts a second run that waits for the first. That a target can be asked to let it wait is known from the
// field only.
func (s *agentServer) behind(ctx context.Context, first *progress) (*progress, error) {
	g, err := s.post(ctx, first.thread.owner, first.thread, order{hold: first.order.hold, strategy: "enqueue"})
	if err != nil {
		return nil, err
	}
	if g.id == "" {
		return nil, skipped("the target lets no run wait behind another one: it answers %d to the strategy enqueue, which is the field's and not the interface's", g.answer.Status)
	}
	p := &progress{graphRun: g, until: first.until, over: g.answered().Add(2*g.order.hold + s.pace.slack())}
	if end := g.notOverBefore(); end.Before(p.until) {
		p.until = end
	}
	return p, nil
}

// rollback is a run that was to make room for a new one.
type rollback struct {
	prior *progress
	next  *graphRun
	state *client.Answer // after the new run; nil where that was not accepted
	done  time.Time      // when the new run was seen to be complete
}

// replace starts a run with rollback on the thread of a run in progress and waits until the new one has completed.
func (s *agentServer) replace(ctx context.Context, p *progress) (*rollback, error) {
	next, err := s.post(ctx, p.thread.owner, p.thread, order{strategy: rollbackStrategy})
	if err != nil {
		return nil, err
	}
	rb := &rollback{prior: p, next: next}
	if next.id == "" {
		return rb, nil
	}
	rb.state, err = s.await(ctx, next)
	if err == nil {
		rb.done = rb.state.Sent.Add(rb.state.Took)
	}
	return rb, err
}

// won tells whether the prior run was surely in progress until the new one had been accepted.
func (rb *rollback) won() bool {
	return rb.next.id != "" && rb.next.answered().Before(rb.prior.until)
}

// prompt tells whether the new run was complete before the prior one's time was over: it did not wait for it.
func (rb *rollback) prompt() bool {
	return rb.next.complete && rb.done.Before(rb.prior.until)
}

// settled tells whether trying again with more time cannot show more.
func (rb *rollback) settled() bool {
	return rb.next.id == "" || !rb.next.complete || rb.won() && rb.prompt()
}

// rollBack has a run make room for another one at the moment, and tries again where the target was too slow to tell
// what has happened.
func (s *agentServer) rollBack(ctx context.Context, moment string) (*rollback, error) {
	var rb *rollback
	for attempt := range attempts {
		p, err := s.inProgress(ctx, moment, attempt)
		if err != nil {
			return nil, err
		}
		if rb, err = s.replace(ctx, p); err != nil {
			return nil, err
		}
		if rb.settled() {
			break
		}
	}
	return rb, rb.usable()
}

// usable says why nothing can be learned from a rollback.
func (rb *rollback) usable() error {
	if err := rb.next.accepted(); err != nil {
		return err
	}
	if !rb.next.complete {
		return violated(rb.state, "the new run to complete", "%s", shownMessages(messagesOf(rb.state)))
	}
	if !rb.won() || !rb.prompt() {
		return blocked("the new run did not complete before the time of the prior one was over (AS-ROLLBACK-1), in %d attempts", attempts)
	}
	return nil
}

// aRollback returns a rollback of a run that had written, which scenarios share. They only look.
func (s *agentServer) aRollback(ctx context.Context) (*rollback, error) {
	return s.rolledBack.get(ctx, s.run, "a rollback", func(ctx context.Context) (*rollback, error) {
		if err := s.plainRunsWork(ctx); err != nil {
			return nil, err
		}
		return s.rollBack(ctx, hasWritten)
	})
}

// aSoundRollback is the same, seen to have removed the prior run and its messages. What builds upon that is blocked
// where it is not so: the requirements about it fail by themselves.
func (s *agentServer) aSoundRollback(ctx context.Context) (*rollback, error) {
	return s.soundly.get(ctx, s.run, "a rollback that removes the prior run", func(ctx context.Context) (*rollback, error) {
		rb, err := s.aRollback(ctx)
		if err != nil {
			return nil, err
		}
		return rb, s.hasRemoved(ctx, rb)
	})
}

// hasRemoved says what a rollback has left of the prior run.
func (s *agentServer) hasRemoved(ctx context.Context, rb *rollback) error {
	a, err := s.getRun(ctx, rb.prior.thread.owner, rb.prior.graphRun)
	if err != nil {
		return err
	}
	if err := isGone(a); err != nil {
		return err
	}
	state, err := s.state(ctx, rb.prior.thread.owner, rb.prior.thread)
	if err != nil {
		return err
	}
	return holdsOnly(state, rb.next)
}

// staysRemoved says what comes back of a run that was rolled back, once its time is over (AS-ROLLBACK-4).
func (s *agentServer) staysRemoved(ctx context.Context) error {
	rb, err := s.aSoundRollback(ctx)
	if err != nil {
		return err
	}
	if err := client.Sleep(ctx, time.Until(rb.prior.over)); err != nil {
		return err
	}
	return s.hasRemoved(ctx, rb)
}

// pendingIsRemoved says what is left of a run that was rolled back as soon as it was accepted (AS-ROLLBACK-5).
func (s *agentServer) pendingIsRemoved(ctx context.Context) error {
	_, err := s.pending.get(ctx, s.run, "a rollback of a run that was just accepted", func(ctx context.Context) (*rollback, error) {
		rb, err := s.rollBack(ctx, justStarted)
		if err != nil {
			return nil, err
		}
		return rb, s.hasRemoved(ctx, rb)
	})
	return err
}

// unless blocks what looks wrong where its cause is another requirement's: the one fault is told once, by the
// requirement that names it.
func unless(ctx context.Context, wrong error, causes ...func(context.Context) error) error {
	if wrong == nil {
		return nil
	}
	for _, cause := range causes {
		if err := cause(ctx); err != nil {
			return asPrecondition(err)
		}
	}
	return wrong
}

// isGone says what is wrong with the answer to a look for a run that was rolled back. Any error status will do
// (section 7: the exact code is not shown).
func isGone(a *client.Answer) error {
	if a.Status < 400 {
		return violated(a, "an error status, since the run was rolled back and deleted", "%s", seen(a))
	}
	return nil
}

// aQuietRun returns a completed run on a thread that no scenario changes.
func (s *agentServer) aQuietRun(ctx context.Context) (*graphRun, error) {
	return s.quietRun.get(ctx, s.run, "a completed run", func(ctx context.Context) (*graphRun, error) {
		t, err := s.newThread(ctx, s.owner())
		if err != nil {
			return nil, err
		}
		g, err := s.start(ctx, t, order{})
		if err != nil {
			return nil, err
		}
		_, err = s.await(ctx, g)
		return g, err
	})
}

// plainRunsWork says why messages of this target cannot be told apart: a plain run alone does not leave its input
// and its answer.
func (s *agentServer) plainRunsWork(ctx context.Context) error {
	g, err := s.aQuietRun(ctx)
	if err != nil {
		return err
	}
	if err := holdsOnly(g.final, g); err != nil {
		return blocked("the state of a thread with one plain run: %v", err)
	}
	return nil
}
