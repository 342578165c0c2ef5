package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// inProgress limits the threads that have unfinished runs at the server under test: a run in the server's queue is late
// for a reason that no requirement covers. The end of a run is estimated, unless it was seen.
type inProgress struct {
	slots *client.Semaphore
	group chan struct{} // semaphore with one slot, see enterGroup
	mu    sync.Mutex
	lasts map[string]*lastRun // by thread
}

func newInProgress(atOnce int) inProgress {
	return inProgress{slots: client.NewSemaphore(atOnce), group: make(chan struct{}, 1), lasts: map[string]*lastRun{}}
}

// lastRun is the last run of a thread. When it has ended, all earlier runs of the thread have ended too.
type lastRun struct {
	run   *GraphRun // nil until it is accepted
	until time.Time
	timer *time.Timer // calls over when the run should have ended; nil until the run is accepted
	leave func()      // releases the slot of the thread
}

// enter waits until one more thread may have unfinished runs. A thread with unfinished runs keeps its slot. The caller
// defers abandon.
func (p *inProgress) enter(ctx context.Context, thread string) error {
	p.mu.Lock()
	has := p.lasts[thread] != nil
	p.mu.Unlock()
	if has {
		return nil
	}
	leave, err := p.slots.Enter(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lasts[thread] != nil { // a server may give several scenarios the same thread
		leave()
		return nil
	}
	p.lasts[thread] = &lastRun{leave: leave}
	return nil
}

// enterGroup waits until the given number of threads may have unfinished runs at the same time, and takes their slots, or
// all slots if there are fewer. Only one group at a time collects slots, because two groups could wait for each other.
func (p *inProgress) enterGroup(ctx context.Context, threads int) (leave func(), err error) {
	select {
	case p.group <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-p.group }()
	var all []func()
	leave = func() {
		for _, leaveOne := range all {
			leaveOne()
		}
	}
	for range min(threads, p.slots.Slots()) {
		leaveOne, err := p.slots.Enter(ctx)
		if err != nil {
			leave()
			return nil, err
		}
		all = append(all, leaveOne)
	}
	return leave, nil
}

// abandon releases the slot of a thread on which no run was accepted since enter.
func (p *inProgress) abandon(thread string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.lasts[thread]; last != nil && last.run == nil {
		last.leave()
		delete(p.lasts, thread)
	}
}

// accepted records a run that was accepted. The server executes it after the previous run of the thread, unless it rolls
// that run back.
func (p *inProgress) accepted(g *GraphRun, slack time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.lasts[g.Thread.ID]
	if last == nil {
		last = &lastRun{leave: func() {}}
	}
	from := g.Responded()
	if g.Order.Strategy != RollbackStrategy {
		from = client.Later(from, last.until)
	}
	last.run, last.until = g, from.Add(g.Order.Hold+slack)
	p.lasts[g.Thread.ID] = last
	last.stopTimer()
	last.timer = time.AfterFunc(time.Until(last.until), func() { p.over(g) })
}

// over records the end of a run. It releases the slot of the thread, unless a later run on the thread is unfinished.
func (p *inProgress) over(g *GraphRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := p.lasts[g.Thread.ID]; last != nil && last.run == g {
		last.stopTimer()
		last.leave()
		delete(p.lasts, g.Thread.ID)
	}
}

// close stops all timers.
func (p *inProgress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, last := range p.lasts {
		last.stopTimer()
	}
}

func (l *lastRun) stopTimer() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

// Close stops the timers that estimate the ends of runs.
func (as *Agents) Close() { as.runs.close() }

// RunsEnd returns when all runs that the suite started are over, as far as can be estimated.
func (as *Agents) RunsEnd() (end time.Time) {
	as.runs.mu.Lock()
	defer as.runs.mu.Unlock()
	for _, last := range as.runs.lasts {
		end = client.Later(end, last.until)
	}
	return end
}

// StillQueued returns a blocked outcome if a late run is probably still in the queue of the server: its status does not
// show an end, and the server does not execute a plain run on another thread either.
func (s *Server) StillQueued(ctx context.Context, g *GraphRun) error {
	if !s.judged {
		return nil
	}
	if run, err := s.GetRun(ctx, g.Thread.Owner, g); err == nil && hasEnded(run) {
		return nil
	}
	t, err := s.NewThread(ctx, s.target.Owner())
	if err != nil {
		return context.Cause(ctx) // other scenarios judge the creation of threads
	}
	plain, err := s.TryPost(ctx, t.Owner, t, Order{})
	if err != nil || plain.ID == "" {
		return context.Cause(ctx)
	}
	if _, done, err := s.ReadState(ctx, t, time.Now().Add(s.Patience()), plain.CompleteIn); err != nil || done {
		return context.Cause(ctx)
	}
	const why = "the server has a queue, or executes no runs; raise timeouts.run, or let it execute more runs at a time"
	return outcome.Blocked("the run %s was not over %s after its creation, and a plain run on another thread was pending "+
		"too: %s", g.ID, time.Since(g.Response.Sent).Round(time.Second), why).By(reports.ByKey, "timeouts.run")
}

// EndStatuses are the statuses of runs that have ended, at known agent servers.
var EndStatuses = []string{"success", "error", "timeout", "interrupted"}

// UnfinishedStatuses are the statuses of runs in progress at known agent servers, and CompleteStatuses those of runs that
// have completed with success or failure.
var (
	UnfinishedStatuses = []string{"pending", "running"}
	CompleteStatuses   = []string{"success", "error", "timeout"}
)

// isPending, isRunning, isUnfinished and hasEnded report whether the status of a run has that meaning at known agent
// servers. The interface does not define statuses of runs, so any other status matches none.
func isPending(run *exchange.Response) bool {
	return run.OK() && run.Get("status").String() == "pending"
}

func isRunning(run *exchange.Response) bool {
	return run.OK() && run.Get("status").String() == "running"
}

func isUnfinished(run *exchange.Response) bool { return isPending(run) || isRunning(run) }

// hasChanged reports whether GET of a run shows a different status than the response to its creation.
func hasChanged(accepted, run *exchange.Response) bool {
	before, now := accepted.Get("status").String(), run.Get("status").String()
	return run.OK() && before != "" && now != "" && before != now
}

func hasEnded(run *exchange.Response) bool {
	return run.OK() && slices.Contains(EndStatuses, run.Get("status").String())
}
