package agent

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
)

// The moments at which a run is rolled back, as the sentences name them.
const (
	HasWritten    = "after it had written a message"
	JustStarted   = "as soon as it was accepted"
	pendingBehind = "while it was pending behind another run"
)

// Progress is a run in progress, and how long it is going to be that.
type Progress struct {
	*GraphRun
	ahead  *GraphRun     // the run that it waits for, nil where it waits for none; a rollback removes both
	wanted time.Duration // how long it should take, so that it is surely in progress for long enough; 0: any time will do

	Until time.Time // it is surely in progress until then
	Over  time.Time // it would surely be over by then, if nobody touched it
}

// InProgress starts a run on a new thread and returns at the moment, while it is surely in progress. Later
// attempts give more time, and at least what is wanted after a lost race.
func (s *Server) InProgress(ctx context.Context, moment string, attempt int, wanted time.Duration) (*Progress, error) {
	_, _ = s.SharedCompletedRun(ctx) // measures how fast runs are here; what is wrong with it is not this run's concern
	if moment == pendingBehind {
		if waits, err := s.queuesRuns(ctx); err != nil {
			return nil, err
		} else if !waits {
			return nil, outcome.Inapplicable("multitask_strategy enqueue", "the target does not queue a run behind another run: it does not follow multitask_strategy enqueue, a vendor extension that is not part of the interface")
		}
	}
	for ; attempt < Attempts; attempt++ {
		p, err := s.begin(ctx, moment, s.agents.HoldFor(attempt, wanted))
		if err != nil {
			return nil, err
		}
		p.wanted = wanted
		if time.Now().Before(p.Until) {
			return p, nil
		}
	}
	return nil, outcome.Blocked("the long run ended before the next request could be sent, in %d attempts", Attempts)
}

// Line are the run and the one that it waits for.
func (p *Progress) Line() []*GraphRun {
	if p.ahead == nil {
		return []*GraphRun{p.GraphRun}
	}
	return []*GraphRun{p.GraphRun, p.ahead}
}

// HoldFor is how long a run is told to wait in the attempt, from 0, where a lost race has shown what is wanted.
func (as *Agents) HoldFor(attempt int, wanted time.Duration) time.Duration {
	most := max(maxHold, as.target.Config.Timeouts.Run/2)
	return max(as.Pace.Hold(attempt), min(wanted, most)).Round(time.Millisecond)
}

// AfterLoss is how long the next run in progress should take, where a race against this one was just lost. What has
// happened tells more than the pace of other answers: a target may answer only once it has interrupted the prior run.
func (p *Progress) AfterLoss() time.Duration { return Longer(p.Order.Hold, time.Since(p.begun)) }

// Longer is the time for a run after one of the hold, where what was to be done before its end took so long.
func Longer(hold, took time.Duration) time.Duration { return max(2*hold, 3*took) }

// TooShort tells whether the run was given so much less time than what the race before it took that its end is no
// measure. A new run that waits for the prior one takes longer the longer that is, so a run long enough unmasks it.
func (p *Progress) TooShort() bool { return p.wanted > p.Order.Hold*3/2 }

func (s *Server) begin(ctx context.Context, moment string, hold time.Duration) (*Progress, error) {
	g, err := s.startAlone(ctx, Order{Hold: hold, written: moment == HasWritten})
	if err != nil {
		return nil, err
	}
	p := &Progress{GraphRun: g, Until: g.NotOverBefore(), Over: g.Answered().Add(hold + s.agents.Pace.Slack())}
	switch moment {
	case HasWritten:
		return p, s.awaitWritten(ctx, p)
	case pendingBehind:
		return s.behind(ctx, p)
	}
	return p, nil
}

// awaitWritten reads the state until the run has written. A state that does not show it tells that the run had not
// begun to wait when it was asked for.
func (s *Server) awaitWritten(ctx context.Context, p *Progress) error {
	limit := p.Answered().Add(s.target.Config.Timeouts.Run)
	state, written, err := s.ReadState(ctx, p.Thread, limit, func(a *client.Answer) bool {
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
		return outcome.Violated(state, "a message of the run in progress", "%s", ShownMessages(MessagesOf(state)))
	}
	p.Until = p.NotOverBefore()
	p.Over = state.Sent.Add(state.Took + p.Order.Hold + s.agents.Pace.Slack())
	return nil
}

// queuesRuns tells whether a run with the strategy enqueue waits for the one before it. A target may treat the value,
// which the interface does not define, as its own default.
func (s *Server) queuesRuns(ctx context.Context) (bool, error) {
	return s.agents.learned.enqueues.Get(ctx, s.agents.maker, "a run behind another one", func(ctx context.Context) (bool, error) {
		first, err := s.startAlone(ctx, Order{Hold: s.agents.Pace.Hold(0)})
		if err != nil {
			return false, err
		}
		t := first.Thread
		second, err := s.Post(ctx, t.Owner, t, Order{Strategy: "enqueue"})
		if err != nil || second.ID == "" {
			return false, err
		}
		limit := second.Answered().Add(first.Order.Hold + 2*s.target.Config.Timeouts.Run)
		state, complete, err := s.ReadState(ctx, t, limit, second.CompleteIn)
		if err != nil {
			return false, err
		}
		early := state.Sent.Add(state.Took).Before(first.NotOverBefore())
		return complete && !early && HoldsOnly(state, first, second) == nil, nil
	})
}

// behind starts a second run that waits for the first. The strategy enqueue is a
// vendor extension.
func (s *Server) behind(ctx context.Context, first *Progress) (*Progress, error) {
	g, err := s.Post(ctx, first.Thread.Owner, first.Thread, Order{Hold: first.Order.Hold, Strategy: "enqueue"})
	if err != nil {
		return nil, err
	}
	if g.ID == "" {
		return nil, outcome.Inapplicable("multitask_strategy enqueue", "the target does not queue a run behind another run: it answers %d to multitask_strategy enqueue, a vendor extension that is not part of the interface", g.Answer.Status)
	}
	p := &Progress{GraphRun: g, ahead: first.GraphRun, Until: first.Until, Over: g.Answered().Add(2*g.Order.Hold + s.agents.Pace.Slack())}
	if end := g.NotOverBefore(); end.Before(p.Until) {
		p.Until = end
	}
	return p, nil
}

// Rollback is a run that was to be rolled back, and the new one.
type Rollback struct {
	Prior *Progress
	Next  *GraphRun
	State *client.Answer // after the new run; nil where that was not accepted
	Done  time.Time      // when the new run was seen to be complete
	left  error          // what there was of the prior run right after that, while it would still have been in progress
}

// Replace starts a run with rollback on the thread of a run in progress and waits until the new one has completed.
func (s *Server) Replace(ctx context.Context, p *Progress) (*Rollback, error) {
	next, err := s.Post(ctx, p.Thread.Owner, p.Thread, Order{Strategy: RollbackStrategy})
	if err != nil {
		return nil, err
	}
	rb := &Rollback{Prior: p, Next: next}
	if next.ID == "" {
		return rb, nil
	}
	rb.State, err = s.Await(ctx, next)
	if err == nil {
		rb.Done = rb.State.Sent.Add(rb.State.Took)
	}
	return rb, err
}

// won tells whether the prior run was surely in progress until the new one had been accepted.
func (rb *Rollback) won() bool {
	return rb.Next.ID != "" && rb.Next.Answered().Before(rb.Prior.Until)
}

// Prompt tells whether the new run was complete before the natural end of the prior one: it did not wait for it.
func (rb *Rollback) Prompt() bool {
	return rb.Next.Complete && rb.Done.Before(rb.Prior.Until)
}

// Settled tells whether trying again with more time cannot show more.
func (rb *Rollback) Settled() bool {
	return rb.Next.ID == "" || !rb.Next.Complete || rb.won() && rb.Prompt()
}

// RollBack has a run rolled back by another one at the moment, and tries again where the target was too slow to tell
// what has happened, or what was left of the prior run while it would still have been in progress.
func (s *Server) RollBack(ctx context.Context, moment string) (*Rollback, error) {
	var rb *Rollback
	var wanted time.Duration
	for attempt := range Attempts {
		p, err := s.InProgress(ctx, moment, attempt, wanted)
		if err != nil {
			return nil, err
		}
		if rb, err = s.Replace(ctx, p); err != nil {
			return nil, err
		}
		if rb.Usable() != nil {
			if stands, err := s.stands(ctx, rb, moment); stands || err != nil {
				return rb, err
			}
			if rb.Settled() {
				break
			}
			wanted = p.AfterLoss()
			continue
		}
		if rb.left, err = s.leftOf(ctx, rb); err != nil {
			return nil, err
		}
		if time.Now().Before(p.Until) {
			break
		}
		wanted = p.AfterLoss()
	}
	return rb, rb.Usable()
}

// stands tells whether something of a run that had not begun is left after a new run which came too late to be used
// otherwise: one run that should be gone keeps the new one waiting. A target that lets it wait for every run does so after
// one that has written, too, and fails AS-ROLLBACK-1.
func (s *Server) stands(ctx context.Context, rb *Rollback, moment string) (bool, error) {
	if moment == HasWritten || !rb.won() || !rb.Next.Complete {
		return false, nil
	}
	left, err := s.leftOf(ctx, rb)
	rb.left = left
	return left != nil, err
}

// Usable says why nothing can be learned from a rollback.
func (rb *Rollback) Usable() error {
	if err := rb.Next.Accepted(); err != nil {
		return err
	}
	if !rb.Next.Complete {
		return outcome.Violated(rb.State, "the new run to complete", "%s", ShownMessages(MessagesOf(rb.State)))
	}
	if !rb.won() || !rb.Prompt() {
		return outcome.Blocked("the new run did not complete before the natural end of the prior run (AS-ROLLBACK-1), in %d attempts", Attempts).ByRequirement("AS-ROLLBACK-1")
	}
	return nil
}
