package agent

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Rollback is a run that was to be rolled back, and the new one.
type Rollback struct {
	Prior *Progress
	Next  *GraphRun
	State *client.Answer // with the messages of the new run; nil where that was not accepted
	Done  time.Time      // when the new run was seen to be complete
	After *Remains       // what was found once the new run had completed; nil where it has not
}

// Remains is what there is at one time of a run that was rolled back.
type Remains struct {
	Runs  []*client.Answer // GET of the prior run, and of the one that it waited for
	State *client.Answer
}

// Remains looks for what is left of the prior run.
func (s *Server) Remains(ctx context.Context, p *Progress) (*Remains, error) {
	found := &Remains{}
	for _, g := range p.Line() {
		a, err := s.GetRun(ctx, p.Thread.Owner, g)
		if err != nil {
			return nil, err
		}
		found.Runs = append(found.Runs, a)
	}
	var err error
	found.State, err = s.State(ctx, p.Thread.Owner, p.Thread)
	return found, err
}

// NoneRetrievable says which of the runs can still be retrieved, although a rollback was to remove them. Any error
// status will do (section 7: the exact code is not shown).
func (r *Remains) NoneRetrievable() error {
	which := "a run that was rolled back"
	for i, a := range r.Runs {
		if i > 0 {
			which = "the run in front of it, which the same rollback removes"
		}
		if a.Status < 400 {
			return outcome.Violated(a, "a status of 400 or above for "+which, "%s", outcome.Seen(a))
		}
	}
	return nil
}

// left says what is left of the prior run, nil where that is nothing.
func (rb *Rollback) left() error {
	if err := rb.After.NoneRetrievable(); err != nil {
		return err
	}
	return HoldsOnly(rb.After.State, rb.Next)
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
		p, err := s.InProgress(ctx, moment, wanted)
		if err != nil {
			return nil, outcome.AsPrecondition(err)
		}
		if rb, err = s.Replace(ctx, p); err != nil {
			return nil, err
		}
		if !rb.Next.Complete {
			break
		}
		if rb.After, err = s.Remains(ctx, p); err != nil {
			return nil, err
		}
		if rb.Usable() == nil && time.Now().Before(p.Until) {
			if moment != JustStarted || rb.left() == nil || !s.leavesStarted(ctx) {
				return rb, nil
			}
			if attempt == Attempts-1 {
				return nil, outcome.Inconclusive("something is left of a run that was rolled back as soon as it was accepted, and of one that had started (AS-ROLLBACK-2, AS-ROLLBACK-3): the first may have started too, in %d attempts", Attempts).ByRequirement("AS-ROLLBACK-2", "AS-ROLLBACK-3")
			}
			continue // the next one may still be pending
		}
		if leaves, err := s.leavesPrior(ctx, rb, moment); leaves || err != nil {
			return rb, err
		}
		wanted = p.AfterLoss()
	}
	return rb, rb.Usable()
}

// leavesStarted tells whether a rollback was seen to leave something of a run that had started.
func (s *Server) leavesStarted(ctx context.Context) bool {
	rb, err := s.ARollback(ctx)
	return err == nil && rb.left() != nil
}

// leavesPrior tells whether something of a run that had not begun is left after a new run which came too late to be
// used otherwise: one run that should be gone keeps the new one waiting. A target that lets it wait for every run
// does so after one that has started, too, and fails AS-ROLLBACK-1.
func (s *Server) leavesPrior(ctx context.Context, rb *Rollback, moment string) (bool, error) {
	if moment == HasStarted || !rb.won() || rb.Prompt() || rb.left() == nil {
		return false, nil
	}
	return true, s.RollbackActs(ctx)
}

// Usable says why nothing can be learned from a rollback: the new run was refused, did not complete, or waited for
// the prior one.
func (rb *Rollback) Usable() error {
	if rb.Next.ID == "" {
		return outcome.Violated(rb.Next.Answer, "a new run with rollback to be accepted", "%s", outcome.Seen(rb.Next.Answer)).ByRequirement("AS-ROLLBACK-1")
	}
	if !rb.Next.Complete {
		return outcome.Violated(rb.State, "the new run to complete", "%s", messages.Shown(messages.Of(rb.State)))
	}
	if !rb.won() || !rb.Prompt() {
		return outcome.Blocked("the new run did not complete before the natural end of the prior run (AS-ROLLBACK-1), in %d attempts", Attempts).ByRequirement("AS-ROLLBACK-1")
	}
	return nil
}
