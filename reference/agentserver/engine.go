package agentserver

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// Why a run ended otherwise than by itself.
var (
	errRolledBack  = errors.New("the run was rolled back and deleted")
	errInterrupted = errors.New("the run was interrupted by a later one")
	errStopping    = errors.New("the server is stopping")
	errTooMany     = errors.New("too many runs are in progress")
	errJoinTimeout = errors.New("the run is still in progress")
)

// engine runs the runs: those of one thread one after the other, those of different threads at the same time.
//
// Each thread with unfinished runs has a lane. A lane is locked from the question to the store until its queue says the
// same as the store, so that both change in the same order. Threads without unfinished runs cost nothing here.
type engine struct {
	store   threads.Store
	log     *slog.Logger
	maxRuns int
	base    context.Context // ends when the server stops
	stop    context.CancelCauseFunc
	scripts sync.WaitGroup

	mu      sync.Mutex // guards what follows, and is never held while waiting
	lanes   map[string]*lane
	live    map[string]*execution // by run id
	closing bool
}

type lane struct {
	thread string
	mu     sync.Mutex
	queue  []*execution // the first one runs, or is about to
	users  int          // guarded by engine.mu: who holds mu or waits for it
}

// execution is an unfinished run in memory.
type execution struct {
	run     threads.Run
	rev     *revision
	graph   graph
	user    User
	input   []threads.Message
	ctx     context.Context
	cancel  context.CancelCauseFunc
	started bool
	done    chan struct{} // closed when the run has ended in the store too
	end     error         // why it ended otherwise than by itself; readable after done
}

func newEngine(store threads.Store, opts Options) *engine {
	e := &engine{store: store, log: opts.Log, maxRuns: opts.MaxRuns, lanes: map[string]*lane{}, live: map[string]*execution{}}
	e.base, e.stop = context.WithCancelCause(context.Background())
	return e
}

// enter locks the lane of a thread. Leave it.
func (e *engine) enter(thread string) *lane {
	e.mu.Lock()
	ln := e.lanes[thread]
	if ln == nil {
		ln = &lane{thread: thread}
		e.lanes[thread] = ln
	}
	ln.users++
	e.mu.Unlock()
	ln.mu.Lock()
	return ln
}

// leave unlocks a lane, and forgets it where nobody needs it. Its queue is looked at only where there is no other user, so
// it cannot change meanwhile.
func (e *engine) leave(ln *lane) {
	ln.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if ln.users--; ln.users == 0 && len(ln.queue) == 0 {
		delete(e.lanes, ln.thread)
	}
}

// begin adds a run to its thread, and ends those that the strategy ends.
func (e *engine) begin(ctx context.Context, ex *execution, s threads.Strategy) error {
	if err := e.admit(); err != nil {
		return err
	}
	ln := e.enter(ex.run.ThreadID)
	defer e.leave(ln)
	ex.ctx, ex.cancel = context.WithCancelCause(e.base)
	ex.done = make(chan struct{})
	e.setLive(ex, true) // before anyone can read of the run in the store and join it
	plan, err := e.store.BeginRun(ctx, ex.run, s)
	if err != nil {
		ex.cancel(err)
		e.setLive(ex, false)
		return err
	}
	e.drop(ln, plan.Delete, errRolledBack)
	e.drop(ln, plan.Interrupt, errInterrupted)
	ln.queue = append(ln.queue, ex)
	e.advance(ln)
	return nil
}

func (e *engine) admit() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return errStopping
	}
	if len(e.live) >= e.maxRuns {
		return errTooMany
	}
	return nil
}

// drop takes runs out of a lane that have ended in the store: their scripts are stopped, and who waits is released.
func (e *engine) drop(ln *lane, ids []string, why error) {
	for _, id := range ids {
		at := slices.IndexFunc(ln.queue, func(ex *execution) bool { return ex.run.ID == id })
		if at < 0 {
			continue
		}
		ex := ln.queue[at]
		ln.queue = slices.Delete(ln.queue, at, at+1)
		e.release(ex, why)
	}
}

// release ends an execution that is no longer in a lane.
func (e *engine) release(ex *execution, why error) {
	ex.end = why
	ex.cancel(why)
	e.setLive(ex, false)
	close(ex.done)
}

func (e *engine) setLive(ex *execution, live bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if live {
		e.live[ex.run.ID] = ex
	} else {
		delete(e.live, ex.run.ID)
	}
}

// advance starts the first run of a lane.
func (e *engine) advance(ln *lane) {
	if len(ln.queue) == 0 || ln.queue[0].started {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return // what has not begun is ended by close
	}
	ex := ln.queue[0]
	ex.started = true
	e.scripts.Add(1)
	go func() {
		defer e.scripts.Done()
		e.finish(ex, e.execute(ex))
	}()
}

// finish ends a run by itself, and starts the next of its thread. A run that was dropped meanwhile has no say any more.
func (e *engine) finish(ex *execution, end threads.Ending) {
	ln := e.enter(ex.run.ThreadID)
	defer e.leave(ln)
	at := slices.Index(ln.queue, ex)
	if at < 0 {
		return
	}
	err := e.store.FinishRun(context.WithoutCancel(ex.ctx), ex.run.ThreadID, ex.run.ID, end)
	if err != nil {
		e.log.Error("a run could not be ended in the store", "run", ex.run.ID, "status", end.Status, "error", err)
	}
	ln.queue = slices.Delete(ln.queue, at, at+1)
	e.release(ex, nil)
	e.advance(ln)
}

// remove deletes something of a thread in the store and drops the runs that are concerned.
func (e *engine) remove(threadID string, concerned func(threads.Run) bool, inStore func() error) error {
	ln := e.enter(threadID)
	defer e.leave(ln)
	if err := inStore(); err != nil {
		return err
	}
	var dropped []string
	for _, ex := range ln.queue {
		if concerned(ex.run) {
			dropped = append(dropped, ex.run.ID)
		}
	}
	e.drop(ln, dropped, errRolledBack)
	e.advance(ln)
	return nil
}

// wait waits until a run has ended. A run that is not in progress has.
func (e *engine) wait(ctx context.Context, runID string, limit time.Duration) error {
	e.mu.Lock()
	ex := e.live[runID]
	e.mu.Unlock()
	if ex == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errJoinTimeout)
	defer cancel()
	select {
	case <-ex.done:
		return ex.end
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close stops all scripts, waits for them, and releases who waits for runs that did not begin.
func (e *engine) close(ctx context.Context) error {
	e.mu.Lock()
	e.closing = true
	e.mu.Unlock()
	e.stop(errStopping)
	ended := make(chan struct{})
	go func() {
		e.scripts.Wait() // ends with the scripts, which are bounded
		close(ended)
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	for _, ln := range e.allLanes() {
		ln.mu.Lock()
		for _, ex := range ln.queue {
			e.release(ex, errStopping)
		}
		ln.queue = nil
		e.leave(ln)
	}
	return err
}

func (e *engine) allLanes() []*lane {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []*lane
	for _, ln := range e.lanes {
		ln.users++
		all = append(all, ln)
	}
	return all
}
