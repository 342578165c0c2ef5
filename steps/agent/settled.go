package agent

import (
	"context"
	"slices"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// ReadCompleted reads the state of a thread. If it lacks messages of one of the completed runs, it is read again within
// patience, since a read may show the thread before the run had completed (section 4). It returns the last state.
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
