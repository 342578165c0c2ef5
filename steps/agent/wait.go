package agent

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// Runs that wait are given times that a slow target cannot miss by its slowness alone: at least minHold, and many
// times what answers took lately. A scenario that lost its race tries again with twice the time.
const (
	minHold  = 400 * time.Millisecond
	maxHold  = 10 * time.Second
	Attempts = 3
)

// ReadState reads a thread's state, again and again, until it satisfies the condition or the time is over. It
// returns the last one that was read.
func (s *Server) ReadState(ctx context.Context, t *Thread, until time.Time, condition func(*client.Answer) bool) (*client.Answer, bool, error) {
	for wait := 5 * time.Millisecond; ; wait = min(wait*3/2, 250*time.Millisecond) {
		a, err := s.State(ctx, t.Owner, t)
		if err != nil {
			return nil, false, err
		}
		if condition(a) {
			return a, true, nil
		}
		if time.Now().Add(wait).After(until) {
			return a, false, nil
		}
		if err := client.Sleep(ctx, wait); err != nil {
			return nil, false, err
		}
	}
}

// Await returns the state once it holds what the run was to write and the run is over. It trusts neither join nor
// state alone: a join that answers too early, too late or never, and a state that lacks something, must fail the
// requirements about them and no others. When the state does not come to hold the answer, the last one is returned
// and the run is not complete.
func (s *Server) Await(ctx context.Context, g *GraphRun) (*client.Answer, error) {
	limit := g.Answered().Add(g.Order.Hold + s.target.Config.Timeouts.Run)
	waiting := s.joinAside(ctx, g)
	defer waiting.Leave()

	soon := g.Answered().Add(g.Order.Hold)
	if waiting.asked {
		soon = soon.Add(s.agents.Pace.Slack()) // by then a join has answered, or it is better to look at the state
	}
	if err := waiting.OrUntil(ctx, soon); err != nil {
		return nil, err
	}
	until := limit
	if waiting.Over() {
		until = time.Now().Add(max(time.Until(g.NotOverBefore()), 0) + s.agents.Pace.Patience())
	}
	early := waiting.Over() && time.Now().Before(g.NotOverBefore())
	state, complete, err := s.ReadState(ctx, g.Thread, until, g.CompleteIn)
	if err != nil {
		return nil, err
	}
	g.Complete, g.final = complete, state
	if complete && waiting.Over() && g.plain() {
		s.agents.Pace.Turnarounds.add(time.Since(g.Answer.Sent))
	}
	return state, s.surelyOver(ctx, waiting, early)
}

// surelyOver waits for the end of a run that has written all: a moment lies between the two, in which the thread
// is still busy.
func (s *Server) surelyOver(ctx context.Context, waiting *Joining, early bool) error {
	if !waiting.asked || early {
		return client.Sleep(ctx, s.agents.Pace.Slack())
	}
	if err := waiting.OrUntil(ctx, time.Now().Add(s.agents.Pace.Patience())); err != nil {
		return err
	}
	if !waiting.Over() {
		s.agents.learned.joinHangs.Store(true)
	}
	return nil
}

// Completed is Await for a run that a scenario needs whole.
func (s *Server) Completed(ctx context.Context, g *GraphRun) (*client.Answer, error) {
	state, err := s.Await(ctx, g)
	if err != nil {
		return nil, err
	}
	return state, HoldsAnswered(state, g)
}
