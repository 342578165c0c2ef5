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
	errInterrupted = errors.New("the run was interrupted")
	errStopping    = errors.New("the server is stopping")
	errTooMany     = errors.New("too many runs are in progress")
	errJoinTimeout = errors.New("the run is still in progress")
)

// engine runs the runs: those of one thread one after the other, those of different threads at the same time.
//
// Each thread with unfinished runs has a queue. A queue is locked from the question to the store until its runs are the
// same as in the store, so that both change in the same order. Threads without unfinished runs cost nothing here.
type engine struct {
	store   threads.Store
	log     *slog.Logger
	maxRuns int
	workers chan struct{} // holds one item for each run that is executed; nil: any number
	config  func(configurable map[string]any)
	base    context.Context // ends when the server stops
	stop    context.CancelCauseFunc
	scripts sync.WaitGroup

	mu      sync.Mutex // guards what follows, and is never held while waiting
	queues  map[string]*threadQueue
	live    map[string]*execution // by run id
	closing bool
}

type threadQueue struct {
	thread string
	mu     sync.Mutex
	runs   []*execution // the first one runs, or is about to
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
	e := &engine{
		store: store, log: opts.Log, maxRuns: opts.MaxRuns, config: opts.GraphConfig,
		queues: map[string]*threadQueue{}, live: map[string]*execution{},
	}
	if opts.Workers > 0 {
		e.workers = make(chan struct{}, opts.Workers)
	}
	e.base, e.stop = context.WithCancelCause(context.Background())
	return e
}

// enter locks the queue of a thread. Leave it.
func (e *engine) enter(thread string) *threadQueue {
	e.mu.Lock()
	tq := e.queues[thread]
	if tq == nil {
		tq = &threadQueue{thread: thread}
		e.queues[thread] = tq
	}
	tq.users++
	e.mu.Unlock()
	tq.mu.Lock()
	return tq
}

// leave unlocks a queue, and removes it if it is not needed. Its runs are read only where there is no other user, so
// they cannot change meanwhile.
func (e *engine) leave(tq *threadQueue) {
	tq.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if tq.users--; tq.users == 0 && len(tq.runs) == 0 {
		delete(e.queues, tq.thread)
	}
}

// begin adds a run to its thread, and ends those that the strategy ends.
func (e *engine) begin(ctx context.Context, ex *execution, s threads.Strategy) error {
	if err := e.admit(); err != nil {
		return err
	}
	tq := e.enter(ex.run.ThreadID)
	defer e.leave(tq)
	ex.ctx, ex.cancel = context.WithCancelCause(e.base)
	ex.done = make(chan struct{})
	e.setLive(ex, true) // before anyone can read of the run in the store and join it
	plan, err := e.store.BeginRun(ctx, ex.run, s)
	if err != nil {
		ex.cancel(err)
		e.setLive(ex, false)
		return err
	}
	e.drop(tq, plan.Delete, errRolledBack)
	e.drop(tq, plan.Interrupt, errInterrupted)
	tq.runs = append(tq.runs, ex)
	e.advance(tq)
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

// drop takes runs out of a queue that have ended in the store: their scripts are stopped, and who waits is released.
func (e *engine) drop(tq *threadQueue, ids []string, why error) {
	for _, id := range ids {
		at := slices.IndexFunc(tq.runs, func(ex *execution) bool { return ex.run.ID == id })
		if at < 0 {
			continue
		}
		ex := tq.runs[at]
		tq.runs = slices.Delete(tq.runs, at, at+1)
		e.release(ex, why)
	}
}

// release ends an execution that is no longer in a queue.
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

// advance starts the first run of a queue.
func (e *engine) advance(tq *threadQueue) {
	if len(tq.runs) == 0 || tq.runs[0].started {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		return // what has not begun is ended by close
	}
	ex := tq.runs[0]
	ex.started = true
	e.scripts.Go(func() { e.finish(ex, e.execute(ex)) })
}

// finish ends a run by itself, and starts the next of its thread. A run that was dropped meanwhile has no say any more.
func (e *engine) finish(ex *execution, end threads.Ending) {
	tq := e.enter(ex.run.ThreadID)
	defer e.leave(tq)
	at := slices.Index(tq.runs, ex)
	if at < 0 {
		return
	}
	err := e.store.FinishRun(context.WithoutCancel(ex.ctx), ex.run.ThreadID, ex.run.ID, end)
	if err != nil {
		e.log.Error("a run could not be ended in the store", "run", ex.run.ID, "status", end.Status, "error", err)
	}
	tq.runs = slices.Delete(tq.runs, at, at+1)
	e.release(ex, nil)
	e.advance(tq)
}

// deleteThread deletes a thread and everything on it.
func (e *engine) deleteThread(ctx context.Context, threadID string) error {
	tq := e.enter(threadID)
	defer e.leave(tq)
	if err := e.store.DeleteThread(ctx, threadID); err != nil {
		return err
	}
	e.drop(tq, runIDs(tq.runs), errRolledBack)
	return nil
}

func runIDs(all []*execution) []string {
	out := make([]string, len(all))
	for i, ex := range all {
		out[i] = ex.run.ID
	}
	return out
}

// cancel ends a run in progress: as it is, or deleted with every message that it wrote. One that is not in progress is
// ErrGone.
func (e *engine) cancel(ctx context.Context, threadID, runID string, rollback bool) error {
	tq := e.enter(threadID)
	defer e.leave(tq)
	if !slices.Contains(runIDs(tq.runs), runID) {
		return threads.ErrGone
	}
	err, why := error(nil), errInterrupted
	if rollback {
		err, why = e.store.DeleteRun(ctx, threadID, runID), errRolledBack
	} else {
		end := threads.Ending{Status: threads.StatusInterrupted, Reason: "a client cancelled the run"}
		err = e.store.FinishRun(ctx, threadID, runID, end)
	}
	if err != nil {
		return err
	}
	e.drop(tq, []string{runID}, why)
	e.advance(tq)
	return nil
}

// wait waits until a run has ended. One that is not in progress has.
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
	for _, tq := range e.allQueues() {
		tq.mu.Lock()
		for _, ex := range tq.runs {
			e.release(ex, errStopping)
		}
		tq.runs = nil
		e.leave(tq)
	}
	return err
}

func (e *engine) allQueues() []*threadQueue {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []*threadQueue
	for _, tq := range e.queues {
		tq.users++
		all = append(all, tq)
	}
	return all
}
