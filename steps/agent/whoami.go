package agent

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// Introduction is what a run said about who had started it.
type Introduction struct {
	Of     target.Caller
	Text   string
	Answer *client.Answer
}

// Whoami has the caller ask a run on a thread of its own.
func (s *Server) Whoami(ctx context.Context, who target.Caller, hold time.Duration) (Introduction, error) {
	t, err := s.NewThread(ctx, who)
	if err != nil {
		return Introduction{}, outcome.AsPrecondition(err)
	}
	g, err := s.Start(ctx, t, Order{Words: "whoami", Hold: hold})
	if err != nil {
		return Introduction{}, outcome.AsPrecondition(err)
	}
	state, err := s.Completed(ctx, g)
	if err != nil {
		return Introduction{}, outcome.AsPrecondition(err)
	}
	rest, _ := g.After(MessagesOf(state))
	return Introduction{who, rest[len(rest)-1].Text, state}, nil
}
