package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// Attempts is the number of times that a scenario tries to win a race, each time with more time.
const Attempts = 3

// firstLook and longestPause are the times between looks at a run in progress.
const firstLook, longestPause = 5 * time.Millisecond, 250 * time.Millisecond

// ReadState reads a thread's state until it satisfies the condition or the time has passed. It returns the last state.
func (s *Server) ReadState(
	ctx context.Context, t *Thread, until time.Time, condition func(*exchange.Response) bool,
) (a *exchange.Response, done bool, err error) {
	err = client.Repeat(ctx, firstLook, longestPause, until, func() (bool, error) {
		if a, err = s.State(ctx, t.Owner, t); err == nil {
			done = condition(a)
		}
		return done, err
	})
	return a, done, err
}

// Await joins a run, waits until it has ended and the state contains its messages, and returns the last state. It relies
// on both the join and the state: a join that returns too early, too late or never must fail only the requirements about
// joins, and missing messages only those about the state. Await returns a blocked outcome if the run has not ended in
// time, or if the graph does not understand a word of its order.
func (s *Server) Await(ctx context.Context, g *GraphRun) (*exchange.Response, error) {
	state, err := s.awaitThen(ctx, g, func(context.Context) error { return nil })
	if err != nil || g.Order.trial {
		return state, err
	}
	return state, s.effective(ctx, g)
}

// awaitThen is [Server.Await] with a callback. If the join returns 2xx before the suite begins to read the state, it
// calls onJoin.
func (s *Server) awaitThen(
	ctx context.Context, g *GraphRun, onJoin func(context.Context) error,
) (*exchange.Response, error) {
	limit := g.Responded().Add(g.Thread.holdsBefore(g) + g.Order.Hold + s.RunTimeout())
	join := s.JoinNow(ctx, g)
	defer join.Leave()
	// If the join has not returned by then, the state decides.
	if err := join.OrUntil(ctx, g.Responded().Add(g.Order.Hold+s.Slack())); err != nil {
		return nil, err
	}
	if join.succeeded() {
		if err := onJoin(ctx); err != nil {
			return nil, err
		}
	}
	state, _, err := s.ReadState(ctx, g.Thread, limit, func(a *exchange.Response) bool {
		return g.CompleteIn(a) || s.hasHadItsTime(ctx, join, g)
	})
	if err != nil {
		return nil, err
	}
	g.Final, g.Joined = state, join.succeeded()
	if g.Complete() {
		s.runs.over(g)
	} else if err := s.RequireEnded(ctx, g); err != nil {
		return nil, err
	}
	// The thread stays busy for a moment between the last message and the end of the run.
	if err := join.OrUntil(ctx, time.Now().Add(s.Patience())); err != nil {
		return nil, err
	}
	if join.Over() && join.Ended.Before(g.NotOverBefore()) { // the join does not show that the run is over
		return state, client.Sleep(ctx, s.Slack())
	}
	return state, nil
}

// hasHadItsTime reports whether the run ended so long ago that the state must contain all its messages. A run that fails
// writes no answer, so a GET that shows its end is enough.
func (s *Server) hasHadItsTime(ctx context.Context, join *Joining, g *GraphRun) bool {
	if !join.Over() {
		return false
	}
	isEarly := time.Now().Before(client.Later(join.Ended, g.NotOverBefore()).Add(s.Patience()))
	if isEarly && !g.Order.says(Fail) {
		return false
	}
	run, err := s.GetRun(ctx, g.Thread.Owner, g)
	if isEarly {
		return err == nil && hasEnded(run)
	}
	if err != nil || isOver(join.Response, run, g.Order.says(Fail)) {
		return true
	}
	return join.succeeded() && isUnfinished(run) && s.staysUnfinished(ctx)
}

// isOver reports whether a run has ended. join is the response to its join, or nil. run is the response to GET. An error
// status of the join counts only if raises is true, which means that the input makes the graph raise an error.
func isOver(join, run *exchange.Response, raises bool) bool {
	switch {
	case isUnfinished(run):
		return false
	case hasEnded(run), run.Status == http.StatusNotFound:
		return true
	}
	return raises || join != nil && join.OK()
}

// RequireEnded returns an error that blocks if an incomplete run has not ended: the server queues it, or it is still
// pending or running, which AS-RUN-4 reports.
func (s *Server) RequireEnded(ctx context.Context, g *GraphRun) error {
	if !g.Joined {
		if err := s.StillQueued(ctx, g); err != nil {
			return err
		}
	}
	run, err := s.GetRun(ctx, g.Thread.Owner, g)
	if err != nil || !isUnfinished(run) || g.Joined && s.staysUnfinished(ctx) {
		return context.Cause(ctx) // a status that cannot be read, or is unknown, proves nothing; AS-RUN-2 judges GET of a run
	}
	s.NoteUnended()
	actual := fmt.Sprintf("status %q %s after the run was accepted", run.Get("status").String(),
		time.Since(g.Responded()).Round(time.Second))
	stays := outcome.Fails(run, outcome.Violation{Kind: outcome.NotFinished, Pointer: "/status",
		Summary: "A run does not end in time", Expected: "a run that has completed", Actual: actual})
	return outcome.AsBlocked(stays.ByRequirement("AS-RUN-4"))
}

// staysUnfinished reports whether the server shows completed runs as pending or running for good. The interface does
// not define statuses, so they prove nothing at such a server.
func (s *Server) staysUnfinished(ctx context.Context) bool {
	g := s.completed.Load()
	if g == nil || !s.judged {
		return false
	}
	stays, err := shared.Get(ctx, s.maker, "the status of a completed run", func(ctx context.Context) (bool, error) {
		if err := client.Sleep(ctx, time.Until(g.Final.Ended().Add(s.Patience()))); err != nil {
			return false, err
		}
		run, err := s.GetRun(ctx, g.Thread.Owner, g)
		return err == nil && isUnfinished(run), err
	})
	return err == nil && stays
}

// Run starts a run like [Server.Start] and waits for its answer.
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

// RunAlone is Run on a new thread of the caller.
func (s *Server) RunAlone(ctx context.Context, who target.Caller, o Order) (*GraphRun, error) {
	t, err := s.NewThread(ctx, who)
	if err != nil {
		return nil, err
	}
	return s.Run(ctx, t, o)
}

// Joining is a join that waits in the background.
type Joining struct {
	request exchange.Request
	begun   time.Time
	done    chan struct{}
	cancel  context.CancelCauseFunc

	// The fields below are valid once Over returns true.
	Response *exchange.Response
	Err      error
	Ended    time.Time
}

// JoinNow begins to join the run as its owner.
func (s *Server) JoinNow(ctx context.Context, g *GraphRun) *Joining {
	j := &Joining{request: s.joinOf(g.Thread.Owner, g), begun: time.Now(), done: make(chan struct{})}
	ctx, j.cancel = context.WithCancelCause(ctx)
	go func() {
		defer close(j.done)
		j.Response, j.Err = s.Join(ctx, g.Thread.Owner, g)
		j.Ended = time.Now()
		if j.Response != nil {
			j.Ended = j.Response.Ended()
		}
	}()
	client.Stagger(1) // the next request of the caller is sent after the join
	return j
}

// Over reports whether the join has ended, with or without a response.
func (j *Joining) Over() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

func (j *Joining) succeeded() bool { return j.Over() && j.Response != nil && j.Response.OK() }

// Sent returns when the request was sent. If the client repeated it, Sent returns the last time as soon as there is a
// response.
func (j *Joining) Sent() time.Time {
	if j.Over() && j.Response != nil {
		return j.Response.Sent
	}
	return j.begun
}

// Unanswered reports whether there is no response so far, or the request has timed out.
func (j *Joining) Unanswered() bool {
	var none *exchange.NoResponse
	return !j.Over() || errors.As(j.Err, &none) && none.Timeout
}

// OrUntil waits until the join has ended, or until the time.
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

// Leave cancels the join and returns when its goroutine has ended.
func (j *Joining) Leave() {
	j.cancel(nil)
	<-j.done
}

// GiveUp cancels the join like a timeout, so that it is recorded, and returns the ID of its exchange. The ID is 0 if a
// response has arrived meanwhile.
func (j *Joining) GiveUp() int {
	j.cancel(&exchange.NoResponse{Request: j.request, Timeout: true, Stage: exchange.StageHTTP,
		Cause: "no response within " + time.Since(j.begun).Round(time.Millisecond).String()})
	<-j.done
	none, is := errors.AsType[*exchange.NoResponse](j.Err)
	if !is {
		return 0
	}
	return none.ID
}
