package agentserver

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// signal wakes all who wait for the next change. The zero value works. What has changed is read where it is kept: a
// signal holds nothing, so nobody who reads slowly can hold up who raises it.
type signal struct {
	mu   sync.Mutex
	next chan struct{}
}

// wait returns a channel that is closed at the next change. Ask for it before you look at what may change.
func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.next = make(chan struct{})
	}
	return s.next
}

func (s *signal) raise() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next != nil {
		close(s.next)
		s.next = nil
	}
}

// follow returns a run that is in progress, nil if it is not. Where its thread is temporary, it stays until unfollow.
func (e *engine) follow(runID string) *execution {
	e.mu.Lock()
	defer e.mu.Unlock()
	ex := e.live[runID]
	if ex != nil {
		ex.followers++
	}
	return ex
}

// unfollow ends what follow began. The last one deletes a temporary thread; nil is no run.
func (e *engine) unfollow(ex *execution) {
	if ex == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if ex.followers--; ex.followers > 0 || !ex.temporary || e.closing {
		return // while the server closes, temporary threads are left to its next start
	}
	e.scripts.Go(func() { e.deleteThread(ex.run.ThreadID) })
}

// deleteThread deletes a thread and everything on it, whether or not a client still waits for that. One that is not there any
// more is no error.
func (e *engine) deleteThread(threadID string) {
	ctx := context.Background()
	err := e.remove(threadID, func(threads.Run) bool { return true }, func() error { return e.store.DeleteThread(ctx, threadID) })
	if err != nil && !errors.Is(err, threads.ErrNotFound) {
		e.log.Error("a thread could not be deleted", "thread", threadID, "error", err)
	}
}

// The actions that end a run in progress.
const (
	actionInterrupt = "interrupt" // it ends as it is, its messages stay
	actionRollback  = "rollback"  // it is deleted, with every message it wrote
)

const reasonCancelled = "a client cancelled the run"

// cancel ends the runs in progress of a thread that match, and tells how many these are.
func (e *engine) cancel(ctx context.Context, threadID, action string, match func(threads.Run) bool) (int, error) {
	tq := e.enter(threadID)
	defer e.leave(tq)
	defer e.advance(tq)
	var ids []string
	for _, ex := range tq.runs {
		r, err := e.store.Run(ctx, threadID, ex.run.ID)
		if err != nil {
			return 0, fmt.Errorf("reading a run to cancel: %w", err)
		}
		if match(r) {
			ids = append(ids, r.ID)
		}
	}
	for i, id := range ids {
		end, why := e.store.DeleteRun, errRolledBack
		if action == actionInterrupt {
			end, why = e.interrupt, errInterrupted
		}
		if err := end(ctx, threadID, id); err != nil {
			return i, fmt.Errorf("cancelling a run: %w", err)
		}
		e.drop(tq, []string{id}, why)
	}
	return len(ids), nil
}

func (e *engine) interrupt(ctx context.Context, threadID, runID string) error {
	return e.store.FinishRun(ctx, threadID, runID, threads.Ending{Status: threads.StatusInterrupted, Reason: reasonCancelled})
}

// threadsInProgress lists the threads that have unfinished runs.
func (e *engine) threadsInProgress() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	seen := map[string]bool{}
	var out []string
	for _, ex := range e.live {
		if id := ex.run.ThreadID; !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}
