package situations

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// reporting returns the order of a run that reports its user, if the graph can do that.
func (t *Thread) reporting(ctx context.Context) (o agent.Order, err error) {
	if len(t.Target.Config.Users) == 0 {
		return o, nil
	}
	judged, err := t.Agents.AgentServer(ctx) // words are tested only at the agent server under test
	if err != nil {
		return o, outcome.AsPrecondition(err)
	}
	t.mute = judged.Understood(ctx, agent.Whoami)
	if t.mute == nil {
		o.Words = agent.Whoami
	}
	return o, nil
}

func (t *Thread) runsFurther(ctx context.Context) error {
	o, err := t.reporting(ctx)
	if err != nil {
		return err
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

// requireFurther returns a blocked outcome if there is no further run.
func (t *Thread) requireFurther() error {
	if t.next == nil {
		return outcome.Blocked("the thread does not accept a further run (AS-RUN-1)").ByRequirement("AS-RUN-1")
	}
	return nil
}

// requireFurtherShown returns a blocked outcome if the state lacks messages of the further run.
func (t *Thread) requireFurtherShown() error {
	if err := t.requireFurther(); err != nil {
		return err
	}
	if !t.next.Complete() {
		return outcome.Blocked("the state lacks messages of the further run (AS-STATE-2)").ByRequirement("AS-STATE-2")
	}
	return nil
}

func (t *Thread) furtherRunKnowsUser(ctx context.Context) error {
	if err := t.requireFurtherShown(); err != nil {
		return err
	}
	if t.queued != nil && slices.Contains(t.completed, t.queued) {
		if err := t.knowsUser(ctx, t.queued); err != nil {
			return err
		}
	}
	return t.knowsUser(ctx, t.next)
}

// newRunKnowsUser judges the report of a rollback's new run. Other requirements judge a server at which it does not
// complete.
func (t *Thread) newRunKnowsUser(ctx context.Context) error {
	if t.rolled == nil || !t.rolled.Next.Complete() {
		return outcome.Inapplicable("the user of a run with rollback", "on this target, no run with rollback has completed")
	}
	return t.knowsUser(ctx, t.rolled.Next)
}

// knowsUser judges that a run reports the identity and the custom fields of its user.
func (t *Thread) knowsUser(ctx context.Context, g *agent.GraphRun) error {
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
	report := judge.Report{State: g.Final, Said: g.Said(), Of: judge.User{Name: user.Name, Known: user.Known()}}
	return outcome.Unless(ctx, judge.ReportsFields(report, user.Known()), func(ctx context.Context) error {
		return t.server.RepeatsInput(ctx, g)
	})
}

// failed returns the failed runs that the thread accepted before the further run. They were ordered to fail and were not
// rolled back. Other runs with the same input may have completed: after a lost race, both the run in progress and the run
// that came too late to roll it back.
func (t *Thread) failed() []*agent.GraphRun {
	others := t.AllExcept(slices.Concat(t.completed, t.removed, []*agent.GraphRun{t.next})...)
	return slices.DeleteFunc(others, func(g *agent.GraphRun) bool { return g.Order.Words != agent.Fail })
}

func (t *Thread) stateEndsWithFurther(context.Context) error {
	if err := t.requireFurther(); err != nil {
		return err
	}
	err := judge.StateEndsWith(t.next.Final, t.next.Value())
	if err == nil && len(t.completed) > 0 {
		err = judge.KeepsTypes(t.last()[0].Final, t.next.Final)
	}
	if err == nil {
		err = common.Each(t.failed(), func(g *agent.GraphRun) error {
			return judge.RepeatsNoFailedInput(t.next.Final, g.Value())
		})
	}
	return t.unlessRefused(t.next.Final, err)
}

func (t *Thread) furtherFollowsEarlier(context.Context) error {
	if err := t.requireFurtherShown(); err != nil {
		return err
	}
	all := agent.Values(append(slices.Clone(t.completed), t.next))
	return t.unlessRefused(t.next.Final, judge.HoldsInOrder(t.next.Final, all...))
}

// rollsBack blocks if a further run without rollback does not work after the event either.
func (t *Thread) rollsBack(ctx context.Context) error {
	const also = "a further run without rollback fails as well (%s)"
	if outcome.Is(t.first[acceptsFurther], reports.Failed) {
		return outcome.Blocked(also, "AS-RUN-1").ByRequirement("AS-RUN-1")
	}
	if outcome.Is(t.first[endsWithFurther], reports.Failed) {
		return outcome.Blocked(also, "AS-STATE-2").ByRequirement("AS-STATE-2")
	}
	o, err := t.reporting(ctx)
	if err != nil {
		return err
	}
	if t.isLong {
		o.Fresh = t.longMessages
	}
	rb, err := t.server.RollBackAs(ctx, agent.Plan{Moment: agent.HasStarted, Thread: t.Thread, Next: o})
	if err != nil && (rb == nil || !rb.Won() || !rb.Next.Complete()) {
		return err
	}
	t.rolled = rb
	return judge.NewRunIsPrompt(rb.Next.Final, rb.Next.Value(), rb.Prior.Value())
}

// isRolledBack returns a blocked outcome if no run was rolled back.
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

// completedRemain judges that the rollback has deleted only the run in progress.
func (t *Thread) completedRemain(ctx context.Context) error {
	if err := t.isRolledBack(); err != nil {
		return err
	}
	return common.Each(t.completed, func(g *agent.GraphRun) error {
		a, err := t.server.GetRun(ctx, t.owner(), g)
		if err != nil {
			return err
		}
		return judge.IsRun(a, g.Value())
	})
}

// stateIsOfNewRun does not judge the messages of runs that had completed before the rollback.
func (t *Thread) stateIsOfNewRun(context.Context) error {
	if err := t.isRolledBack(); err != nil {
		return err
	}
	others := t.AllExcept(append(slices.Clone(t.removed), t.rolled.Prior.GraphRun)...)
	state := t.rolled.After.State
	err := t.rolled.Prior.LeftIn(state, others...)
	if err == nil {
		err = judge.StateEndsWith(state, t.rolled.Next.Value())
	}
	if err == nil && len(t.completed) > 0 {
		err = judge.RepeatsNoInput(state, t.last()[0].Value())
	}
	return t.unlessRefused(state, err)
}
