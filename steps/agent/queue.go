package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
)

// How many runs are started at the same time to learn whether the server executes as many at a time: as many as scenarios,
// within these bounds. One scenario needs a few.
const leastBeside, mostBeside = 4, 16

// together marks the runs of a context as those of one group, which count once: they are to be in progress at the same time,
// executed or pending.
type together struct{}

// Together returns a context for runs on different threads that are to be in progress at the same time.
func (as *Agents) Together(ctx context.Context) context.Context {
	return context.WithValue(ctx, together{}, as.target.Name("group"))
}

// occupies notes that the run keeps its place, as the turns call it, until it is over.
func (s load) occupies(place string, g *GraphRun) {
	if g == nil || g.ID == "" {
		s.agents.turns.Refused(place)
		return
	}
	s.agents.turns.Started(place, g, g.Answered(), g.Order.Hold+s.agents.Pace.Slack(), g.Order.Strategy == RollbackStrategy)
}

// placeOf is the thread, or the group: what lies in the queue of the server is late for a reason that no requirement is about, so
// that the suite has no more threads with unfinished runs than the server executes runs at a time.
func placeOf(ctx context.Context, t *Thread) string {
	if group, is := ctx.Value(together{}).(string); is {
		return group
	}
	return t.ID
}

// load starts runs to see whether the server executes them.
type load struct{ *Server }

// Parallel returns how many runs of different threads the suite lets be in progress at the same time: as many as the
// server was seen to execute at a time, 0 where that is not known.
func (s *Server) Parallel(ctx context.Context) (int, error) {
	if !s.judged {
		return 0, nil
	}
	return s.agents.learned.parallel.Get(ctx, s.agents.maker, "runs at the same time", func(ctx context.Context) (int, error) {
		plain, err := s.SharedCompletedRun(ctx) // measures how fast runs are here
		if err != nil || !plain.Complete {
			return 0, nil //nolint:nilerr // that is judged elsewhere
		}
		n, err := load{s}.executesBeside(ctx)
		if err != nil {
			return 0, ended(ctx) // what is wrong is judged elsewhere
		}
		s.agents.turns.SetLimit(n)
		if n > 0 && n <= s.agents.AtOnce {
			s.target.Note(reports.Note{Kind: reports.NoteQueue, Text: fmt.Sprintf("the agent server executes %s at a time, others are pending: the suite has no more in progress, whatever --concurrency says", reports.Count(n, "run"))})
		}
		return n, nil
	})
}

// executesBeside starts runs that wait, at first one and then many, and a plain one beside them: if that is not executed
// before the others can end, the server executes no more than those. What has happened only once may have been a moment
// in which the server was busy.
func (s load) executesBeside(ctx context.Context) (n int, err error) {
	for _, beside := range []int{1, min(max(s.agents.AtOnce, leastBeside), mostBeside)} {
		for attempt := range 2 {
			late := false
			if n, late, err = s.besides(ctx, beside, attempt); err != nil {
				return 0, err
			}
			if !late {
				break
			}
		}
		if n <= beside {
			break // also where nothing was learned
		}
	}
	return n, nil
}

// besides returns how many runs were executed at a time, of so many that wait and a plain one. Where that was late, it
// returns when all have ended.
func (s load) besides(ctx context.Context, waiting, attempt int) (n int, late bool, err error) {
	hold := s.agents.Pace.holdAtLeast(shortHold, attempt)
	runs, err := s.sendMany(ctx, waiting, Order{Hold: hold})
	if err != nil || len(runs) < waiting {
		return 0, false, err
	}
	plain, err := s.sendMany(ctx, 1, Order{})
	if err != nil || len(plain) == 0 {
		return 0, false, err
	}
	first, last := runs[0].NotOverBefore(), runs[0].NotOverBefore()
	for _, g := range runs {
		first, last = earlier(first, g.NotOverBefore()), later(last, g.NotOverBefore())
	}
	if _, done, err := s.ReadState(ctx, plain[0].Thread, first, plain[0].CompleteIn); done || err != nil {
		return waiting + 1, false, err
	}
	if err := client.Sleep(ctx, time.Until(last.Add(s.agents.Pace.Slack()))); err != nil {
		return 0, false, err
	}
	for _, g := range runs {
		state, err := s.State(ctx, g.Thread.Owner, g.Thread)
		if err != nil {
			return 0, false, err
		}
		if g.CompleteIn(state) {
			n++
		}
	}
	limit := time.Now().Add(time.Duration(waiting)*hold + s.target.Config.Timeouts.Run)
	for _, g := range append(runs, plain...) {
		if _, done, err := s.ReadState(ctx, g.Thread, limit, g.CompleteIn); err != nil || !done {
			return 0, false, err
		}
		s.agents.turns.Over(g)
	}
	return max(n, 1), true, nil
}

// ended is the error of the context.
func ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// sendMany starts runs on new threads at the same time, whatever is in progress. Those that are refused are left out.
func (s load) sendMany(ctx context.Context, n int, o Order) ([]*GraphRun, error) {
	var wait sync.WaitGroup
	runs, errs := make([]*GraphRun, n), make([]error, n)
	for i := range n {
		wait.Go(func() {
			t, err := s.NewThread(ctx, s.target.Owner())
			if err != nil {
				errs[i] = err
				return
			}
			if runs[i], errs[i] = s.TryPost(ctx, t.Owner, t, o); errs[i] == nil {
				s.occupies(t.ID, runs[i])
			}
		})
	}
	wait.Wait()
	var all []*GraphRun
	for i, g := range runs {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if g.ID != "" {
			all = append(all, g)
		}
	}
	return all, nil
}

// pendings is what is known of plain runs while others are not over.
type pendings struct {
	mu    sync.Mutex
	asked time.Time
	last  bool
}

// StillQueued blocks where a run is not over in its time because it lies in the queue of the server: a plain run on another
// thread is not executed either.
func (s *Server) StillQueued(ctx context.Context, g *GraphRun) error {
	if !s.judged {
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
	return outcome.Blocked("the run %s was not over %s after its creation, and a plain run on another thread was pending too: the server has a queue; raise timeouts.run, or let the server execute more runs at a time",
		g.ID, time.Since(g.Answer.Sent).Round(time.Second)).By(reports.ByKey, "timeouts.run")
}

// plainIsPending tells whether even a plain run on a new thread is not executed.
func (s load) plainIsPending(ctx context.Context) (bool, error) {
	plain, err := s.sendMany(ctx, 1, Order{})
	if err != nil || len(plain) == 0 {
		return false, ended(ctx) // that is judged elsewhere
	}
	_, done, err := s.ReadState(ctx, plain[0].Thread, time.Now().Add(s.agents.Pace.Patience()), plain[0].CompleteIn)
	return err == nil && !done, ended(ctx)
}
