package agent

import (
	"context"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
)

// What the status of a run tells, where there is one. The interface shows no statuses of runs: words that are not
// known from agent servers tell nothing.
const (
	statusPending = "pending"
	statusRunning = "running"
	statusEnded   = "ended"
)

// status tells what the status of a run is, "" where it cannot be retrieved.
func (s *Server) status(ctx context.Context, g *GraphRun) (string, error) {
	a, err := s.GetRun(ctx, g.Thread.Owner, g)
	if err != nil {
		return "", err
	}
	return statusOf(a), nil
}

func statusOf(a *client.Answer) string {
	if !a.OK() {
		return ""
	}
	switch status := a.Get("status").String(); status {
	case "success", "error", "timeout", "interrupted":
		return statusEnded
	default:
		return status
	}
}

// queuesRuns tells whether a run with the strategy enqueue, a vendor extension, waits for the one before it. A target
// may treat the value as its own default. A moment later the first goes on by its own status and the second is pending;
// where the statuses do not say that, both complete in their order, and the second not before the first could.
func (s *Server) queuesRuns(ctx context.Context) (bool, error) {
	return learn(ctx, s.agents, "a run behind another one", func(ctx context.Context) (bool, error) {
		first, err := s.startAlone(ctx, s.target.Owner(), Order{Waits: true})
		if err != nil {
			return false, err
		}
		second, err := s.Post(ctx, first.Thread.Owner, first.Thread, Order{Strategy: "enqueue"})
		if err != nil || second.ID == "" {
			return false, err
		}
		if err := client.Sleep(ctx, min(s.agents.Slack(), first.Order.Hold/8)); err != nil {
			return false, err
		}
		ahead, err := s.status(ctx, first)
		if err != nil {
			return false, err
		}
		behind, err := s.status(ctx, second)
		if err != nil || ahead == statusRunning && behind == statusPending {
			return err == nil, err
		}
		limit := second.Answered().Add(first.Order.Hold + 2*s.target.Config.Timeouts.Run)
		state, complete, err := s.ReadState(ctx, first.Thread, limit, second.CompleteIn)
		if err != nil || !complete || state.Came().Before(first.NotOverBefore()) {
			return false, err
		}
		return HoldsOnly(state, first, second) == nil, nil
	})
}

func noQueue() error {
	return outcome.Inapplicable("multitask_strategy enqueue", "the target does not queue a run behind another one by "+
		"multitask_strategy enqueue, a vendor extension that is not part of the interface")
}

// behind starts a second run that waits for the first.
func (s *Server) behind(ctx context.Context, first *Progress) (*Progress, error) {
	g, err := s.Post(ctx, first.Thread.Owner, first.Thread, Order{Hold: first.Order.Hold, Strategy: "enqueue"})
	if err != nil {
		return nil, err
	}
	if g.ID == "" {
		return nil, noQueue()
	}
	p := &Progress{GraphRun: g, ahead: first.GraphRun, Until: first.Until, Over: first.Over.Add(g.Order.Hold)}
	if end := g.NotOverBefore(); end.Before(p.Until) {
		p.Until = end
	}
	return p, nil
}
