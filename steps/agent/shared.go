package agent

import (
	"context"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// ARollback returns a rollback of a run that had started, which scenarios share. They only look.
func (s *Server) ARollback(ctx context.Context) (*Rollback, error) {
	return s.agents.learned.rolledBack.Get(ctx, s.agents.maker, "a rollback", func(ctx context.Context) (*Rollback, error) {
		if err := s.PlainRunsWork(ctx); err != nil {
			return nil, err
		}
		return s.RollBack(ctx, HasStarted)
	})
}

// RollbackActs says that no run could be had that is in progress, or that a new run with rollback is refused or waits
// for one that had started (AS-ROLLBACK-1): what else is wrong with several runs on the thread comes from that.
func (s *Server) RollbackActs(ctx context.Context) error {
	_, err := s.ARollback(ctx)
	return outcome.AsPrecondition(err)
}

// SharedCompletedRun returns a completed run on a thread that no scenario changes. A run whose graph has failed is
// completed, too: what needs its answer asks for PlainRunsWork, or for the word Echo.
func (s *Server) SharedCompletedRun(ctx context.Context) (*GraphRun, error) {
	return s.agents.learned.completedRun.Get(ctx, s.agents.maker, "a completed run", func(ctx context.Context) (*GraphRun, error) {
		return completedRunOf(ctx, s.unbounded(), s.target.Owner()) // the first of all: how many may be in progress is not known
	})
}

// CompletedRun is SharedCompletedRun with a thread that belongs to the owner here, who may be the second user.
func (s *Server) CompletedRun(ctx context.Context) (*GraphRun, error) {
	first, err := s.SharedCompletedRun(ctx)
	if err != nil || s.owner == nil {
		return first, err
	}
	return s.agents.learned.othersRun.Get(ctx, s.agents.maker, "a completed run of the second user", func(ctx context.Context) (*GraphRun, error) {
		return completedRunOf(ctx, s, *s.owner)
	})
}

func completedRunOf(ctx context.Context, s *Server, who target.Caller) (*GraphRun, error) {
	t, err := s.NewThread(ctx, who)
	if err != nil {
		return nil, err
	}
	g, err := s.start(ctx, t, Order{})
	if err != nil {
		return nil, err
	}
	_, err = s.Await(ctx, g)
	return g, err
}

// PlainRunsWork says why messages of this target cannot be judged: a plain run alone does not leave its input
// and its answer.
func (s *Server) PlainRunsWork(ctx context.Context) error {
	g, err := s.SharedCompletedRun(ctx)
	if err != nil {
		return err
	}
	if err := s.Understood(ctx, Echo); err != nil {
		return err
	}
	if err := HoldsOnly(g.final, g); err != nil {
		return outcome.Blocked("the state of a thread with one plain run: %v", err).By(reports.ByFixture, "a completed run")
	}
	return nil
}

// JoinsAnswer says why joins cannot be relied on: even that of a completed run hangs (AS-RUN-5).
func (s *Server) JoinsAnswer(ctx context.Context) error {
	g, err := s.SharedCompletedRun(ctx)
	if err != nil {
		return err
	}
	if s.agents.joinsHang() {
		return outcome.Blocked("joins of completed runs are not answered (AS-RUN-4, AS-RUN-5)").ByRequirement("AS-RUN-4", "AS-RUN-5")
	}
	_, err = s.JoinCompleted(ctx, g.Thread.Owner, g)
	return outcome.AsPrecondition(err)
}

// OtherIsLetIn makes sure that the other user is served what is their own: who is not let in at all is refused for
// that, and not for whose thread it is.
func (s *Server) OtherIsLetIn(ctx context.Context, other target.Caller) error {
	_, err := s.agents.learned.otherServed.Get(ctx, s.agents.maker, "the other user", func(ctx context.Context) (bool, error) {
		t, err := s.CreateThread(ctx, other, nil)
		if err != nil {
			return false, err
		}
		if t.ID == "" {
			return false, outcome.Blocked("the credentials of users.1 are refused: %s", outcome.Seen(t.Answer)).By(reports.ByKey, "users.1")
		}
		a, err := s.State(ctx, other, t)
		if err != nil || a.OK() {
			return err == nil, err
		}
		g, err := s.Post(ctx, other, t, Order{}) // a thread without a run need not have a state
		if err == nil && g.ID == "" {
			err = outcome.Blocked("the credentials of users.1 are refused: %s", outcome.Seen(g.Answer)).By(reports.ByKey, "users.1")
		}
		return err == nil, err
	})
	return err
}

// RunsAdd tells whether a second plain run on a thread adds to the messages of the first (AS-STATE-3).
func (s *Server) RunsAdd(ctx context.Context) (bool, error) {
	return s.agents.learned.additive.Get(ctx, s.agents.maker, "two runs on a thread", func(ctx context.Context) (bool, error) {
		t, err := s.NewThread(ctx, s.target.Owner())
		if err != nil {
			return false, err
		}
		var runs []*GraphRun
		for range 2 {
			g, err := s.Start(ctx, t, Order{})
			if err != nil {
				return false, err
			}
			if _, err := s.Completed(ctx, g); err != nil {
				return false, err
			}
			runs = append(runs, g)
		}
		return HoldsOnly(runs[1].final, runs...) == nil, nil
	})
}
