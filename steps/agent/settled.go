package agent

import (
	"context"
	"slices"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// ReadCompleted reads the state of a thread and returns the last state. If the state lacks messages of a completed run,
// ReadCompleted reads it again within patience, because a read may show the thread from before the end of the run
// (section 4).
func (s *Server) ReadCompleted(ctx context.Context, t *Thread, runs ...*GraphRun) (*exchange.Response, error) {
	var completed time.Time
	for _, g := range runs {
		seen := time.Now()
		if g.Final != nil {
			seen = g.Final.Ended()
		}
		completed = client.Later(completed, seen)
	}
	state, _, err := s.ReadState(ctx, t, completed.Add(s.target.Config.Patience), func(a *exchange.Response) bool {
		return !slices.ContainsFunc(runs, func(g *GraphRun) bool { return !g.CompleteIn(a) })
	})
	return state, err
}
