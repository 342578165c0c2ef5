package agent

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/client"
)

// Joining is a join that waits beside the scenario.
type Joining struct {
	asked  bool
	Sent   time.Time
	done   chan struct{}
	cancel context.CancelFunc

	Answer *client.Answer // once done is closed
	Err    error
	Ended  time.Time
}

// joinAside begins to join the run as its owner, unless joins were seen to hang.
func (s *Server) joinAside(ctx context.Context, g *GraphRun) *Joining {
	if s.agents.learned.joinHangs.Load() {
		return &Joining{done: make(chan struct{}), cancel: func() {}}
	}
	return s.JoinNow(ctx, g)
}

// JoinNow begins to join the run as its owner.
func (s *Server) JoinNow(ctx context.Context, g *GraphRun) *Joining {
	j := &Joining{asked: true, Sent: time.Now(), done: make(chan struct{})}
	ctx, j.cancel = context.WithCancel(ctx)
	go func() {
		defer close(j.done)
		j.Answer, j.Err = s.join(ctx, g.Thread.Owner, g)
		j.Ended = time.Now()
		if j.Answer != nil { // the request may have been sent more than once
			j.Sent, j.Ended = j.Answer.Sent, j.Answer.Sent.Add(j.Answer.Took)
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
