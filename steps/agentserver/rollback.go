package agentserver

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// rollback has a rollback and the runs that it must not affect. The prior run is in [inProgress].
type rollback struct {
	*World
	rolled  *agent.Rollback   // the prior run and the new one
	remains []*agent.Remains  // reads of the prior run and of the state
	aside   []*agent.GraphRun // runs on other threads: a completed one, and one in progress
	failed  *agent.GraphRun   // a run on the thread whose graph has raised an error
	joined  *agent.Joining    // the pending join of the prior run
}

// define registers the steps about runs that are rolled back (sections 3 and 7).
func (w *rollback) define(r *common.Definitions) {
	r.Given(`a run that was rolled back after (it had started|the state had shown its first message)`, w.useRollback)
	r.Given(`a (failing )?run that was rolled back on a thread of its own`, w.rollBackOnNewThread)
	r.Given(`a thread that keeps the messages of its completed runs`, w.completeTwoRuns)
	r.Given(`a later run on it has failed`, w.failOnThread)
	r.Given(`a completed run and a run in progress on other threads of the user`, w.runElsewhere)
	r.Given(`a pending join of the user on that run`, w.joinInProgress)
	r.When(`the user starts another run with rollback`, func(ctx context.Context) error {
		return w.replace(ctx, agent.Order{})
	})
	r.When(`a studio user starts another run with rollback`, w.studioReplaces)
	r.When(`the user starts a long run with rollback`, w.userReplacesByLong)
	r.When(`the user rolls back a run (.+)`, w.userRollsBack)
	r.When(`the user retrieves the prior run and reads the state, (.+)`, w.userLooks)
	r.Then(`the new run is accepted`, func() error { return w.rolled.Next.Accepted() })
	r.Then(`it completes before the natural end of the prior run`, func() error {
		return judge.NewRunIsPrompt(w.rolled.Next.Final, w.rolled.Next.Value(), w.rolled.Prior.Value())
	})
	r.Then(`the prior run can no longer be retrieved`, func() error {
		return common.Each(w.remains, (*agent.Remains).NoneRetrievable)
	})
	r.Then(`the state holds the messages of the new run only`, func() error {
		return common.Each(w.remains, func(found *agent.Remains) error {
			return judge.HoldsNewRunOnly(found.State, w.prior.Value(), w.rolled.Next.Value())
		})
	})
	r.Then(`the state holds no message of the prior run`, func() error {
		later := append([]*agent.GraphRun{w.rolled.Next}, w.kept...)
		return common.Each(w.remains, func(found *agent.Remains) error { return w.prior.LeftIn(found.State, later...) })
	})
	r.Then(`the earlier runs can be retrieved`, func(ctx context.Context) error {
		return w.allFound(ctx, w.kept[:len(w.kept)-1])
	})
	r.Then(`the earlier runs and the failed one can be retrieved`, func(ctx context.Context) error {
		return w.allFound(ctx, append(w.kept[:len(w.kept)-1:len(w.kept)-1], w.failed))
	})
	r.Then(`the state holds the messages of these completed runs, in order`, func() error {
		return judge.HoldsInOrder(w.scene.Response, agent.Values(w.kept)...)
	})
	r.Then(`the runs on the other threads can be retrieved`, w.elsewhereStays)
	r.Then(`they complete with their own messages`, w.elsewhereCompletes)
	r.Then(`the join on the prior run returns`, w.priorJoinReturns)
}

func (w *rollback) useRollback(ctx context.Context, after string) error {
	rb, err := w.server.SharedRollback(ctx)
	if err != nil {
		return err
	}
	w.setRollback(rb)
	if after != "it had started" && w.prior.Shown == nil {
		return outcome.Inapplicable("messages of a run in progress",
			"the state shows no message of a run before the run ends, so none can have been visible before the rollback")
	}
	return nil
}

func (w *rollback) setRollback(rb *agent.Rollback) {
	w.rolled, w.prior, w.current, w.thread = rb, rb.Prior, rb.Next, rb.Next.Thread
}

// userRollsBack rolls back a run at the moment. If the new run is refused or waits, the scenario continues only if the
// server can roll back a run that has started (AS-ROLLBACK-1).
func (w *rollback) userRollsBack(ctx context.Context, moment string) error {
	if err := w.server.PlainRunsWork(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	rb, err := w.server.RollBack(ctx, moment)
	if outcome.Is(err, reports.Failed) || err == nil && !rb.Prompt() {
		if err := w.server.RollbackActs(ctx); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	w.setRollback(rb)
	return nil
}

// rollBackOnNewThread rolls back a run on a thread that no other scenario reads.
func (w *rollback) rollBackOnNewThread(ctx context.Context, failing string) error {
	plan := agent.Plan{Moment: agent.HasStarted}
	if failing != "" {
		plan.Prior.Words = agent.Fail
	}
	rb, err := w.server.RollBackAs(ctx, plan)
	if err != nil {
		return err
	}
	w.setRollback(rb)
	if err := rb.After.NoneRetrievable(); err != nil {
		return err
	}
	return w.prior.LeftIn(rb.After.State, rb.Next)
}

func (w *rollback) completeTwoRuns(ctx context.Context) error {
	adds, err := w.server.RunsAdd(ctx)
	if err != nil {
		return err
	}
	if !adds {
		return outcome.Inapplicable("messages of earlier runs",
			"plain runs do not keep the messages of earlier runs either (AS-STATE-3), so none can be lost")
	}
	if err := w.onNewThread(ctx); err != nil {
		return err
	}
	for range 2 {
		if err := w.nextRun(ctx, agent.Order{}); err != nil {
			return err
		}
	}
	return agent.HoldsOnly(w.scene.Response, w.kept...)
}

// failOnThread lets a run fail. Another requirement judges whether the messages of earlier runs remain.
func (w *rollback) failOnThread(ctx context.Context) error {
	g, err := w.server.Start(ctx, w.thread, agent.Order{Words: agent.Fail})
	if err != nil {
		return err
	}
	state, err := w.server.Await(ctx, g)
	if err != nil {
		return err
	}
	w.failed = g
	if judge.HoldsInOrder(state, agent.Values(w.kept)...) != nil {
		return outcome.Inapplicable("messages of earlier runs",
			"after a run that fails the messages of earlier runs are missing (AS-STATE-3), so none can be lost")
	}
	return nil
}

// runElsewhere prepares a completed run and a run in progress on other threads. The run in progress takes twice as long
// as the run to roll back, which therefore ends first. A server that executes one run at a time would not start the run
// to roll back. There that run takes four times as long, the run elsewhere starts right before the rollback, and the new
// run waits for it. After a lost race both take longer.
func (w *rollback) runElsewhere(ctx context.Context) error {
	server, leave, err := w.server.Together(ctx, 2, agent.Wait, agent.EarlyWrite)
	if err != nil {
		return err
	}
	w.scene.AtEnd(leave)
	w.server = server
	return w.prepare(ctx, func(ctx context.Context) error {
		completed, err := server.RunAlone(ctx, w.owner(), agent.Order{})
		if err != nil {
			return err
		}
		w.aside = []*agent.GraphRun{completed}
		if w.agents.OneAtATime() {
			w.wanted = max(w.wanted, 4*w.agents.Hold(0))
		} else if err := w.startElsewhere(ctx, 2*w.agents.Hold(w.wanted)); err != nil {
			return err
		}
		return w.allFound(ctx, w.aside)
	})
}

func (w *rollback) startElsewhere(ctx context.Context, hold time.Duration) error {
	t, err := w.server.NewThread(ctx, w.owner())
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	g, err := w.server.Start(ctx, t, agent.Order{Hold: hold})
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	w.aside = append(w.aside[:1], g)
	return nil
}

// endedEarly reports whether the run on another thread may have ended before the new run was accepted.
func (w *rollback) endedEarly() bool {
	return slices.ContainsFunc(w.aside, func(g *agent.GraphRun) bool {
		return !g.Complete() && !w.rolled.Next.Responded().Before(g.NotOverBefore())
	})
}

// joinInProgress waits until the join has arrived at the server. If the join returns while the run is in progress, it is
// too early or was not for this run.
func (w *rollback) joinInProgress(ctx context.Context) error {
	return w.prepare(ctx, func(ctx context.Context) error {
		join := w.joinNow(ctx)
		w.joined = join
		wait := min(w.agents.Slack(), w.prior.Order.Hold/4)
		if err := join.OrUntil(ctx, time.Now().Add(wait)); err != nil {
			return err
		}
		if !join.Over() {
			return nil
		}
		if join.Response != nil {
			if err := judge.JoinIsServed(join.Response); err != nil {
				return outcome.AsPrecondition(err)
			}
		}
		if time.Now().Before(w.prior.Until()) {
			return outcome.Blocked("the join returned while the run was in progress (AS-RUN-4)").
				ByRequirement("AS-RUN-4")
		}
		return nil
	})
}

// replace starts a run with rollback. The race is won if all runs of the scenario were in progress until the new
// run had been accepted, and the new run did not wait for the prior one.
func (w *rollback) replace(ctx context.Context, o agent.Order) error {
	_, err := w.race(ctx, func(ctx context.Context) (bool, error) {
		if len(w.aside) > 0 && w.agents.OneAtATime() {
			if err := w.startElsewhere(ctx, w.wanted/4); err != nil {
				return false, err
			}
		}
		rb, err := w.server.Replace(ctx, w.prior, o)
		if err != nil {
			return false, err
		}
		w.rolled, w.current, w.scene.Response = rb, rb.Next, rb.Next.Response
		if rb.Next.Final != nil {
			w.scene.Response = rb.Next.Final
		}
		return !w.endedEarly() && !outcome.Is(rb.Usable(), reports.Blocked), nil
	})
	return err
}

// userReplacesByLong rolls back the run in progress with a run that waits. If the response came so late that the new run
// may have ended, it tries again with longer runs.
func (w *rollback) userReplacesByLong(ctx context.Context) error {
	_, err := w.race(ctx, func(ctx context.Context) (bool, error) {
		o := agent.Order{Waits: true, Hold: w.wanted, Strategy: agent.RollbackStrategy}
		if err := w.post(ctx, o); err != nil {
			return false, err
		}
		if err := w.current.Accepted(); err != nil {
			return false, outcome.AsPrecondition(err)
		}
		return w.current.Responded().Before(w.current.NotOverBefore()), nil
	})
	return err
}

// studioReplaces starts the new run as a studio user. The server may refuse studio users.
func (w *rollback) studioReplaces(ctx context.Context) error {
	studio, err := w.callerNamed(ctx, target.StudioUser)
	if err != nil {
		return err
	}
	if err := w.replace(ctx, agent.Order{By: &studio}); err != nil {
		return err
	}
	if a := w.rolled.Next.Response; a.IsRefused() {
		return outcome.Inapplicable("runs of studio users", "the target refuses a studio user's run on the thread of a user: %s",
			outcome.Seen(a))
	}
	return nil
}

// userLooks reads the prior run and the state at the moment. For the moment right after the new run it uses the reads of
// the rollback, because later reads would not show a run that is removed late.
func (w *rollback) userLooks(ctx context.Context, when string) error {
	found := w.rolled.After
	if when != "once the new run has completed" {
		if when == "after the natural end of the prior run" {
			if err := client.Sleep(ctx, time.Until(w.prior.Over)); err != nil {
				return err
			}
		}
		later, err := w.server.ReadRemains(ctx, w.prior)
		if err != nil {
			return err
		}
		found = later
	}
	w.remains, w.scene.Response = append(w.remains, found), found.State
	return nil
}

func (w *rollback) elsewhereStays(ctx context.Context) error {
	if err := w.rolled.Usable(); err != nil {
		return outcome.AsPrecondition(err)
	}
	if w.endedEarly() {
		return outcome.Inconclusive("the run on the other thread ended before the rollback, in %d attempts", agent.Attempts)
	}
	return w.allFound(ctx, w.aside)
}

func (w *rollback) allFound(ctx context.Context, runs []*agent.GraphRun) error {
	for _, g := range runs {
		a, err := w.server.GetRun(ctx, w.owner(), g)
		if err != nil {
			return err
		}
		settled := g.Responded().Add(w.target.Config.Patience) // before, a replica may not know the run
		if !a.OK() && time.Now().Before(settled) {
			if err := client.Sleep(ctx, time.Until(settled)); err != nil {
				return err
			}
			a, err = w.server.GetRun(ctx, w.owner(), g)
			if err != nil {
				return err
			}
		}
		if err := judge.RunStays(a, g.Value()); err != nil {
			return err
		}
	}
	return nil
}

func (w *rollback) elsewhereCompletes(ctx context.Context) error {
	return common.Each(w.aside, func(g *agent.GraphRun) error {
		state, err := w.server.Await(ctx, g)
		if err != nil {
			return err
		}
		return agent.HoldsOnly(state, g)
	})
}

// priorJoinReturns returns an error if the join of the prior run does not return. If it returned only at the natural end
// of the prior run, it is repeated once with a prior run that takes longer than timeouts.request.
func (w *rollback) priorJoinReturns(ctx context.Context) error {
	limit := w.target.Config.Timeouts.Request
	for {
		if err := w.rolled.Usable(); err != nil {
			return outcome.AsPrecondition(err)
		}
		if err := w.joined.OrUntil(ctx, time.Now().Add(limit)); err != nil {
			return err
		}
		join := judged(w.joined)
		if none, is := errors.AsType[*exchange.NoResponse](join.Err); is && none.Busy != 0 {
			return none
		}
		if join.Unanswered {
			join.Exchange = w.joined.GiveUp()
		}
		if err := judge.PriorJoinReturns(join, w.rolled.Next.Value(), limit); err != nil {
			return err
		}
		if join.Ended.Before(w.prior.Until()) || w.prior.Order.Hold > limit {
			return nil
		}
		w.wanted = limit + w.agents.Hold(0)
		if err := w.prepareAgain(ctx); err != nil {
			return err
		}
		if err := w.replace(ctx, agent.Order{}); err != nil {
			return err
		}
	}
}
