package situations

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// ThreadCheck is a condition that every thread must satisfy after any event.
type ThreadCheck struct {
	Step string // of the features

	stage stage
	about about
	judge func(t *Thread, ctx context.Context) error
}

// about is the kind of runs that a check judges. The check is not made after an event without such runs.
type about int

const (
	anyRun about = iota
	completedRuns
	removedRuns
)

// leftOut returns the reason why a check is not made after an event, or "".
func (c ThreadCheck) leftOut(e ThreadEvent) string {
	switch {
	case c.about == completedRuns && e.Fails:
		return "the event leaves no completed run"
	case c.about == removedRuns && !e.Removes:
		return "the event rolls no run back"
	}
	return ""
}

// Steps of checks that other checks depend on.
const (
	acceptsFurther  = "it accepts a further run"
	endsWithFurther = "the state ends with the messages of the further run"
)

// ThreadChecks has all checks, in the order in which they are made.
var ThreadChecks = []ThreadCheck{
	{"the state ends with the messages of its last completed run", reads, completedRuns, (*Thread).stateEndsWithLast},
	{"the state shows nothing of a run that was rolled back", reads, removedRuns, (*Thread).stateLacksRemoved},
	{"its completed runs can be retrieved", reads, completedRuns, (*Thread).completedAreRetrieved},
	{"the runs that were rolled back can no longer be retrieved", reads, removedRuns, (*Thread).removedAreNotRetrieved},
	{"no read of the thread or list shows a run that was rolled back", reads, removedRuns, (*Thread).readsLackRemoved},
	{"a caller without credentials is refused by each route", reads, anyRun, refused(target.NoCredentials)},
	{"a caller with an unknown token is refused by each route", reads, anyRun, refused(target.UnknownToken)},
	{"another user cannot read the thread or its run", reads, anyRun, (*Thread).otherCannotRead},
	{"another user cannot start a run on it", reads, anyRun, (*Thread).otherCannotRun},
	{"a new thread of the user contains no messages", reads, anyRun, (*Thread).newThreadIsEmpty},
	{"the list of the user's threads contains it", reads, anyRun, (*Thread).listHoldsThread},
	{acceptsFurther, furtherRun, anyRun, (*Thread).runsFurther},
	{"a further run receives the user who started it", furtherRun, anyRun, (*Thread).furtherRunKnowsUser},
	{endsWithFurther, furtherRun, anyRun, (*Thread).stateEndsWithFurther},
	{"the messages of the further run follow those of the earlier runs", furtherRun, completedRuns, (*Thread).furtherFollowsEarlier},
	{"it completes without waiting for the prior run", rollback, anyRun, (*Thread).rollsBack},
	{"the prior run can no longer be retrieved after that", rollback, anyRun, (*Thread).priorIsGone},
	{"the state has the messages of the new run and none of the prior run", rollback, anyRun, (*Thread).stateIsOfNewRun},
	{"its completed runs can still be retrieved after that", rollback, completedRuns, (*Thread).completedRemain},
	{"the new run receives the user who started it", rollback, anyRun, (*Thread).newRunKnowsUser},
}

// state reads the state of the thread. If it lacks messages of the runs, it repeats the read within patience.
func (t *Thread) state(ctx context.Context, runs ...*agent.GraphRun) (*exchange.Response, error) {
	return t.server.ReadCompleted(ctx, t.Thread, runs...)
}

// last returns the last completed run, as a list that may be empty.
func (t *Thread) last() []*agent.GraphRun { return t.completed[max(0, len(t.completed)-1):] }

// latest returns the last accepted run that was not rolled back, as a list that may be empty. The run may have failed.
func (t *Thread) latest() []*agent.GraphRun {
	all := t.AllExcept(t.removed...)
	return all[max(0, len(all)-1):]
}

// stateEndsWithLast also judges that the state does not contain the input of a completed run twice. It does not judge
// that if a run was rolled back, because other checks judge the messages after a rollback.
func (t *Thread) stateEndsWithLast(ctx context.Context) error {
	state, err := t.state(ctx, t.last()...)
	if err != nil {
		return err
	}
	if err := judge.StateEndsWith(state, t.last()[0].Value()); err != nil || len(t.removed) > 0 {
		return t.unlessRefused(state, err)
	}
	return common.Each(t.completed, func(g *agent.GraphRun) error {
		return t.unlessRefused(state, judge.RepeatsNoCompletedInput(state, g.Value()))
	})
}

// stateLacksRemoved reads the state until it shows the completed runs. If there are none because the new run has failed,
// it reads the state again within patience, because a read may show the thread from before the rollback.
func (t *Thread) stateLacksRemoved(ctx context.Context) error {
	state, err := t.state(ctx, t.completed...)
	if err != nil {
		return err
	}
	if len(t.completed) == 0 {
		until := time.Now().Add(t.Target.Config.Patience)
		state, _, err = t.server.ReadState(ctx, t.Thread, until, func(a *exchange.Response) bool {
			return t.lacksRemoved(a) == nil
		})
		if err != nil {
			return err
		}
	}
	return t.lacksRemoved(state)
}

// lacksRemoved judges that a state contains no message of a run that was rolled back. It ignores messages of runs that
// completed before the rollback. If the new run has the same input, the state contains that input once.
func (t *Thread) lacksRemoved(state *exchange.Response) error {
	return common.Each(t.removed, func(g *agent.GraphRun) error {
		for _, next := range t.completed {
			if next.Text() == g.Text() {
				return judge.HoldsInputOnce(state, next.Value())
			}
		}
		return judge.NoneRemains(state, judge.Prior{Run: g.Value()}, agent.Values(t.AllExcept(t.removed...))...)
	})
}

// completedAreRetrieved blocks if a rollback has removed a completed run instead of the run in progress.
func (t *Thread) completedAreRetrieved(ctx context.Context) error {
	if t.found != nil && len(t.AllExcept(t.completed...)) == 0 { // all were executed, so none has replaced another run
		return t.found
	}
	err := common.Each(t.completed, func(g *agent.GraphRun) error {
		a, err := t.server.GetRun(ctx, t.owner(), g)
		if err != nil {
			return err
		}
		return judge.IsRun(a, g.Value())
	})
	if !outcome.Is(err, reports.Failed) || !outcome.Is(t.removedAreNotRetrieved(ctx), reports.Failed) {
		return err
	}
	return outcome.Blocked("the server still has a run that was rolled back (AS-ROLLBACK-2)").ByRequirement("AS-ROLLBACK-2")
}

func (t *Thread) removedAreNotRetrieved(ctx context.Context) error {
	return common.Each(t.removed, func(g *agent.GraphRun) error {
		a, err := t.server.GetRun(ctx, t.owner(), g)
		if err != nil {
			return err
		}
		return judge.NoneRetrievable(a)
	})
}

// readsLackRemoved reads the thread, its runs, its earlier states and the list of threads, and joins the runs that were
// rolled back. The interface does not define the first three, so a server need not serve them.
func (t *Thread) readsLackRemoved(ctx context.Context) error {
	var all []*exchange.Response
	for _, path := range []string{agent.ThreadPath(t.ID), agent.RunsPath(t.ID), agent.HistoryPath(t.ID)} {
		a, err := t.Target.Client.Do(ctx, t.Target.ToAgent(t.server.Base, t.owner(), http.MethodGet, path, nil))
		if _, isUnanswered := errors.AsType[*exchange.NoResponse](err); isUnanswered {
			continue
		}
		if err != nil {
			return err
		}
		all = append(all, a)
	}
	list, _, err := t.server.List(ctx, t.owner(), nil)
	if err != nil {
		return err
	}
	joins, err := t.joinsOfRemoved(ctx)
	if err != nil {
		return err
	}
	all = slices.Concat(all, list, joins)
	return judge.ShowNothingOf(all, agent.Values(t.removed), agent.Values(t.AllExcept(t.removed...)))
}

// joinsOfRemoved joins the runs that were rolled back, until a join gets no response. The interface does not define how
// or when a server responds.
func (t *Thread) joinsOfRemoved(ctx context.Context) (all []*exchange.Response, err error) {
	for _, g := range t.removed {
		a, err := t.server.JoinCompleted(ctx, t.owner(), g)
		if _, isUnanswered := errors.AsType[*exchange.NoResponse](err); isUnanswered {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// otherCannotRead also reads the state by the ID in capitals. There may be no thread with that ID, and its state may be
// empty, so only the content of the response is judged.
func (t *Thread) otherCannotRead(ctx context.Context) error {
	other, err := t.caller(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	plain, err := t.server.State(ctx, other, t.Thread)
	if err != nil {
		return err
	}
	if err := judge.IsError(plain, ""); err != nil {
		return err
	}
	if t.shown != nil {
		return t.shown
	}
	inCapitals, err := t.server.State(ctx, other, &agent.Thread{ID: strings.ToUpper(t.ID), Owner: t.Owner})
	if err != nil {
		return err
	}
	return common.Each(t.latest(), func(g *agent.GraphRun) error {
		disguised := []judge.Disguised{{Response: inCapitals, Plain: plain}}
		if err := judge.DisguisesShowNothing(disguised, t.ID, g.Value()); err != nil {
			return err
		}
		a, err := t.server.GetRun(ctx, other, g)
		if err != nil {
			return err
		}
		return judge.IsError(a, "")
	})
}

// listHoldsThread does not judge a list that may be one page of several, because new threads of other scenarios are
// listed first.
func (t *Thread) listHoldsThread(ctx context.Context) error {
	l, err := t.server.Listed(ctx, t.Thread, t.Target.Config.Timeouts.Request)
	if err != nil {
		return err
	}
	if err := l.Undecided(); err != nil {
		return err
	}
	list := judge.List{Response: l.Response, IsList: l.Rows != nil, Rows: l.Rows.All(), Hint: t.Target.ListingHint()}
	return judge.ListHolds(list, judge.Thread{ID: t.ID, Created: t.Response})
}

func (t *Thread) newThreadIsEmpty(ctx context.Context) error {
	fresh, err := t.server.NewThread(ctx, t.owner())
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	state, err := t.server.State(ctx, t.owner(), fresh)
	if err != nil {
		return err
	}
	return judge.HoldsNoMessages(state)
}
