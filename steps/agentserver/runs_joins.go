package agentserver

import (
	"context"
	"fmt"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// longerHold is beyond after which a proxy in front of an agent server may cut off a join, and short enough for every
// run of the suite.
const longerHold = 1200 * time.Millisecond

// defineJoins registers the sentences about joins (section 4).
func (w *World) defineJoins(r *common.Definitions) {
	r.When(`the user starts a (long|longer) run, and joins it( twice at the same time)?`, w.startsLongAndJoins)
	r.When(`the user joins the run`, w.userJoins)
	r.Then(`the join is answered with any status`, w.joinIsAnswered)
	r.Then(`the join is answered with 2xx`, w.joinAnswers)
	r.Then(`the join is answered with 2xx at once`, w.joinAnswersAtOnce)
	r.Then(`the join does not return before the end of the run`, w.joinNotEarly)
}

// startsLongAndJoins joins while the run is in progress, once or twice at the same time. A join that is not answered is
// judged, else the one that is answered first.
func (w *World) startsLongAndJoins(ctx context.Context, long, twice string) error {
	w.joinAgain = func() error { return w.startsLongAndJoins(ctx, long, twice) }
	if long == "longer" {
		w.wanted = longerHold
	}
	inTime := w.race(ctx, func(ctx context.Context) bool {
		common.Needs(func() { w.startLong(ctx) })
		first := w.join(ctx)
		if twice != "" {
			common.Check(client.Sleep(ctx, w.agents.Slack()/4)) // the second comes while the first one waits
			w.join(ctx)
		}
		last := w.joined
		w.awaitJoin(ctx, first)
		if first.Over() {
			w.awaitJoin(ctx, last)
		}
		if !first.Over() || last.Over() && first.Ended.Before(last.Ended) {
			w.joined = first
		}
		w.wanted = agent.Longer(w.current.Order.Hold, last.Sent().Sub(w.current.Answer.Sent))
		return last.Sent().Before(w.current.NotOverBefore())
	})
	if !inTime {
		return outcome.Inconclusive("the target was too slow to join a run while it was in progress, in %d attempts",
			agent.Attempts)
	}
	return nil
}

// readsStateAfterJoin reads the state once after the join. If messages are missing, it joins a second run on a new thread,
// and reads that state once, after the configured patience. It never reads a state twice, because the first read may
// refresh a cache.
func (w *World) readsStateAfterJoin(ctx context.Context) error {
	if err := w.readsStateOnce(ctx, 0); err != nil || w.current.CompleteIn(w.scene.Answer) {
		return err
	}
	if err := w.joinAgain(); err != nil {
		return err
	}
	patience := w.target.Config.Patience
	w.scene.Note(fmt.Sprintf("right after the join the server's state lacked messages; the suite read the state of a second run %s after its join", patience))
	return w.readsStateOnce(ctx, patience)
}

// readsStateOnce reads the state after the join returned 2xx and the delay has passed. An error status does not show that
// the run has ended.
func (w *World) readsStateOnce(ctx context.Context, delay time.Duration) error {
	err := w.joinIsAnswered()
	if err == nil {
		err = joined(w.joined.Answer)
	}
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	if err := client.Sleep(ctx, time.Until(w.joined.Ended.Add(delay))); err != nil {
		return err
	}
	w.scene.Answer, err = w.server.State(ctx, w.owner(), w.thread)
	return err
}

func (w *World) join(ctx context.Context) *agent.Joining {
	w.joined = w.server.JoinNow(ctx, w.current)
	w.scene.AtEnd(w.joined.Leave)
	return w.joined
}

// awaitJoin waits for the answer to the join. One that has not come long after the run was seen to be complete is not
// waited for any longer.
func (w *World) awaitJoin(ctx context.Context, join *agent.Joining) {
	g := w.current
	end := g.Answered().Add(g.Order.Hold)
	common.Check(join.OrUntil(ctx, end.Add(w.agents.Patience())))
	if join.Over() {
		return
	}
	_, seen, err := w.server.ReadState(ctx, w.thread, end.Add(w.target.Config.Timeouts.Run), func(a *exchange.Response) bool {
		return join.Over() || g.CompleteIn(a)
	})
	common.Check(err)
	if !seen {
		common.Check(w.server.StillQueued(ctx, g))
	}
	common.Check(join.OrUntil(ctx, time.Now().Add(w.target.Config.Timeouts.Request)))
}

// userJoins gives the answer the time that any answer may take. A run that may still be queued gets that of a run.
func (w *World) userJoins(ctx context.Context) error {
	if w.current.Complete() || w.current.Joined {
		for range agent.Attempts { // a target may be busy for a moment
			w.scene.Answer = common.Must(w.server.JoinCompleted(ctx, w.owner(), w.current))
			if a := w.scene.Answer; !a.OK() || a.Took <= w.agents.Prompt() {
				break
			}
		}
		return nil
	}
	join := w.join(ctx)
	limit := w.current.Answered().Add(w.current.Order.Hold + 2*w.target.Config.Timeouts.Run) // its own comes first
	common.Check(join.OrUntil(ctx, limit))
	if join.Unanswered() {
		return w.server.StillQueued(ctx, w.current)
	}
	w.scene.Answer = join.Answer
	return nil
}

func (w *World) joinAnswers() error {
	common.Check(w.joinIsAnswered())
	return joined(w.joined.Answer)
}

func (w *World) joinIsAnswered() error {
	if !w.joined.Over() {
		return outcome.Violated(w.current.Answer, "an answer to the join after the run has completed",
			"no answer %s after the start of the run", time.Since(w.current.Answer.Sent).Round(time.Millisecond))
	}
	return w.joined.Err
}

// joined says what is wrong with the answer to a join of the user's own run.
func joined(a *exchange.Response) error {
	common.Check(validIsServed(a))
	return outcome.Want(a.OK(), a, "status 2xx to the join")
}

// joinNotEarly allows for a clock that is a little off.
func (w *World) joinNotEarly() error {
	if !w.joined.Over() {
		return outcome.Inconclusive("the join was not answered, so it cannot be judged whether it was answered early")
	}
	g := w.current
	if took := w.joined.Ended.Sub(g.Answer.Sent); took < g.Order.Hold*19/20 {
		return outcome.Violated(w.joined.Answer, "an answer after the end of the run",
			"an answer %s after the start of a run of %s", took.Round(time.Millisecond), g.Order.Hold)
	}
	return nil
}

func (w *World) joinAnswersAtOnce() error {
	a, limit := w.scene.Answer, w.agents.Prompt()
	if a == nil {
		return w.joinIsAnswered()
	}
	if err := joined(a); err != nil || a.Took <= limit {
		return err
	}
	return outcome.Violated(a, "an answer within "+limit.String(), "an answer after %s", a.Took.Round(time.Millisecond))
}
