package agent

import (
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// starting has the observations of a run whose start the suite waits for.
type starting struct {
	byState    bool               // the state may show a message of the run before the run ends
	run        *exchange.Response // the last GET of the run; nil if there was none
	notPending time.Time          // when its status was first seen to be other than pending
	isStarted  bool
	over       *exchange.Response // a state that shows that the run has ended, or nil
}

// awaitStart waits until a run has started. The run has started if the state shows its first message, or some time after
// its status has changed. If the server shows neither, awaitStart waits longer and the status must not be pending. A
// pending run has not started, except at servers that show runs as pending until they end.
func (s *Server) awaitStart(ctx context.Context, p *Progress) error {
	byState, err := s.showsEarly(ctx, p.Order)
	if err != nil {
		return err
	}
	seen := &starting{byState: byState}
	limit := p.Responded().Add(p.Order.Hold + s.RunTimeout())
	err = client.Repeat(ctx, firstLook, longestPause, limit, func() (bool, error) {
		err := s.lookForStart(ctx, p, seen)
		return seen.isStarted, err
	})
	if err != nil {
		return err
	}
	isOver := seen.over != nil || seen.run != nil && hasEnded(seen.run)
	wasPendingLate := p.begun.Sub(p.Responded()) > p.Order.Hold/2
	if isOver && wasPendingLate && !s.showsRunning.Load() {
		s.pendingToEnd.Store(true) // the next attempt does not wait for another status
	}
	return s.noteStart(ctx, p, seen)
}

// lookForStart reads the state and the status of a run once, and notes whether the run has started.
func (s *Server) lookForStart(ctx context.Context, p *Progress, seen *starting) error {
	if seen.byState {
		state, err := s.State(ctx, p.Thread.Owner, p.Thread)
		if err != nil {
			return err
		}
		if len(p.Wrote(state)) > 0 {
			p.Shown, seen.isStarted = state, true
			return nil
		}
	}
	run, err := s.GetRun(ctx, p.Thread.Owner, p.GraphRun)
	if err != nil {
		return err
	}
	seen.run = run
	isPendingToEnd := isPending(run) && s.pendingToEnd.Load() // another run was pending until it ended
	isWaiting := isPending(run) && !isPendingToEnd
	switch {
	case isPendingToEnd:
		p.begun = p.Response.Sent
	case isWaiting:
		p.begun = run.Sent
	}
	decidesByStatus := !seen.byState && !isPendingToEnd
	mayBeOver := !isWaiting || time.Since(p.Responded()) >= p.Order.Hold
	if decidesByStatus && mayBeOver && !hasEnded(run) {
		state, err := s.State(ctx, p.Thread.Owner, p.Thread)
		if err != nil {
			return err
		}
		if p.CompleteIn(state) { // its status is not one that known servers use, or stays pending
			seen.over, seen.isStarted = state, true
			return nil
		}
	}
	if isWaiting {
		return nil
	}
	if seen.notPending.IsZero() {
		seen.notPending = run.Ended()
	}
	moment := p.Order.Hold / 2 // for a state that shows messages early
	if hasChanged(p.Response, run) {
		moment = p.Order.Hold / 4
	}
	seen.isStarted = decidesByStatus || hasEnded(run) || time.Since(seen.notPending) >= moment
	return nil
}

// noteStart notes when a run that has started will end, or that it has ended. It returns an error if the run has not
// started.
func (s *Server) noteStart(ctx context.Context, p *Progress, seen *starting) error {
	run := seen.run
	switch {
	case !seen.isStarted:
		if err := s.StillQueued(ctx, p.GraphRun); err != nil {
			return err
		}
		s.NoteUnended()
		return judge.NotStarted(run)
	case seen.over != nil:
		p.ended = seen.over
		return nil
	case p.Shown != nil && p.CompleteIn(p.Shown):
		p.ended = p.Shown
		return nil
	case p.Shown != nil:
		p.Over = p.Shown.Ended().Add(p.Order.Hold + s.Slack())
		var err error
		run, err = s.GetRun(ctx, p.Thread.Owner, p.GraphRun)
		if err != nil {
			return err
		}
	default:
		p.Over = seen.notPending.Add(p.Order.Hold + s.Slack())
		if err := client.Sleep(ctx, min(s.Slack(), p.Order.Hold/8)); err != nil { // the run writes its message in this time
			return err
		}
	}
	if hasEnded(run) {
		p.ended = run
	}
	return nil
}

// showsEarly reports whether the state may show a message of the run before the run ends.
func (s *Server) showsEarly(ctx context.Context, o Order) (bool, error) {
	if !o.written || !s.judged {
		return o.written, nil
	}
	shown, err := s.try(ctx, EarlyWrite)
	return !shown.showsAtEnd, err
}
