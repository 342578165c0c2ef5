package agentserver

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// defineRollback registers the sentences about runs that are rolled back (sections 3 and 7).
func (w *World) defineRollback(r *common.Definitions) {
	r.Given(`a run that was rolled back after (it had started|the state had shown its first message)`, w.aRolledBackRun)
	r.Given(`a run that was rolled back on a thread of its own`, w.aRolledBackRunAlone)
	r.Given(`a thread that keeps the messages of its completed runs`, w.aThreadThatKeeps)
	r.Given(`a completed run and a run in progress on other threads of the user`, w.runsElsewhere)
	r.Given(`a pending join of the user on that run`, w.aPendingJoin)
	r.When(`the user starts another run with rollback`, w.userReplaces)
	r.When(`the user rolls back a run (.+)`, w.userRollsBack)
	r.When(`the user retrieves the prior run and reads the state, (.+)`, w.userLooks)
	r.Then(`the new run is accepted`, func() error { return w.rolled.Next.Accepted() })
	r.Then(`it completes before the natural end of the prior run`, w.newRunPrompt)
	r.Then(`the prior run can no longer be retrieved`, func() error {
		return common.Each(w.remains, (*agent.Remains).NoneRetrievable)
	})
	r.Then(`the state holds the messages of the new run only`, func() error {
		return common.Each(w.remains, func(found *agent.Remains) error {
			return agent.HoldsOnly(found.State, w.rolled.Next)
		})
	})
	r.Then(`the state holds no message of the prior run`, func() error {
		later := append([]*agent.GraphRun{w.rolled.Next}, w.kept...)
		return common.Each(w.remains, func(found *agent.Remains) error { return w.prior.LeftIn(found.State, later...) })
	})
	r.Then(`the earlier runs can be retrieved`, func(ctx context.Context) error {
		return w.allFound(ctx, w.kept[:len(w.kept)-1])
	})
	r.Then(`the runs on the other threads can be retrieved`, w.runsElsewhereFound)
	r.Then(`they complete with their own messages`, w.runsElsewhereEnd)
	r.Then(`the join on the prior run returns`, w.joinReturns)
	// several runs on one thread
	r.When(`the user starts five runs with rollback, (one after the other|all at once)`, w.userStartsConcurrent)
	r.Then(`(only the last|exactly one) of these runs can be retrieved`, w.oneRunLeft)
	r.Then(`the state holds the messages of that run only`, func(ctx context.Context) error {
		return agent.HoldsOnly(common.Must(w.server.State(ctx, w.owner(), w.thread)), w.left...)
	})
}

func (w *World) aRolledBackRun(ctx context.Context, after string) error {
	w.speakOfRollback(common.Must(w.server.ARollback(ctx)))
	if after != "it had started" && w.prior.Shown == nil {
		return outcome.Inapplicable("messages of a run in progress",
			"the state shows no message of a run before the run ends, so none can have been visible before the rollback")
	}
	return nil
}

func (w *World) speakOfRollback(rb *agent.Rollback) {
	w.rolled, w.prior, w.current, w.thread = rb, rb.Prior, rb.Next, rb.Next.Thread
}

// userRollsBack is about a pending run, which needs no rollback of one that has started (AS-ROLLBACK-1). Only a new run
// that is refused, or waits, is held against a pending run where one that has started is replaced.
func (w *World) userRollsBack(ctx context.Context, moment string) {
	common.Requires(w.server.PlainRunsWork(ctx))
	rb, err := w.server.RollBack(ctx, moment)
	if outcome.Is(err, reports.Failed) || err == nil && !rb.Prompt() {
		common.Check(w.server.RollbackActs(ctx))
	}
	w.speakOfRollback(common.Must(rb, err))
}

// aRolledBackRunAlone is on a thread that no other scenario reads.
func (w *World) aRolledBackRunAlone(ctx context.Context) error {
	w.speakOfRollback(common.Must(w.server.RollBack(ctx, agent.HasStarted)))
	common.Check(w.rolled.After.NoneRetrievable())
	return w.prior.LeftIn(w.rolled.After.State, w.rolled.Next)
}

func (w *World) aThreadThatKeeps(ctx context.Context) error {
	if !common.Must(w.server.RunsAdd(ctx)) {
		return outcome.Inapplicable("messages of earlier runs",
			"plain runs do not keep the messages of earlier runs either (AS-STATE-3), so none can be lost")
	}
	w.onNewThread(ctx)
	w.nextRun(ctx, agent.Order{})
	w.nextRun(ctx, agent.Order{})
	return agent.HoldsOnly(w.scene.Answer, w.kept...)
}

// runsElsewhere gives the run in progress twice the time, so that the other one's race is over first. A server that
// executes one run at a time would not begin with the one that is to be rolled back: there that takes four times as
// long, and the other one is started right before the rollback; the new run waits for it. After a lost race both take
// longer.
func (w *World) runsElsewhere(ctx context.Context) {
	server, leave, err := w.server.Together(ctx, 2, agent.Wait, agent.EarlyWrite)
	common.Check(err)
	w.scene.AtEnd(leave)
	w.server = server
	w.prepare(ctx, func(ctx context.Context) {
		w.aside = []*agent.GraphRun{common.Must(server.RunAlone(ctx, w.owner(), agent.Order{}))}
		if w.agents.OneAtATime() {
			w.wanted = max(w.wanted, 4*w.agents.Hold(0))
		} else {
			w.startsBeside(ctx, 2*w.agents.Hold(w.wanted))
		}
		common.Check(w.allFound(ctx, w.aside))
	})
}

func (w *World) startsBeside(ctx context.Context, hold time.Duration) {
	t := common.Given(w.server.NewThread(ctx, w.owner()))
	w.aside = append(w.aside[:1], common.Given(w.server.Start(ctx, t, agent.Order{Hold: hold})))
}

// endedEarly tells whether the run on another thread may have ended before the new run was accepted.
func (w *World) endedEarly() bool {
	return slices.ContainsFunc(w.aside, func(g *agent.GraphRun) bool {
		return !g.Complete() && !w.rolled.Next.Answered().Before(g.NotOverBefore())
	})
}

// aPendingJoin lets the join arrive before anything else happens. It arrived too early or not at all when it is
// answered while the run goes on.
func (w *World) aPendingJoin(ctx context.Context) {
	w.prepare(ctx, func(ctx context.Context) {
		join := w.join(ctx)
		common.Check(join.OrUntil(ctx, time.Now().Add(min(w.agents.Slack(), w.prior.Order.Hold/4))))
		if join.Over() && join.Answer != nil {
			common.Requires(joined(join.Answer))
		}
		if join.Over() && time.Now().Before(w.prior.Until()) {
			common.Check(outcome.Blocked("the join was answered while the run was in progress (AS-RUN-4)").
				ByRequirement("AS-RUN-4"))
		}
	})
}

// userReplaces wins when all runs that matter were in progress until the new run had been accepted, and that did not
// wait for the prior one.
func (w *World) userReplaces(ctx context.Context) {
	w.race(ctx, func(ctx context.Context) bool {
		if len(w.aside) > 0 && w.agents.OneAtATime() {
			w.startsBeside(ctx, w.wanted/4)
		}
		rb := common.Must(w.server.Replace(ctx, w.prior))
		w.rolled, w.current, w.scene.Answer = rb, rb.Next, rb.Next.Answer
		if rb.Next.Final != nil {
			w.scene.Answer = rb.Next.Final
		}
		return !w.endedEarly() && !outcome.Is(rb.Usable(), reports.Blocked)
	})
}

// userLooks takes what was found at once where that is asked for: a later look could not tell a run that is removed
// late.
func (w *World) userLooks(ctx context.Context, when string) {
	found := w.rolled.After
	if when != "once the new run has completed" {
		if when == "after the natural end of the prior run" {
			common.Check(client.Sleep(ctx, time.Until(w.prior.Over)))
		}
		found = common.Must(w.server.Remains(ctx, w.prior))
	}
	w.remains, w.scene.Answer = append(w.remains, found), found.State
}

func (w *World) newRunPrompt() error {
	rb := w.rolled
	if rb.Prompt() {
		return nil
	}
	took := rb.Next.Final.Ended().Sub(rb.Prior.Answer.Sent).Round(time.Millisecond)
	return outcome.Violated(rb.Next.Final, "the new run to complete before the natural end of the prior run",
		"its answer %s after the start of the prior run, which takes %s", took, rb.Prior.Order.Hold)
}

func (w *World) runsElsewhereFound(ctx context.Context) error {
	common.Requires(w.rolled.Usable())
	if w.endedEarly() {
		return outcome.Inconclusive("the run on the other thread ended before the rollback, in %d attempts", agent.Attempts)
	}
	return w.allFound(ctx, w.aside)
}

func (w *World) allFound(ctx context.Context, runs []*agent.GraphRun) error {
	for _, g := range runs {
		a, err := w.server.GetRun(ctx, w.owner(), g)
		if err != nil {
			return err
		}
		settled := g.Answered().Add(w.target.Config.Patience) // before, a replica may not know the run
		if !a.OK() && time.Now().Before(settled) {
			if err := client.Sleep(ctx, time.Until(settled)); err != nil {
				return err
			}
			a, err = w.server.GetRun(ctx, w.owner(), g)
			if err != nil {
				return err
			}
		}
		if !a.OK() {
			return outcome.Violated(a, "the run "+g.ID, "%s", outcome.Seen(a)).Comparing(a, g.Answer)
		}
	}
	return nil
}

func (w *World) runsElsewhereEnd(ctx context.Context) error {
	return common.Each(w.aside, func(g *agent.GraphRun) error {
		return agent.HoldsOnly(common.Must(w.server.Await(ctx, g)), g)
	})
}

// joinReturns returns an error if the join of the prior run does not return. A join that returned only when the prior run
// would have ended is repeated once, with a prior run that takes longer than timeouts.request.
func (w *World) joinReturns(ctx context.Context) error {
	limit := w.target.Config.Timeouts.Request
	for {
		common.Requires(w.rolled.Usable())
		if err := w.joined.OrUntil(ctx, time.Now().Add(limit)); err != nil {
			return err
		}
		if none := (*exchange.NoResponse)(nil); w.joined.Over() && errors.As(w.joined.Err, &none) && none.Busy != 0 {
			return none
		}
		if w.joined.Unanswered() {
			return outcome.Violated(w.rolled.Next.Answer, "the join on the prior run to return",
				"no answer within %s after the new run completed", limit)
		}
		if w.joined.Ended.Before(w.prior.Until()) || w.prior.Order.Hold > limit {
			return nil
		}
		w.wanted = limit + w.agents.Hold(0)
		for _, f := range w.prepared {
			common.Needs(func() { f(ctx) })
		}
		w.userReplaces(ctx)
	}
}

// userStartsConcurrent wins when every run was surely in progress until the next one, or all others, had been accepted.
// In turn, it tries again also where one would have been over before the last was complete: that a run comes back is
// another requirement's concern.
func (w *World) userStartsConcurrent(ctx context.Context, when string) error {
	common.Requires(w.server.PlainRunsWork(ctx))
	start, inProgress := w.server.StartInTurn, false
	if when == "all at once" {
		start = w.server.StartAtOnce
	}
	w.race(ctx, func(ctx context.Context) bool {
		w.onNewThread(ctx)
		all, err := start(ctx, w.thread, w.wanted)
		if err != nil {
			common.Check(outcome.Unless(ctx, err, w.server.RollbackActs))
		}
		if w.started, inProgress = all.Runs, all.InProgress; inProgress && all.Prompt {
			return true
		}
		common.Check(w.server.RollbackActs(ctx)) // with more time, each run would wait longer for the one before
		w.wanted = agent.Longer(w.started[0].Order.Hold, time.Since(w.started[0].Answer.Sent))
		return false
	})
	if inProgress {
		return nil
	}
	return outcome.Inconclusive("one of the runs ended before another was accepted, in %d attempts", agent.Attempts)
}

// oneRunLeft looks when the last run has completed, or the time of all that were started at once is over.
func (w *World) oneRunLeft(ctx context.Context, which string) error {
	var last *exchange.Response
	for _, g := range w.started {
		a := common.Must(w.server.GetRun(ctx, w.owner(), g))
		if last = a; a.OK() {
			w.left, w.scene.Answer = append(w.left, g), a
		}
	}
	const one = "exactly one run that can be retrieved"
	a, left, newest := w.scene.Answer, len(w.left), w.started[len(w.started)-1]
	switch {
	case left == 0:
		return outcome.Violated(last, one, "none of %d", len(w.started))
	case left > 1:
		return outcome.Violated(a, one, "%d of %d", left, len(w.started))
	case which == "only the last" && w.left[0] != newest:
		return outcome.Violated(a, "the run "+newest.ID, "the run %s", w.left[0].ID).Comparing(a, newest.Answer)
	}
	return nil
}
