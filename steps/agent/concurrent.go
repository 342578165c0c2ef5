package agent

import (
	"context"
	"sync"
)

const concurrentRuns = 5

// StartInTurn starts runs one after the other. Each has to be accepted.
func (s *Server) StartInTurn(ctx context.Context, t *Thread, o Order) ([]*GraphRun, error) {
	var all []*GraphRun
	for range concurrentRuns {
		g, err := s.Post(ctx, t.Owner, t, o)
		if err != nil {
			return nil, err
		}
		if err := g.Accepted(); err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, nil
}

// StartAtOnce leaves out runs that were refused: a target may refuse some of many at the same time.
func (s *Server) StartAtOnce(ctx context.Context, t *Thread, o Order) ([]*GraphRun, error) {
	var wait sync.WaitGroup
	started, errs := make([]*GraphRun, concurrentRuns), make([]error, concurrentRuns)
	for i := range concurrentRuns {
		wait.Go(func() { // each counts its run on a thread of its own, which is the same at the target
			same := *t
			started[i], errs[i] = s.Post(ctx, t.Owner, &same, o)
		})
	}
	wait.Wait()
	var all []*GraphRun
	for i, g := range started {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if g.ID != "" {
			all = append(all, g)
		}
	}
	if len(all) == 0 {
		return nil, started[0].Accepted()
	}
	return all, nil
}

// EachInProgress tells whether every run was surely in progress until the next one, or each of those at once, had
// been accepted.
func EachInProgress(runs []*GraphRun, atOnce bool) bool {
	for i, g := range runs {
		for j, other := range runs {
			if (atOnce || j == i-1) && !g.Answered().Before(other.NotOverBefore()) {
				return false
			}
		}
	}
	return true
}
