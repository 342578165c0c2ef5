package situations

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// ThreadEvent is an event that can happen on a thread.
type ThreadEvent struct {
	Name    string // as the features name it: "a thread on which NAME"
	Removes bool   // at least one run was rolled back
	Fails   bool   // no run has completed with an answer

	needs       string // a requirement that the claim of the target must include; for an event without it, the core or rollback is enough
	happen      func(t *Thread, ctx context.Context) error
	afterUpdate bool // the thread is at the agent server of a deployment that was updated
	hasMetadata bool // the thread was created with metadata
}

// longHold is the time after which a run is rolled back late: some servers stop looking for rollbacks after a second.
const longHold = 1600 * time.Millisecond

// ThreadEvents has all events, in the order of the features.
var ThreadEvents = []ThreadEvent{
	{Name: "a run has completed", happen: (*Thread).complete},
	{Name: "a run has failed", Fails: true, happen: (*Thread).fail},
	{Name: "a run has used a tool", happen: (*Thread).useTool},
	{Name: "five runs with equal messages have completed", happen: (*Thread).completeEqual},
	{Name: "metadata was set", happen: (*Thread).complete, hasMetadata: true},
	{Name: "a client has dropped its join", happen: (*Thread).dropJoin},
	{Name: "a plain run was sent while a join was pending", happen: (*Thread).sendDuringJoin},
	{Name: "invalid runs were refused", happen: (*Thread).refuseInvalid},
	{Name: "runs of an unknown assistant were refused", happen: (*Thread).refuseAssistant},
	{Name: "runs of another user were refused", needs: "AS-AUTHZ-2", happen: refuse(target.TheOtherUser)},
	{Name: "runs without credentials were refused", needs: "AS-AUTH-1", happen: refuse(target.NoCredentials)},
	{Name: "runs with an unknown token were refused", needs: "AS-AUTH-2", happen: refuse(target.UnknownToken)},
	{Name: "requests of others were refused during a run", needs: "AS-AUTHZ-2", happen: (*Thread).refuseDuringRun},
	{Name: "another user has created eleven threads since", needs: "AS-AUTHZ-3", happen: (*Thread).otherCreatesThreads},
	{Name: "a run was rolled back as soon as it was accepted", Removes: true, happen: rollBack(agent.JustStarted, nil)},
	{Name: "a long run was rolled back", Removes: true, happen: (*Thread).rollBackLong},
	{Name: "a run was rolled back after two seconds", Removes: true,
		happen: rollBack(agent.JustStarted, (*Thread).waitLong)},
	{Name: "a run was rolled back while a join was pending", Removes: true,
		happen: rollBack(agent.HasStarted, (*Thread).joinFor)},
	{Name: "a run was rolled back after its join was dropped", Removes: true,
		happen: (*Thread).rollBackAfterDrop},
	{Name: "a run was rolled back by one with the same input", Removes: true, happen: (*Thread).rollBackBySame},
	{Name: "a run was rolled back by one that failed", Removes: true, Fails: true, happen: (*Thread).rollBackByFailing},
	{Name: "several runs were rolled back in turn", Removes: true, happen: (*Thread).rollBackInTurn},
	{Name: "a run has completed since the deployment was updated", needs: "E2E-1", happen: (*Thread).complete, afterUpdate: true},
}

// run runs the graph as the user, and records the run as the last completed one.
func (t *Thread) run(ctx context.Context, o agent.Order) error {
	g, err := t.server.Run(ctx, t.Thread, o)
	if err != nil {
		return err
	}
	t.completed = append(t.completed, g)
	return nil
}

func (t *Thread) complete(ctx context.Context) error { return t.run(ctx, agent.Order{}) }

func (t *Thread) useTool(ctx context.Context) error {
	return t.run(ctx, agent.Order{Words: agent.ToolCall})
}

func (t *Thread) fail(ctx context.Context) error {
	g, err := t.server.Start(ctx, t.Thread, agent.Order{Words: agent.Fail})
	if err != nil {
		return err
	}
	_, err = t.server.Await(ctx, g)
	return err
}

// completeEqual completes runs that have a message in common. The first run has the most messages.
func (t *Thread) completeEqual(ctx context.Context) error {
	const equal, other = "The same message in each run.", "A message of the first run."
	for i := range 5 {
		o := agent.Order{Before: []string{equal}}
		if i == 0 {
			o.Before = append(o.Before, slices.Repeat([]string{other}, 8)...)
		}
		if err := t.run(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// dropJoin drops the connection of a pending join. The interface does not state that the run then completes.
func (t *Thread) dropJoin(ctx context.Context) error {
	g, err := t.server.Start(ctx, t.Thread, agent.Order{Waits: true})
	if err != nil {
		return err
	}
	if err := t.joinAndLeave(ctx, g); err != nil {
		return err
	}
	if _, err := t.server.Await(ctx, g); err != nil {
		return err
	}
	if !g.Complete() {
		return outcome.Inapplicable("situations", "on this target, a run does not complete after its join was dropped")
	}
	t.completed = append(t.completed, g)
	return nil
}

// KeepsRuns returns an error if the server does not complete a run whose join was dropped.
func (s *Situations) KeepsRuns(ctx context.Context) error {
	_, err := shared.Get(ctx, s.Agents.Maker(), "a run whose join was dropped", func(ctx context.Context) (bool, error) {
		server, err := s.Agents.AgentServer(ctx)
		if err != nil {
			return false, err
		}
		t := &Thread{Situations: s, server: server}
		t.Thread, err = server.NewThread(ctx, t.owner())
		if err != nil {
			return false, err
		}
		return true, t.dropJoin(ctx)
	})
	return err
}

// rollBackAfterDrop rolls back a run after its join was dropped, if such runs stay in progress.
func (t *Thread) rollBackAfterDrop(ctx context.Context) error {
	if err := t.KeepsRuns(ctx); err != nil {
		return err
	}
	return rollBack(agent.HasStarted, (*Thread).joinAndLeave)(t, ctx)
}

// joinAndLeave joins a run and closes the connection while the join is pending.
func (t *Thread) joinAndLeave(ctx context.Context, g *agent.GraphRun) error {
	join := t.server.JoinNow(ctx, g)
	defer join.Leave()
	return join.OrUntil(ctx, time.Now().Add(t.pause(g)))
}

// joinFor joins a run in the background, so that the join is pending when the run is rolled back. It is canceled after
// all checks of the thread.
func (t *Thread) joinFor(ctx context.Context, g *agent.GraphRun) error {
	join := t.server.JoinNow(ctx, g)
	t.joins = append(t.joins, join)
	return join.OrUntil(ctx, time.Now().Add(t.pause(g)))
}

// pause returns the time to wait until a join of the run has certainly arrived at the server, long before the run ends.
func (t *Thread) pause(g *agent.GraphRun) time.Duration { return min(t.Agents.Slack(), g.Order.Hold/4) }

// otherCreatesThreads creates enough threads of another user to fill a page of ten.
func (t *Thread) otherCreatesThreads(ctx context.Context) error {
	if err := t.complete(ctx); err != nil {
		return err
	}
	other, err := t.caller(ctx, target.TheOtherUser)
	if err != nil {
		return err
	}
	for range 11 {
		if _, err := t.server.NewThread(ctx, other); err != nil {
			return err
		}
	}
	return nil
}

// rollBack returns the event that a run is rolled back at the moment. before is called while the run is in progress.
func rollBack(moment string, before func(*Thread, context.Context, *agent.GraphRun) error) func(*Thread, context.Context) error {
	return func(t *Thread, ctx context.Context) error {
		plan := agent.Plan{Moment: moment, Thread: t.Thread}
		if before != nil {
			plan.Before = func(ctx context.Context, p *agent.Progress) error { return before(t, ctx, p.GraphRun) }
		}
		return t.rollBackAs(ctx, plan)
	}
}

func (t *Thread) rollBackAs(ctx context.Context, plan agent.Plan) error {
	rb, err := t.server.RollBackAs(ctx, plan)
	if err != nil {
		return err
	}
	t.completed = []*agent.GraphRun{rb.Next}
	t.removed = []*agent.GraphRun{rb.Prior.GraphRun}
	return nil
}

// rollBackLong rolls back a run with long messages after it has written some, because some servers store long values
// elsewhere. The next run with rollback on the thread also has long messages, because some servers read only the
// beginning of a request.
func (t *Thread) rollBackLong(ctx context.Context) error {
	t.isLong = true
	return t.rollBackAs(ctx, agent.Plan{Moment: agent.HasStarted, Thread: t.Thread, Prior: agent.Order{Fresh: t.longMessages}})
}

// longMessages returns messages that every server must accept. Together they are longer than common limits of a request.
func (t *Thread) longMessages() []string {
	text := strings.Repeat("Every good boy does fine. ", 100)
	return []string{text + t.Target.Name("long"), text + t.Target.Name("long")}
}

// waitLong waits until the run has been in progress for longHold.
func (t *Thread) waitLong(ctx context.Context, g *agent.GraphRun) error {
	return client.Sleep(ctx, time.Until(g.Responded().Add(longHold)))
}

// replace starts a run and then another run with rollback, which is not judged. If the first run may have ended before
// the second was accepted, it tries again on a new thread with a longer hold.
func (t *Thread) replace(ctx context.Context, next func(prior *agent.Progress) agent.Order) (*agent.GraphRun, error) {
	var wanted time.Duration
	for range agent.Attempts {
		p, err := t.server.InProgressOn(ctx, t.Thread, agent.HasStarted, agent.Order{Hold: wanted})
		if err != nil {
			return nil, err
		}
		o := next(p)
		o.Strategy = agent.RollbackStrategy
		g, err := t.server.Start(ctx, t.Thread, o)
		if err != nil {
			return nil, err
		}
		if g.Responded().Before(p.Until()) {
			_, err := t.server.Await(ctx, g)
			t.removed = append(t.removed, p.GraphRun)
			return g, err
		}
		wanted = p.AfterLoss()
		if _, err := t.server.Await(ctx, g); err != nil {
			return nil, err
		}
		t.Thread, err = t.server.NewThread(ctx, t.owner())
		if err != nil {
			return nil, err
		}
	}
	return nil, lost()
}

func lost() error {
	return outcome.Inconclusive("the run ended before the next request was accepted, in %d attempts", agent.Attempts)
}

func (t *Thread) rollBackBySame(ctx context.Context) error {
	g, err := t.replace(ctx, func(p *agent.Progress) agent.Order {
		o := p.Order
		o.Text = p.Text()
		return o
	})
	if err != nil {
		return err
	}
	t.completed = []*agent.GraphRun{g}
	return nil
}

func (t *Thread) rollBackByFailing(ctx context.Context) error {
	_, err := t.replace(ctx, func(*agent.Progress) agent.Order { return agent.Order{Words: agent.Fail} })
	return err
}

// rollBackInTurn starts several runs with rollback, each while the previous one is in progress.
func (t *Thread) rollBackInTurn(ctx context.Context) error {
	var wanted time.Duration
	for range agent.Attempts {
		all, err := t.server.StartInTurn(ctx, t.Thread, wanted)
		if err != nil {
			return err
		}
		if last := len(all.Runs) - 1; all.InProgress {
			t.completed, t.removed = all.Runs[last:], all.Runs[:last]
			return nil
		}
		wanted = agent.Longer(all.Runs[0].Order.Hold, time.Since(all.Runs[0].Responded()))
	}
	return lost()
}
