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
	ahead  *graphRun     // the run that it waits for, nil where it waits for none; a rollback removes both
	wanted time.Duration // how long it should take, so that it is surely in progress for long enough; 0: any time will do

	until time.Time // it is surely in progress until then
	over  time.Time // it would surely be over by then, if nobody touched it
}

// inProgress starts a run on a thread of its own and returns at the moment, while it is surely in progress. Later
// attempts give more time, and at least what is wanted after a lost race.
func (s *agentServer) inProgress(ctx context.Context, moment string, attempt int, wanted time.Duration) (*progress, error) {
	_, _ = s.aQuietRun(ctx) // tells how fast runs are here; what is wrong with it is not this run's concern
	if moment == hasWaited {
		if waits, err := s.letsWait(ctx); err != nil {
			return nil, err
		} else if !waits {
			return nil, inapplicable("the target lets no run wait behind another one: it does not keep the strategy enqueue, which is the field's and not the interface's")
		}
	}
	for ; attempt < attempts; attempt++ {
		p, err := s.begin(ctx, moment, s.holdFor(attempt, wanted))
		if err != nil {
			return nil, err
		}
		p.wanted = wanted
		if time.Now().Before(p.until) {
			return p, nil
		}
	}
	return nil, blocked("a run that was to take a while was over before anything could be done, in %d attempts", attempts)
}

// line are the run and the one that it waits for.
func (p *progress) line() []*graphRun {
	if p.ahead == nil {
		return []*graphRun{p.graphRun}
	}
	return []*graphRun{p.graphRun, p.ahead}
}

// holdFor is how long a run is told to wait in the attempt, from 0, where a lost race has shown what is wanted.
func (r *run) holdFor(attempt int, wanted time.Duration) time.Duration {
	most := max(maxHold, r.config.Timeouts.Run/2)
	return max(r.pace.hold(attempt), min(wanted, most)).Round(time.Millisecond)
}

// afterLoss is how long the next run in progress should take, where a race against this one was just lost. What has
// happened tells more than the pace of other answers: a target may answer only once it has interrupted the prior run.
func (p *progress) afterLoss() time.Duration { return longer(p.order.hold, time.Since(p.begun)) }

// longer is the time for a run after one of the hold, where what was to be done before its end took so long.
func longer(hold, took time.Duration) time.Duration { return max(2*hold, 3*took) }

// tooShort tells whether the run was given so much less time than what the race before it took that its end is no
// measure. A new run that waits for the prior one takes longer the longer that is, so a run long enough unmasks it.
func (p *progress) tooShort() bool { return p.wanted > p.order.hold*3/2 }

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

// letsWait tells whether a run with the strategy enqueue waits for the one before it. A target may take the word, which
// the interface does not know, for its own default.
func (s *agentServer) letsWait(ctx context.Context) (bool, error) {
	return s.enqueues.get(ctx, s.run, "a run behind another one", func(ctx context.Context) (bool, error) {
		t, err := s.newThread(ctx, s.owner())
		if err != nil {
			return false, err
		}
		first, err := s.start(ctx, t, order{hold: s.pace.hold(0)})
		if err != nil {
			return false, err
		}
		second, err := s.post(ctx, t.owner, t, order{strategy: "enqueue"})
		if err != nil || second.id == "" {
			return false, err
		}
		limit := second.answered().Add(first.order.hold + 2*s.config.Timeouts.Run)
		state, complete, err := s.readState(ctx, t, limit, second.completeIn)
		if err != nil {
			return false, err
		}
		early := state.Sent.Add(state.Took).Before(first.notOverBefore())
		return complete && !early && holdsOnly(state, first, second) == nil, nil
	})
}

// behind starts a second run that waits for the first. That a target can be asked to let it wait is known from the
// field only.
func (s *agentServer) behind(ctx context.Context, first *progress) (*progress, error) {
	g, err := s.post(ctx, first.thread.owner, first.thread, order{hold: first.order.hold, strategy: "enqueue"})
	if err != nil {
		return nil, err
	}
	if g.id == "" {
		return nil, inapplicable("the target lets no run wait behind another one: it answers %d to the strategy enqueue, which is the field's and not the interface's", g.answer.Status)
	}
	p := &progress{graphRun: g, ahead: first.graphRun, until: first.until, over: g.answered().Add(2*g.order.hold + s.pace.slack())}
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
	left  error          // what there was of the prior run right after that, while it would still have been in progress
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
// what has happened, or what was left of the prior run while it would still have been in progress.
func (s *agentServer) rollBack(ctx context.Context, moment string) (*rollback, error) {
	var rb *rollback
	var wanted time.Duration
	for attempt := range attempts {
		p, err := s.inProgress(ctx, moment, attempt, wanted)
		if err != nil {
			return nil, err
		}
		if rb, err = s.replace(ctx, p); err != nil {
			return nil, err
		}
		if rb.usable() != nil {
			if stands, err := s.stands(ctx, rb, moment); stands || err != nil {
				return rb, err
			}
			if rb.settled() {
				break
			}
			wanted = p.afterLoss()
			continue
		}
		if rb.left, err = s.leftOf(ctx, rb); err != nil {
			return nil, err
		}
		if time.Now().Before(p.until) {
			break
		}
		wanted = p.afterLoss()
	}
	return rb, rb.usable()
}

// stands tells whether something of a run that had not begun is left after a new run which came too late to be used
// otherwise: one run that should be gone keeps the new one waiting. A target that lets it wait for every run does so after
// one that has written, too, and is told about that (AS-ROLLBACK-1).
func (s *agentServer) stands(ctx context.Context, rb *rollback, moment string) (bool, error) {
	if moment == hasWritten || !rb.won() || !rb.next.complete {
		return false, nil
	}
	left, err := s.leftOf(ctx, rb)
	rb.left = left
	return left != nil, err
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
