package agent

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

// isPending and hasEnded tell what the status of a run says, where there is one. The interface shows no statuses of
// runs: words that are not known from agent servers tell nothing.
func isPending(run *client.Answer) bool { return run.OK() && run.Get("status").String() == "pending" }

func hasEnded(run *client.Answer) bool {
	ends := []string{"success", "error", "timeout", "interrupted"}
	return run.OK() && slices.Contains(ends, run.Get("status").String())
}

// queuesRuns skips where a run with the strategy enqueue, a vendor extension, does not wait for the one before it. Where
// it does, both complete in their order, and the second not before the first could.
func (s *Server) queuesRuns(ctx context.Context) error {
	_, err := shared.Get(ctx, s.maker, "a run behind another one", func(ctx context.Context) (bool, error) {
		first, err := s.InProgress(ctx, JustStarted, 0)
		if err != nil {
			return false, err
		}
		second, err := s.behind(ctx, first)
		if err != nil {
			return false, err
		}
		earliest := first.NotOverBefore().Add(second.Order.Hold)
		limit := second.Answered().Add(first.Order.Hold + second.Order.Hold + 2*s.target.Config.Timeouts.Run)
		state, complete, err := s.ReadState(ctx, first.Thread, limit, second.CompleteIn)
		if err != nil {
			return false, err
		}
		if !complete || state.Came().Before(earliest) || HoldsOnly(state, first.GraphRun, second.GraphRun) != nil {
			return false, noQueue()
		}
		return true, nil
	})
	return err
}

func noQueue() error {
	return outcome.Inapplicable("multitask_strategy enqueue", "the target does not queue a run behind another one by "+
		"multitask_strategy enqueue, a vendor extension that is not part of the interface")
}

func (s *Server) behind(ctx context.Context, first *Progress) (*Progress, error) {
	g, err := s.Post(ctx, first.Thread.Owner, first.Thread, Order{Hold: first.Order.Hold, Strategy: "enqueue"})
	if err != nil {
		return nil, err
	}
	if g.ID == "" {
		return nil, noQueue()
	}
	return &Progress{GraphRun: g, ahead: first.GraphRun, Over: first.Over.Add(g.Order.Hold)}, nil
}
