package agentserver

import (
	"context"
	"fmt"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// longerHold is longer than some servers and proxies let a join wait: they end it after one or two seconds.
const longerHold = 2500 * time.Millisecond

// joins has the last join of the user.
type joins struct {
	*World
	joined *agent.Joining // a join that was sent at the same time as other requests
	again  func() error   // starts and joins a run on a new thread, as the scenario did
}

// define registers the steps about joins (section 4).
func (w *joins) define(r *common.Definitions) {
	r.When(`the user starts a (long|longer) run, and joins it( twice at the same time)?`, w.startLongAndJoin)
	r.When(`the user joins a run that is pending behind (another run|a run that fails)`, w.joinPending)
	r.When(`the user joins a run that replaces another run`, w.joinReplacing)
	r.When(`the user joins a run behind which another one is pending`, w.joinFollowed)
	r.When(`the user joins the run during a later run`, w.joinDuringLater)
	r.When(`the user drops the join of a long run`, w.dropJoin)
	r.When(`the user joins the run`, w.userJoins)
	r.When(`the user joins the run again and again`, w.userJoinsOften)
	r.When(`the user reads the state after the join`, w.readStateAfterJoin)
	r.Then(`the join returns any status`, w.joinReturns)
	r.Then(`the join returns 2xx`, w.joinSucceeds)
	r.Then(`the join returns 2xx at once`, w.joinReturnsAtOnce)
	r.Then(`the join does not return before the end of the run`, func() error {
		return judge.JoinIsNotEarly(judged(w.joined), w.current.Value())
	})
	r.Then(`the run completes although its join was dropped`, func(ctx context.Context) error {
		return outcome.Unless(ctx, judge.DroppedJoinKeepsRun(w.scene.Response, w.current.Value()), w.server.PlainRunsWork)
	})
	r.Then(`the join does not wait for the run that is pending behind it`, w.joinDoesNotWaitForNext)
}

// startLongAndJoin starts a run and joins it while it is in progress, once or twice at the same time. Later steps judge
// the join that has no response, or else the one that returned first.
func (w *joins) startLongAndJoin(ctx context.Context, long, twice string) error {
	w.again = func() error { return w.startLongAndJoin(ctx, long, twice) }
	if long == "longer" {
		w.wanted = longerHold
	}
	const lost = "the target was too slow to join a run while it was in progress"
	return w.win(ctx, lost, func(ctx context.Context) (bool, error) {
		if err := w.startLong(ctx); err != nil {
			return false, outcome.AsPrecondition(err)
		}
		return w.joinInTime(ctx, twice != "")
	})
}

// joinPending joins a run that is pending, once patience is over. The run before it must be in progress until then.
func (w *joins) joinPending(ctx context.Context, ahead string) error {
	w.again = func() error { return w.joinPending(ctx, ahead) }
	var words string
	if ahead == "a run that fails" {
		words = agent.Fail
	}
	const lost = "the run before the pending one ended before the join was sent"
	return w.win(ctx, lost, func(ctx context.Context) (bool, error) {
		p, err := w.server.InProgressOn(ctx, nil, agent.PendingBehind, agent.Order{Words: words, Hold: w.wanted})
		if err != nil {
			return false, outcome.AsPrecondition(err)
		}
		w.prior = p
		w.setRun(p.GraphRun)
		if err := client.Sleep(ctx, time.Until(p.Responded().Add(w.target.Config.Patience))); err != nil {
			return false, err
		}
		_, err = w.joinInTime(ctx, false)
		return w.joined.Sent().Before(p.Until()), err
	})
}

// joinReplacing rolls back a run that has started, and joins the new run while that is in progress. The prior run may
// have ended before.
func (w *joins) joinReplacing(ctx context.Context) error {
	w.again = func() error { return w.joinReplacing(ctx) }
	const lost = "the target was too slow to join a run with rollback while it was in progress"
	return w.win(ctx, lost, func(ctx context.Context) (bool, error) {
		p, err := w.server.InProgress(ctx, agent.HasStarted, w.wanted)
		if err != nil {
			return false, outcome.AsPrecondition(err)
		}
		w.prior, w.thread = p, p.Thread
		if err := w.post(ctx, agent.Order{Waits: true, Hold: w.wanted, Strategy: agent.RollbackStrategy}); err != nil {
			return false, err
		}
		if err := w.current.Accepted(); err != nil {
			return false, outcome.AsPrecondition(err)
		}
		return w.joinInTime(ctx, false)
	})
}

// joinFollowed joins a run in progress while another run is pending behind it. If the join is late, joinFollowed waits
// until the pending run has completed. The pending run takes twice as long as the limit for the join.
func (w *joins) joinFollowed(ctx context.Context) error {
	const lost = "the run ended before the join was sent"
	return w.win(ctx, lost, func(ctx context.Context) (bool, error) {
		o := agent.Order{Hold: w.wanted, Behind: max(w.wanted, 2*w.agents.Prompt())}
		p, err := w.server.InProgressOn(ctx, nil, agent.PendingBehind, o)
		if err != nil {
			return false, outcome.AsPrecondition(err)
		}
		w.prior = p
		w.setRun(p.Ahead())
		w.wanted = p.AfterLoss()
		join := w.join(ctx)
		if err := join.OrUntil(ctx, p.Until().Add(w.agents.Prompt())); err != nil {
			return false, err
		}
		if w.joinDoesNotWaitForNext() == nil {
			return join.Sent().Before(p.Until()), nil
		}
		if _, err := w.server.Await(ctx, p.GraphRun); err != nil {
			return false, outcome.AsPrecondition(err)
		}
		err = join.OrUntil(ctx, time.Now().Add(w.target.Config.Timeouts.Request))
		return join.Sent().Before(p.Until()), err
	})
}

func (w *joins) joinDoesNotWaitForNext() error {
	return judge.JoinIsNotHeldBack(judged(w.joined), w.current.Value(), w.prior.GraphRun.Value(), w.prior.Final, w.agents.Prompt())
}

// dropJoin joins a run in progress, closes the connection while the join is pending, and waits until the run has ended.
func (w *joins) dropJoin(ctx context.Context) error {
	const lost = "the run ended before its join was dropped"
	return w.win(ctx, lost, func(ctx context.Context) (bool, error) {
		if err := w.startLong(ctx); err != nil {
			return false, outcome.AsPrecondition(err)
		}
		join := w.server.JoinNow(ctx, w.current)
		defer join.Leave()
		if err := join.OrUntil(ctx, time.Now().Add(min(w.agents.Slack(), w.current.Order.Hold/4))); err != nil {
			return false, err
		}
		isInProgress := time.Now().Before(w.current.NotOverBefore())
		w.wanted = agent.Longer(w.current.Order.Hold, time.Since(w.current.Response.Sent))
		switch {
		case !isInProgress:
			return false, nil
		case join.Over():
			return false, outcome.Blocked("the join returned during the run").ByRequirement("AS-RUN-4")
		}
		join.Leave()
		state, err := w.server.Await(ctx, w.current)
		w.scene.Response = state
		return true, outcome.AsPrecondition(err)
	})
}

// completedHangs is the title if the join of a completed run does not return.
const completedHangs = "The join of a completed run gets no response"

// joinDuringLater joins a completed run while a later run is in progress. The later run takes twice as long as the limit
// for the join. If the response is late, it tries again, because a target may be busy for a moment.
func (w *joins) joinDuringLater(ctx context.Context) error {
	for range agent.Attempts {
		later, err := w.server.InProgressOn(ctx, w.thread, agent.JustStarted, agent.Order{Hold: 2 * w.agents.Prompt()})
		if err != nil {
			return outcome.AsPrecondition(err)
		}
		w.scene.Response, err = w.server.JoinCompleted(ctx, w.owner(), w.current)
		if err != nil || !w.scene.Response.OK() || w.scene.Response.Took <= w.agents.Prompt() {
			return outcome.Titled(completedHangs, err)
		}
		if _, err := w.server.Await(ctx, later.GraphRun); err != nil {
			return outcome.AsPrecondition(err)
		}
	}
	return nil
}

// joinInTime joins the run, and reports whether it sent the last join before the end of the run.
func (w *joins) joinInTime(ctx context.Context, twice bool) (bool, error) {
	first := w.join(ctx)
	if twice {
		if err := client.Sleep(ctx, w.agents.Slack()/4); err != nil { // the second comes while the first one waits
			return false, err
		}
		w.join(ctx)
	}
	last := w.joined
	if err := w.awaitJoin(ctx, first); err != nil {
		return false, err
	}
	if first.Over() {
		if err := w.awaitJoin(ctx, last); err != nil {
			return false, err
		}
	}
	if !first.Over() || last.Over() && first.Ended.Before(last.Ended) {
		w.joined = first
	}
	w.wanted = agent.Longer(w.current.Order.Hold, last.Sent().Sub(w.current.Response.Sent))
	return last.Sent().Before(w.current.NotOverBefore()), nil
}

// readStateAfterJoin reads the state once after the join. If messages are missing, it joins a second run on a new
// thread, and reads that state once, after the configured patience. It never reads a state twice, because the first
// read may refresh a cache.
func (w *joins) readStateAfterJoin(ctx context.Context) error {
	if err := w.readStateOnce(ctx, 0); err != nil || w.current.CompleteIn(w.scene.Response) {
		return err
	}
	if err := w.again(); err != nil {
		return err
	}
	patience := w.target.Config.Patience
	w.scene.Note(fmt.Sprintf("right after the join the server's state lacked messages; the suite read the state of a "+
		"second run %s after its join", patience))
	return w.readStateOnce(ctx, patience)
}

// readStateOnce reads the state after the join returned 2xx and the delay has passed. An error status does not show
// that the run has ended.
func (w *joins) readStateOnce(ctx context.Context, delay time.Duration) error {
	if err := w.joinSucceeds(); err != nil {
		return outcome.AsPrecondition(err)
	}
	if err := client.Sleep(ctx, time.Until(w.joined.Ended.Add(delay))); err != nil {
		return err
	}
	return w.userReadsState(ctx)
}

func (w *joins) join(ctx context.Context) *agent.Joining {
	w.joined = w.joinNow(ctx)
	return w.joined
}

// joinNow joins the run without waiting for the response. The join ends with the scenario.
func (w *World) joinNow(ctx context.Context) *agent.Joining {
	join := w.server.JoinNow(ctx, w.current)
	w.scene.AtEnd(join.Leave)
	return join
}

// judged returns a join as a value for judgements.
func judged(join *agent.Joining) judge.Join {
	if !join.Over() {
		return judge.Join{Unanswered: true}
	}
	return judge.Join{Over: true, Unanswered: join.Unanswered(), Ended: join.Ended, Response: join.Response, Err: join.Err}
}

// awaitJoin waits for the response to the join. The wait is limited, counted from the completion of the run.
func (w *joins) awaitJoin(ctx context.Context, join *agent.Joining) error {
	g := w.current
	end := g.Responded().Add(g.Order.Hold)
	if err := join.OrUntil(ctx, end.Add(w.agents.Patience())); err != nil {
		return err
	}
	if join.Over() {
		return nil
	}
	_, seen, err := w.server.ReadState(ctx, w.thread, end.Add(w.agents.RunTimeout()), func(a *exchange.Response) bool {
		return join.Over() || g.CompleteIn(a)
	})
	if err != nil {
		return err
	}
	if !seen {
		if err := w.server.StillQueued(ctx, g); err != nil {
			return err
		}
		w.agents.NoteUnended()
	}
	return join.OrUntil(ctx, time.Now().Add(w.target.Config.Timeouts.Request))
}

// userJoins joins the run. The timeout is that of any request if the run is completed, and that of a run if it may
// still be queued.
func (w *joins) userJoins(ctx context.Context) error {
	if w.current.Complete() || w.current.Joined {
		return w.userJoinsCompleted(ctx)
	}
	join := w.join(ctx)
	limit := w.current.Responded().Add(w.current.Order.Hold + 2*w.target.Config.Timeouts.Run) // longer than the timeout of the join itself
	if err := join.OrUntil(ctx, limit); err != nil {
		return err
	}
	if join.Unanswered() {
		return w.server.StillQueued(ctx, w.current)
	}
	w.scene.Response = join.Response
	return nil
}

// userJoinsOften joins the run until a join is late or refused. Some servers allow only a limited number of waiting
// clients.
func (w *joins) userJoinsOften(ctx context.Context) error {
	for range 5 {
		if err := w.userJoins(ctx); err != nil {
			return err
		}
		if a := w.scene.Response; !a.OK() || a.Took > w.agents.Prompt() {
			return nil
		}
	}
	return nil
}

// userJoinsCompleted joins a completed run. It tries again after a late response, because a target may be busy for a
// moment.
func (w *joins) userJoinsCompleted(ctx context.Context) error {
	for range agent.Attempts {
		a, err := w.server.JoinCompleted(ctx, w.owner(), w.current)
		if err != nil {
			return outcome.Titled(completedHangs, err)
		}
		w.scene.Response = a
		if !a.OK() || a.Took <= w.agents.Prompt() {
			return nil
		}
	}
	return nil
}

func (w *joins) joinReturns() error {
	join, since := judged(w.joined), time.Since(w.current.Response.Sent)
	if !join.Over {
		join.Exchange = w.joined.GiveUp()
	}
	return judge.JoinReturns(join, w.current.Value(), since)
}

// joinSucceeds judges that the join returned 2xx.
func (w *joins) joinSucceeds() error {
	if err := w.joinReturns(); err != nil {
		return err
	}
	return judge.JoinIsServed(w.joined.Response)
}

func (w *joins) joinReturnsAtOnce() error {
	if w.scene.Response == nil {
		return w.joinReturns()
	}
	return judge.JoinIsPrompt(w.scene.Response, w.agents.Prompt())
}
