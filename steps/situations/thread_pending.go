package situations

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// sendDuringJoin starts a run, joins it, and sends a second run without multitask_strategy before the first has
// completed. The interface does not define the effect on the two runs. A run has completed if the state later shows its
// messages.
func (t *Thread) sendDuringJoin(ctx context.Context) error {
	o, err := t.reporting(ctx) // before the first run, because testing whether the graph can report may take a run
	if err != nil {
		return err
	}
	first, second, err := t.sendInTime(ctx, o)
	if err != nil {
		return err
	}
	accepted := []*agent.GraphRun{first}
	if second.ID != "" {
		accepted, t.queued = append(accepted, second), second
		a, err := t.retrieveWhile(ctx, second, first)
		if err != nil {
			return err
		}
		if a != nil {
			t.found = judge.IsRun(a, second.Value())
		}
		if err := t.retrieveAsOther(ctx, second); err != nil {
			return err
		}
		if err := t.readWhile(ctx, second, first); err != nil {
			return err
		}
	}
	var state *exchange.Response
	for _, g := range slices.Backward(accepted) {
		state, err = t.server.Await(ctx, g)
		if err != nil {
			return err
		}
	}
	t.completed = completedIn(state, accepted)
	if areMixed(state, t.completed, accepted) {
		return outcome.Inapplicable("situations", "on this target, a plain run was executed at the same time as another one")
	}
	return nil
}

// sendInTime sends the two runs. If the first may have ended before the second was sent, it tries again with more time.
func (t *Thread) sendInTime(ctx context.Context, o agent.Order) (first, second *agent.GraphRun, err error) {
	hold := 4 * min(t.Target.Config.Patience, time.Second)
	for attempt := range agent.Attempts {
		if attempt > 0 {
			t.Thread, err = t.server.NewThread(ctx, t.owner())
			if err != nil {
				return nil, nil, err
			}
		}
		first, second, err = t.sendBehind(ctx, hold, o)
		if err != nil || second.Response.Sent.Before(first.NotOverBefore()) {
			return first, second, err
		}
		hold = agent.Longer(first.Order.Hold, second.Response.Sent.Sub(first.Responded()))
	}
	return first, second, nil
}

// sendBehind sends a run while a join of another run is pending.
func (t *Thread) sendBehind(ctx context.Context, hold time.Duration, o agent.Order) (first, second *agent.GraphRun, err error) {
	first, err = t.server.Start(ctx, t.Thread, agent.Order{Waits: true, Hold: hold})
	if err != nil {
		return nil, nil, err
	}
	if err := t.joinFor(ctx, first); err != nil {
		return nil, nil, err
	}
	o.Hold = first.Order.Hold // longer than the rest of the first run, so that a join that waits only for the first run returns too early
	second, err = t.server.TryPost(ctx, t.owner(), t.Thread, o)
	return first, second, err
}

// retrieveWhile retrieves a run that was accepted while another run was in progress. It returns the last response before
// the end of the other run, or nil. It repeats a refused GET, because a read within patience may not find the run.
func (t *Thread) retrieveWhile(ctx context.Context, g, inProgress *agent.GraphRun) (*exchange.Response, error) {
	var last *exchange.Response
	const first, longest = 20 * time.Millisecond, 50 * time.Millisecond
	until := inProgress.NotOverBefore()
	err := client.Repeat(ctx, first, longest, until, func() (bool, error) {
		a, err := t.server.GetRun(ctx, t.owner(), g)
		if err != nil {
			return false, err
		}
		isSettled := a.OK() || a.Sent.After(g.Responded().Add(t.Target.Config.Patience))
		if isSettled && a.Ended().Before(until) {
			last = a
		}
		return a.OK(), nil
	})
	return last, err
}

// retrieveAsOther retrieves a run as another user, because some servers store pending runs separately from runs with an
// owner.
func (t *Thread) retrieveAsOther(ctx context.Context, g *agent.GraphRun) error {
	if len(t.Target.Config.Users) < 2 {
		return nil
	}
	other, err := t.caller(ctx, target.TheOtherUser)
	if err != nil {
		return nil // it blocks the check of the thread
	}
	a, err := t.server.GetRun(ctx, other, g)
	if err != nil {
		return err
	}
	t.shown = judge.IsError(a, "")
	return nil
}

// readWhile reads the state after patience, if the run is then still pending behind another one. The rules about the
// record judge the response.
func (t *Thread) readWhile(ctx context.Context, g, inProgress *agent.GraphRun) error {
	at := g.Responded().Add(t.Target.Config.Patience + time.Millisecond)
	if !at.Before(inProgress.NotOverBefore()) {
		return nil
	}
	if err := client.Sleep(ctx, time.Until(at)); err != nil {
		return err
	}
	_, err := t.server.State(ctx, t.owner(), t.Thread)
	return err
}

// completedIn returns the runs that have written all their messages, in the order of the state. If there are none, it
// returns the last accepted run, because that run must complete.
func completedIn(state *exchange.Response, accepted []*agent.GraphRun) (completed []*agent.GraphRun) {
	writers := agent.Writers(messages.Of(state), accepted)
	for _, g := range accepted {
		wrote := 0
		for _, writer := range writers {
			if writer == g {
				wrote++
			}
		}
		if wrote >= g.Value().Outputs {
			completed = append(completed, g)
		}
	}
	if len(completed) == 0 {
		return accepted[len(accepted)-1:]
	}
	slices.SortStableFunc(completed, func(a, b *agent.GraphRun) int { return len(b.Wrote(state)) - len(a.Wrote(state)) })
	return completed
}

// areMixed reports whether a message of another run follows the input of the last completed run.
func areMixed(state *exchange.Response, completed, accepted []*agent.GraphRun) bool {
	last := completed[len(completed)-1]
	return slices.ContainsFunc(last.Wrote(state), func(m messages.Message) bool {
		return slices.ContainsFunc(accepted, func(g *agent.GraphRun) bool {
			return g != last && strings.Contains(m.Text, g.Text())
		})
	})
}
