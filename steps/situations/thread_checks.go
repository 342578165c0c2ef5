package situations

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// ThreadCheck is something that must be true of a thread, whatever has happened on it.
type ThreadCheck struct {
	Sentence string // of the features

	stage stage
	about about
	judge func(t *Thread, ctx context.Context) error
}

// about says which runs of the thread a check is about. It is not made after events that leave no such run.
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

// Sentences of checks on which others depend.
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
	{acceptsFurther, furtherRun, anyRun, (*Thread).runsFurther},
	{"a further run receives the user who started it", furtherRun, anyRun, (*Thread).furtherRunKnowsUser},
	{endsWithFurther, furtherRun, anyRun, (*Thread).stateEndsWithFurther},
	{"the messages of the further run follow those of the earlier runs", furtherRun, completedRuns, (*Thread).furtherFollowsEarlier},
	{"it completes without waiting for the prior run", rollback, anyRun, (*Thread).rollsBack},
	{"the prior run can no longer be retrieved after that", rollback, anyRun, (*Thread).priorIsGone},
	{"the state has the messages of the new run and none of the prior run", rollback, anyRun, (*Thread).stateIsOfNewRun},
}

// state reads the state of the thread, which shows the messages of the runs within patience.
func (t *Thread) state(ctx context.Context, runs ...*agent.GraphRun) (*exchange.Response, error) {
	return t.server.ReadCompleted(ctx, t.Thread, runs...)
}

// last returns the run that completed last, as a list that is empty if there is none.
func (t *Thread) last() []*agent.GraphRun { return t.completed[max(0, len(t.completed)-1):] }

// latest returns the run that was accepted last and not rolled back, as a list that is empty if there is none. It may have
// failed.
func (t *Thread) latest() []*agent.GraphRun {
	all := t.AllExcept(t.removed...)
	return all[max(0, len(all)-1):]
}

func (t *Thread) stateEndsWithLast(ctx context.Context) error {
	state, err := t.state(ctx, t.last()...)
	if err != nil {
		return err
	}
	return judge.StateEndsWith(state, t.last()[0].Value())
}

func (t *Thread) stateLacksRemoved(ctx context.Context) error {
	state, err := t.state(ctx, t.completed...)
	if err != nil {
		return err
	}
	return t.lacksRemoved(state)
}

// lacksRemoved judges that a state contains no message of a run that was rolled back. It does not judge messages of runs
// that completed before the rollback. If the new run has the same input, the state has that input once.
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

func (t *Thread) completedAreRetrieved(ctx context.Context) error {
	return common.Each(t.completed, func(g *agent.GraphRun) error {
		a, err := t.server.GetRun(ctx, t.owner(), g)
		if err != nil {
			return err
		}
		return judge.IsRun(a, g.Value())
	})
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

// readsLackRemoved reads the thread, its runs and the list of threads. The interface does not define the first two: not
// every server has these routes or responds to them.
func (t *Thread) readsLackRemoved(ctx context.Context) error {
	var all []*exchange.Response
	for _, path := range []string{agent.ThreadPath(t.ID), agent.RunsPath(t.ID)} {
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
	return judge.ShowNothingOf(append(all, list...), agent.Values(t.removed), agent.Values(t.AllExcept(t.removed...)))
}

// refused returns the check that the caller is refused by each route.
func refused(name string) func(t *Thread, ctx context.Context) error {
	return func(t *Thread, ctx context.Context) error {
		who, err := t.Target.Caller(name)
		if err != nil {
			return err
		}
		c := config.Invalid
		if name == target.NoCredentials {
			c = config.Missing
		}
		return t.eachRoute(ctx, who, func(a *exchange.Response) error {
			return judge.RefusesCaller(a, name, string(c), t.Target.Config.Agent.RejectedStatus.For(c), "")
		})
	}
}

// eachRoute sends a request to each route of the thread and judges the responses of routes that exist.
func (t *Thread) eachRoute(ctx context.Context, who target.Caller, judge func(*exchange.Response) error) error {
	run := append(t.latest(), &agent.GraphRun{ID: target.UnknownID(), Thread: t.Thread})[0]
	started := func() (*exchange.Response, error) {
		g, err := t.server.TryPost(ctx, who, t.Thread, agent.Order{})
		if err != nil {
			return nil, err
		}
		return g.Answer, nil
	}
	for _, send := range []func() (*exchange.Response, error){
		func() (*exchange.Response, error) { return t.server.State(ctx, who, t.Thread) },
		func() (*exchange.Response, error) { return t.server.GetRun(ctx, who, run) },
		func() (*exchange.Response, error) { return t.server.JoinCompleted(ctx, who, run) },
		started,
	} {
		a, err := send()
		if err != nil {
			return err
		}
		if target.NotServed(a) || a.Status == http.StatusConflict { // it may look at the thread first
			continue
		}
		if err := judge(a); err != nil {
			return err
		}
	}
	return nil
}

// otherCannotRead also reads the state by the ID in capitals. That may be the ID of no thread, whose state may be empty, so
// the response is judged only for what it shows.
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
	inCapitals, err := t.server.State(ctx, other, &agent.Thread{ID: strings.ToUpper(t.ID), Owner: t.Owner})
	if err != nil {
		return err
	}
	return common.Each(t.latest(), func(g *agent.GraphRun) error {
		disguised := []judge.Disguised{{Answer: inCapitals, Plain: plain}}
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

// otherCannotRun sends runs in the shapes that servers treat differently: with rollback, and for a thread that may be new.
func (t *Thread) otherCannotRun(ctx context.Context) error {
	other, err := t.caller(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	for _, o := range []agent.Order{
		{},
		{Strategy: agent.RollbackStrategy},
		{More: map[string]any{"if_not_exists": "create"}},
	} {
		g, err := t.server.TryPost(ctx, other, t.Thread, o)
		if err != nil {
			return err
		}
		if err := judge.IsError(g.Answer, ""); err != nil {
			return err
		}
	}
	return nil
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

// runsFurther starts a run that reports its user, if the graph can do that.
func (t *Thread) runsFurther(ctx context.Context) error {
	var o agent.Order
	if len(t.Target.Config.Users) > 0 {
		judged, err := t.Agents.AgentServer(ctx) // words are tried only there
		if err != nil {
			return outcome.AsPrecondition(err)
		}
		t.mute = judged.Understood(ctx, agent.Whoami)
		if t.mute == nil {
			o.Words = agent.Whoami
		}
	}
	g, err := t.server.Post(ctx, t.Thread, o)
	if err != nil {
		return err
	}
	if err := g.Accepted(); err != nil {
		return err
	}
	_, err = t.server.Await(ctx, g)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	t.next = g
	return nil
}

// further returns an error that blocks a check if there is no further run.
func (t *Thread) further() error {
	if t.next == nil {
		return outcome.Blocked("the thread does not accept a further run (AS-RUN-1)").ByRequirement("AS-RUN-1")
	}
	return nil
}

// furtherIsShown returns an error that blocks a check if the state lacks messages of the further run.
func (t *Thread) furtherIsShown() error {
	if err := t.further(); err != nil {
		return err
	}
	if !t.next.Complete() {
		return outcome.Blocked("the state lacks messages of the further run (AS-STATE-2)").ByRequirement("AS-STATE-2")
	}
	return nil
}

func (t *Thread) furtherRunKnowsUser(ctx context.Context) error {
	if err := t.furtherIsShown(); err != nil {
		return err
	}
	user := t.owner().User
	if user == nil {
		return outcome.Needs("users")
	}
	if t.mute != nil {
		return t.mute
	}
	if user.Identity == "" {
		return outcome.Needs("users.0.identity")
	}
	report := judge.Report{State: t.next.Final, Said: t.next.Said(), Of: judge.User{Name: user.Name, Known: user.Known()}}
	return outcome.Unless(ctx, judge.ReportsFields(report, map[string]any{"identity": user.Identity}), t.furtherRepeatsInput)
}

// furtherRepeatsInput returns an error that blocks a check if the graph ignores the input of the further run.
func (t *Thread) furtherRepeatsInput(ctx context.Context) error {
	return t.server.RepeatsInput(ctx, t.next)
}

func (t *Thread) stateEndsWithFurther(context.Context) error {
	if err := t.further(); err != nil {
		return err
	}
	return judge.StateEndsWith(t.next.Final, t.next.Value())
}

func (t *Thread) furtherFollowsEarlier(context.Context) error {
	if err := t.further(); err != nil {
		return err
	}
	return judge.HoldsInOrder(t.next.Final, agent.Values(append(slices.Clone(t.completed), t.next))...)
}

// rollsBack is blocked if a further run without rollback does not work after the event either.
func (t *Thread) rollsBack(ctx context.Context) error {
	const also = "a further run without rollback fails as well (%s)"
	if outcome.Is(t.first[acceptsFurther], reports.Failed) {
		return outcome.Blocked(also, "AS-RUN-1").ByRequirement("AS-RUN-1")
	}
	if outcome.Is(t.first[endsWithFurther], reports.Failed) {
		return outcome.Blocked(also, "AS-STATE-2").ByRequirement("AS-STATE-2")
	}
	rb, err := t.server.RollBackAs(ctx, agent.Plan{Moment: agent.HasStarted, Thread: t.Thread})
	if err != nil {
		return err
	}
	t.rolled = rb
	return judge.NewRunIsPrompt(rb.Next.Final, rb.Next.Value(), rb.Prior.Value())
}

// isRolledBack returns an error that blocks a check if no run was rolled back.
func (t *Thread) isRolledBack() error {
	if t.rolled == nil || t.rolled.After == nil {
		return outcome.Blocked("no run could be rolled back (AS-ROLLBACK-1)").ByRequirement("AS-ROLLBACK-1")
	}
	return nil
}

func (t *Thread) priorIsGone(context.Context) error {
	if err := t.isRolledBack(); err != nil {
		return err
	}
	return t.rolled.After.NoneRetrievable()
}

// stateIsOfNewRun does not judge the messages of runs that had completed before the rollback.
func (t *Thread) stateIsOfNewRun(context.Context) error {
	if err := t.isRolledBack(); err != nil {
		return err
	}
	others := t.AllExcept(append(slices.Clone(t.removed), t.rolled.Prior.GraphRun)...)
	if err := t.rolled.Prior.LeftIn(t.rolled.After.State, others...); err != nil {
		return err
	}
	return judge.StateEndsWith(t.rolled.After.State, t.rolled.Next.Value())
}
