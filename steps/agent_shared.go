package steps

import (
	"context"
	"errors"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

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
		return rb, rb.left
	})
}

// leftOf says what a rollback has left of the prior run, nil where that is nothing.
func (s *agentServer) leftOf(ctx context.Context, rb *rollback) (left, err error) {
	for _, g := range rb.prior.line() {
		a, err := s.getRun(ctx, rb.prior.thread.owner, g)
		if err != nil {
			return nil, err
		}
		if left = isGone(a); left != nil {
			return left, nil
		}
	}
	state, err := s.state(ctx, rb.prior.thread.owner, rb.prior.thread)
	if err != nil {
		return nil, err
	}
	return holdsOnly(state, rb.next), nil
}

// cameBack blocks what looks as if a rollback had left something where that was not there at first: that it comes back
// is another requirement's concern.
func (rb *rollback) cameBack(context.Context) error {
	if rb.left == nil {
		return blocked("there was nothing left of the prior run at first: it has come back (AS-ROLLBACK-4)")
	}
	return nil
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
	left, err := s.leftOf(ctx, rb)
	return errors.Join(left, err)
}

// pendingIsRemoved says what is left of a run that was rolled back as soon as it was accepted (AS-ROLLBACK-5).
func (s *agentServer) pendingIsRemoved(ctx context.Context) error {
	_, err := s.pending.get(ctx, s.run, "a rollback of a run that was just accepted", func(ctx context.Context) (*rollback, error) {
		rb, err := s.rollBack(ctx, justStarted)
		if err != nil {
			return nil, err
		}
		return rb, rb.left
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

// joinsAnswer says why joins cannot be relied on: even that of a completed run hangs (AS-RUN-5).
func (s *agentServer) joinsAnswer(ctx context.Context) error {
	g, err := s.aQuietRun(ctx)
	if err != nil {
		return err
	}
	if s.joinHangs.Load() {
		return blocked("joins of completed runs are not answered (AS-RUN-4, AS-RUN-5)")
	}
	_, err = s.joinCompleted(ctx, g.thread.owner, g)
	return asPrecondition(err)
}

// joinsWake says that a join on a run in progress is not answered even when the run completes (AS-RUN-4).
func (s *agentServer) joinsWake(ctx context.Context) error {
	t, err := s.newThread(ctx, s.owner())
	if err != nil {
		return err
	}
	g, err := s.start(ctx, t, order{hold: s.pace.hold(0)})
	if err != nil {
		return err
	}
	j := s.joinNow(ctx, g)
	defer j.leave()
	if err := j.orUntil(ctx, g.answered().Add(g.order.hold+s.pace.patience())); err != nil {
		return err
	}
	if !j.over() {
		return blocked("joins on runs in progress are not answered when these complete (AS-RUN-4)")
	}
	return nil
}

// otherIsLetIn makes sure that the other user is served what is their own: who is not let in at all is refused for
// that, and not for whose thread it is.
func (s *agentServer) otherIsLetIn(ctx context.Context, other caller) error {
	_, err := s.otherIn.get(ctx, s.run, "the other user", func(ctx context.Context) (bool, error) {
		t, err := s.createThread(ctx, other, nil)
		if err != nil {
			return false, err
		}
		if t.id == "" {
			return false, blocked("users.1 is not let in at all: %s", seen(t.answer))
		}
		a, err := s.state(ctx, other, t)
		if err != nil || a.OK() {
			return err == nil, err
		}
		g, err := s.post(ctx, other, t, order{}) // a thread without a run need not have a state
		if err == nil && g.id == "" {
			err = blocked("users.1 is not let in at all: %s", seen(g.answer))
		}
		return err == nil, err
	})
	return err
}

// runsAdd tells whether a second plain run on a thread adds to the messages of the first (AS-STATE-3).
func (s *agentServer) runsAdd(ctx context.Context) (bool, error) {
	return s.additive.get(ctx, s.run, "two runs on a thread", func(ctx context.Context) (bool, error) {
		t, err := s.newThread(ctx, s.owner())
		if err != nil {
			return false, err
		}
		var runs []*graphRun
		for range 2 {
			g, err := s.start(ctx, t, order{})
			if err != nil {
				return false, err
			}
			if _, err := s.completed(ctx, g); err != nil {
				return false, err
			}
			runs = append(runs, g)
		}
		return holdsOnly(runs[1].final, runs...) == nil, nil
	})
}
