package agent

import (
	"context"
	"errors"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// Attempts is how often a scenario tries to win a race, each time with more time.
const Attempts = 3

// firstLook and longestPause are the times between looks at a run in progress.
const firstLook, longestPause = 5 * time.Millisecond, 250 * time.Millisecond

// ReadState reads a thread's state, again and again, until it satisfies the condition or the time is over. It
// returns the last one that was read.
func (s *Server) ReadState(ctx context.Context, t *Thread, until time.Time, condition func(*client.Answer) bool) (a *client.Answer, done bool, err error) {
	err = client.Repeat(ctx, firstLook, longestPause, until, func() (bool, error) {
		if a, err = s.State(ctx, t.Owner, t); err == nil {
			done = condition(a)
		}
		return done, err
	})
	return a, done, err
}

// Await returns the state once it holds what the run was to write and the run is over. It trusts neither join nor
// state alone: a join that answers too early, too late or never, and a state that lacks something, must fail the
// requirements about them and no others. When the state does not come to hold the answer, the last one is returned
// and the run is not complete. A run that is still in the queue of the server blocks.
func (s *Server) Await(ctx context.Context, g *GraphRun) (*client.Answer, error) {
	limit := g.Answered().Add(g.Order.Hold + s.target.Config.Timeouts.Run)
	waiting := joinAside(ctx, s, g)
	defer waiting.Leave()

	soon := g.Answered().Add(g.Order.Hold)
	if waiting.asked {
		soon = soon.Add(s.agents.Slack()) // by then a join has answered, or it is better to look at the state
	}
	if err := waiting.OrUntil(ctx, soon); err != nil {
		return nil, err
	}
	early := waiting.Over() && time.Now().Before(g.NotOverBefore())
	state, _, err := s.ReadState(ctx, g.Thread, limit, func(a *client.Answer) bool {
		return g.CompleteIn(a) || waiting.Over() && time.Now().After(later(waiting.Ended, g.NotOverBefore()).Add(s.agents.Patience()))
	})
	if err != nil {
		return nil, err
	}
	complete := g.CompleteIn(state)
	g.Complete, g.final, g.Joined = complete, state, !waiting.Unanswered()
	if complete {
		s.agents.runs.over(g)
	} else if !g.Joined {
		if err := s.StillQueued(ctx, g); err != nil {
			return nil, err
		}
	}
	return state, waiting.surelyOver(ctx, s.agents, early)
}

// surelyOver waits for the end of a run that has written all: a moment lies between the two, in which the thread
// is still busy.
func (j *Joining) surelyOver(ctx context.Context, a *Agents, early bool) error {
	if !j.asked || early {
		return client.Sleep(ctx, a.Slack())
	}
	if err := j.OrUntil(ctx, time.Now().Add(a.Patience())); err != nil {
		return err
	}
	if j.Over() {
		a.lateJoins.Store(0)
	} else {
		a.lateJoins.Add(1)
	}
	return nil
}

// SurelyOver waits for the end of a run that has written all.
func (s *Server) SurelyOver(ctx context.Context, g *GraphRun) error {
	waiting := joinAside(ctx, s, g)
	defer waiting.Leave()
	s.agents.runs.over(g)
	return waiting.surelyOver(ctx, s.agents, false)
}

// Run starts a run as [Server.Start] does, and waits for its answer, which a scenario needs.
func (s *Server) Run(ctx context.Context, t *Thread, o Order) (*GraphRun, error) {
	g, err := s.Start(ctx, t, o)
	if err != nil {
		return nil, err
	}
	state, err := s.Await(ctx, g)
	if err != nil {
		return nil, err
	}
	return g, HoldsAnswered(state, g)
}

// Joining is a join that waits beside the scenario.
type Joining struct {
	asked  bool
	begun  time.Time
	done   chan struct{}
	cancel context.CancelFunc

	// These are to be read only where Over tells that the join has ended.
	Answer *client.Answer
	Err    error
	Ended  time.Time
}

// joinsHang tells whether joins are not answered although the run is over. One that is late may be the exception.
func (as *Agents) joinsHang() bool { return as.lateJoins.Load() > 1 }

// joinAside begins to join the run as its owner, unless joins were seen to hang.
func joinAside(ctx context.Context, s *Server, g *GraphRun) *Joining {
	if s.agents.joinsHang() {
		return &Joining{done: make(chan struct{}), cancel: func() {}}
	}
	return s.JoinNow(ctx, g)
}

// JoinNow begins to join the run as its owner.
func (s *Server) JoinNow(ctx context.Context, g *GraphRun) *Joining {
	j := &Joining{asked: true, begun: time.Now(), done: make(chan struct{})}
	ctx, j.cancel = context.WithCancel(ctx)
	go func() {
		defer close(j.done)
		j.Answer, j.Err = s.Join(ctx, g.Thread.Owner, g)
		j.Ended = time.Now()
		if j.Answer != nil {
			j.Ended = j.Answer.Came()
		}
	}()
	return j
}

// Over tells whether the join has ended, with an answer or without.
func (j *Joining) Over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// Sent is when the request was sent. It may have been sent more than once; the last time counts, once it was answered.
func (j *Joining) Sent() time.Time {
	if j.Over() && j.Answer != nil {
		return j.Answer.Sent
	}
	return j.begun
}

// Unanswered tells whether there was no answer in the time of the request, or there is none yet.
func (j *Joining) Unanswered() bool {
	var none *client.NoAnswer
	return !j.Over() || errors.As(j.Err, &none) && none.Timeout
}

// OrUntil waits until the join has ended, at most until then.
func (j *Joining) OrUntil(ctx context.Context, then time.Time) error {
	timer := time.NewTimer(time.Until(then))
	defer timer.Stop()
	select {
	case <-j.done:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// Leave gives the join up and returns when nothing of it is left.
func (j *Joining) Leave() {
	j.cancel()
	if j.asked {
		<-j.done
	}
}
