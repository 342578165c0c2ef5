package agent

import (
	"context"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// together marks the runs of a context as those of one group: they are to be in progress at the same time, executed or
// pending.
type together struct{}

// Together waits until so many runs on different threads may be in progress at the same time, and returns a context for
// them. The words of the order are tried before: that takes runs, too. Leave gives up what was not started.
func (s *Server) Together(ctx context.Context, runs int, o Order) (group context.Context, leave func(), err error) {
	if err := s.Understood(ctx, append([]Word{Echo}, o.words()...)...); err != nil {
		return nil, nil, err
	}
	name := s.target.Name("group")
	if err := (load{s}).takeTurns(ctx, name, runs); err != nil {
		return nil, nil, err
	}
	return context.WithValue(ctx, together{}, name), func() { s.agents.turns.Refused(name) }, nil
}

// postInTurn waits while the server executes as many runs as it can.
func (s load) postInTurn(ctx context.Context, who target.Caller, t *Thread, o Order) (*GraphRun, error) {
	place := placeOf(ctx, t)
	if err := s.takeTurns(ctx, place, 1); err != nil {
		return nil, err
	}
	if o.paced != nil {
		o.Hold = o.paced()
	}
	g, err := s.TryPost(ctx, who, t, o)
	s.occupies(place, g)
	return g, err
}

// StartBehind starts a run that the server has pending until the one before it is over. Then it has the place of that one.
func (s *Server) StartBehind(ctx context.Context, t *Thread, o Order) (*GraphRun, error) {
	g, err := s.TryPost(ctx, t.Owner, t, o)
	go func() {
		if (load{s}).takeTurns(ctx, t.ID, 1) == nil {
			load{s}.occupies(t.ID, g)
		}
	}()
	return g, err
}

// takeTurns waits until so many more runs may be in progress.
func (s load) takeTurns(ctx context.Context, place string, runs int) error {
	if !s.judged {
		return nil
	}
	if _, err := s.Parallel(ctx); err != nil {
		return err
	}
	return s.agents.turns.Begin(ctx, place, runs)
}

// occupies notes that the run keeps its place, as the turns call it, until it is over.
func (s load) occupies(place string, g *GraphRun) {
	if g == nil || g.ID == "" {
		s.agents.turns.Refused(place)
		return
	}
	s.agents.turns.Started(place, g, g.Answered(), g.Order.Hold+s.agents.Pace.Slack(), g.Order.Strategy == RollbackStrategy)
}

// placeOf is the thread, or the group. What is in the queue of the server is late for a reason that no requirement is about, so
// the suite has no more threads with unfinished runs than the server executes runs at a time.
func placeOf(ctx context.Context, t *Thread) string {
	if group, is := ctx.Value(together{}).(string); is {
		return group
	}
	return t.ID
}

// RunsEnd is when all runs that the suite started are over, as far as can be estimated.
func (as *Agents) RunsEnd() time.Time { return as.turns.End() }

// pendings is what is known of plain runs while others are not over.
type pendings struct {
	mu    sync.Mutex
	asked time.Time
	last  bool
}

// StillQueued blocks where a run is not over in its time because it is in the queue of the server: a plain run on another
// thread is not executed either. A run that has ended by its own status is not in the queue.
func (s *Server) StillQueued(ctx context.Context, g *GraphRun) error {
	if !s.judged {
		return nil
	}
	if run, err := s.GetRun(ctx, g.Thread.Owner, g); ctx.Err() != nil {
		return context.Cause(ctx)
	} else if err == nil && statusOf(run) == statusEnded {
		return nil
	}
	p := &s.agents.learned.pendings
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked) > s.agents.Pace.Patience() {
		pending, err := load{s}.plainIsPending(ctx)
		if err != nil {
			return err
		}
		p.asked, p.last = time.Now(), pending
	}
	if !p.last {
		return nil
	}
	why := "the server has a queue; raise timeouts.run, or let the server execute more runs at a time"
	if s.agents.Pace.Turnaround() == 0 {
		why = "no run was seen to complete; check that the server executes runs, then raise timeouts.run"
	}
	return outcome.Blocked("the run %s was not over %s after its creation, and a plain run on another thread was pending too: %s",
		g.ID, time.Since(g.Answer.Sent).Round(time.Second), why).By(reports.ByKey, "timeouts.run")
}

// plainIsPending tells whether even a plain run on a new thread is not executed.
func (s load) plainIsPending(ctx context.Context) (bool, error) {
	plain, err := s.sendMany(ctx, 1, Order{})
	if err != nil || len(plain) == 0 {
		return false, context.Cause(ctx) // that is judged elsewhere
	}
	_, done, err := s.ReadState(ctx, plain[0].Thread, time.Now().Add(s.agents.Pace.Patience()), plain[0].CompleteIn)
	return err == nil && !done, context.Cause(ctx)
}
