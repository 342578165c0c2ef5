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

// queue keeps the suite from starting more runs than the server executes at a time: what lies in the queue of the server is
// late for a reason that no requirement is about. A thread counts once, however many runs it has. When its runs are over is
// estimated, unless the suite has seen it.
type queue struct {
	mu      sync.Mutex
	limit   int // threads with unfinished runs; 0: any number
	threads map[string]*busy
	changed chan struct{} // closed, and replaced, when a thread has become free
}

// busy is a thread with unfinished runs.
type busy struct {
	last  *GraphRun // nil while its creation is not answered
	until time.Time // zero while the creation is not answered
}

// together marks the runs of a context as those of one group, which count once: they are to be in progress at the same time,
// executed or pending.
type together struct{}

// Together returns a context for runs on different threads that are to be in progress at the same time.
func (as *Agents) Together(ctx context.Context) context.Context {
	return context.WithValue(ctx, together{}, as.target.Name("group"))
}

func keyOf(ctx context.Context, t *Thread) string {
	if group, is := ctx.Value(together{}).(string); is {
		return group
	}
	return t.ID
}

// enter waits until a run on the thread would be executed at once, or be the next of its thread.
func (q *queue) enter(ctx context.Context, key string) error {
	for {
		wait, changed := q.tryEnter(key)
		if wait == 0 {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		timer.Stop()
	}
}

// tryEnter counts the thread, or tells for how long to wait at most before trying again.
func (q *queue) tryEnter(key string) (wait time.Duration, changed <-chan struct{}) {
	const longest = time.Second
	q.mu.Lock()
	defer q.mu.Unlock()
	q.init()
	wait = longest
	for k, b := range q.threads {
		if b.until.IsZero() {
			continue
		}
		left := time.Until(b.until)
		if left <= 0 {
			delete(q.threads, k)
			continue
		}
		wait = min(wait, left)
	}
	if q.threads[key] == nil {
		if q.limit > 0 && len(q.threads) >= q.limit {
			return wait, q.changed
		}
		q.threads[key] = &busy{}
	}
	return 0, nil
}

// started notes until when the run keeps its thread busy, by estimate. One that was not accepted does not.
func (q *queue) started(key string, g *GraphRun, slack time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.init()
	b := q.threads[key]
	if b == nil {
		b = &busy{}
		q.threads[key] = b
	}
	if g == nil || g.ID == "" {
		if b.until.IsZero() {
			q.free(key)
		}
		return
	}
	from := g.Answered()
	if g.Order.Strategy != RollbackStrategy && b.until.After(from) { // behind those before it
		from = b.until
	}
	b.last, b.until = g, from.Add(g.Order.Hold+slack)
}

// over notes that the run was seen to be over, and with it those before it.
func (q *queue) over(g *GraphRun) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for key, b := range q.threads {
		if b.last == g {
			q.free(key)
		}
	}
}

func (q *queue) init() {
	if q.threads == nil {
		q.threads, q.changed = map[string]*busy{}, make(chan struct{})
	}
}

func (q *queue) free(key string) {
	delete(q.threads, key)
	close(q.changed)
	q.changed = make(chan struct{})
}

func (q *queue) setLimit(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limit = n
}

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
		n, err := s.executesBeside(ctx)
		if err != nil {
			return 0, ended(ctx) // what is wrong is judged elsewhere
		}
		s.agents.queue.setLimit(n)
		if n > 0 && n <= s.agents.AtOnce {
			s.target.Note(reports.Note{Kind: reports.NoteQueue, Text: fmt.Sprintf("the agent server executes %s at a time, others are pending: the suite has no more in progress, whatever --concurrency says", reports.Count(n, "run"))})
		}
		return n, nil
	})
}

// executesBeside starts runs that wait, at first one and then many, and a plain one beside them: if that is not executed
// before the others can end, the server executes no more than those. What has happened only once may have been a moment
// in which the server was busy.
func (s *Server) executesBeside(ctx context.Context) (n int, err error) {
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
func (s *Server) besides(ctx context.Context, waiting, attempt int) (n int, late bool, err error) {
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
		s.agents.queue.over(g)
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
func (s *Server) sendMany(ctx context.Context, n int, o Order) ([]*GraphRun, error) {
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
				s.agents.queue.started(t.ID, runs[i], s.agents.Pace.Slack())
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
		pending, err := s.plainIsPending(ctx)
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
func (s *Server) plainIsPending(ctx context.Context) (bool, error) {
	plain, err := s.sendMany(ctx, 1, Order{})
	if err != nil || len(plain) == 0 {
		return false, ended(ctx) // that is judged elsewhere
	}
	_, done, err := s.ReadState(ctx, plain[0].Thread, time.Now().Add(s.agents.Pace.Patience()), plain[0].CompleteIn)
	return err == nil && !done, ended(ctx)
}
