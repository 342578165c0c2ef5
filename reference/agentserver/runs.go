package agentserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/store"
)

// Why a run ended otherwise than by itself, and what is answered where that is not its own status.
var (
	errRolledBack  = errors.New("the run was rolled back and deleted")
	errInterrupted = errors.New("the run was interrupted")
	errStopping    = httpapi.Refuse(http.StatusServiceUnavailable, "Try again: the server is stopping.")
	errJoinTimeout = httpapi.Refuse(http.StatusServiceUnavailable, "Try again: the run is still in progress.")
)

// The multitask strategies: what becomes of the unfinished runs of a thread when a new run is created.
const (
	reject    = "reject"    // the new run is refused
	enqueue   = "enqueue"   // it waits for them; this is the default
	interrupt = "interrupt" // they end, and their messages stay
	rollback  = "rollback"  // they are deleted, with every message that they wrote
)

var strategies = []string{enqueue, interrupt, reject, rollback}

// execution is an unfinished run in memory.
type execution struct {
	Run
	rev     *revision
	graph   graph
	user    User
	input   []Message
	ctx     context.Context
	cancel  context.CancelCauseFunc
	started bool
	done    chan struct{} // closed when the run has ended in the store too
	why     error         // why it ended otherwise than by itself; readable after done
}

// createRun is POST /threads/{thread_id}/runs: it answers as soon as the run is on record (interface, sections 3 and
// 4).
func (s *Server) createRun(c *call) (int, any, error) {
	var form httpapi.Form
	body, err := form.Body(c.Request, false)
	if err != nil {
		return 0, nil, err
	}
	now := s.store.Now()
	ex := &execution{rev: s.rev.Load(), user: c.user, Run: Run{
		ID: store.NewID(), ThreadID: c.thread, CreatedAt: now, UpdatedAt: now, Status: StatusPending, Strategy: enqueue,
	}}
	input, metadata := body.Object("input"), body.Object("metadata")
	messages := httpapi.Get[[]any](input, "messages", "array")
	body.Require("assistant_id", "input")
	input.Require("messages")
	if name := body.Text("assistant_id"); name != nil {
		ex.AssistantID = *name
	}
	if strategy, given := body.Members["multitask_strategy"]; given {
		if ex.Strategy = httpapi.Choice(body, "multitask_strategy", strategies); strategy == nil { // optional, not nullable
			body.Wrong("multitask_strategy", "string_type", "Input should be a valid string")
		}
	}
	if messages != nil {
		for i, sent := range *messages {
			m, err := parseMessage(sent, "")
			if err != nil {
				form.Wrong("value_error", "Value error, "+err.Error(), append(input.At("messages"), i)...)
			}
			ex.input = append(ex.input, m)
		}
	}
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	_, allowed, err := s.visibleThread(c, "create_run", map[string]any{
		"assistant_id": ex.AssistantID, "multitask_strategy": ex.Strategy,
		"metadata": metadata.Members, "input": input.Members,
	})
	if err != nil {
		return 0, nil, err
	}
	ex.Metadata = allowed.metadata()
	var known bool
	if ex.graph, known = ex.rev.app.graphs[ex.AssistantID]; !known {
		return 0, nil, httpapi.Refuse(http.StatusNotFound, "Assistant %q not found: the deployed graphs are %s",
			ex.AssistantID, strings.Join(ex.rev.app.Graphs(), ", "))
	}
	return http.StatusOK, ex.Run, s.begin(ex)
}

// begin adds a run to its thread. What its strategy does to the unfinished runs of the thread and the new run are one
// transaction (interface, section 3, "Run rollback rule"). Then the scripts of the runs that have ended are stopped,
// and who waits for them in a join is released. A run that has ended by itself before stays, with its messages.
func (s *Server) begin(ex *execution) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	unfinished := s.queues[ex.ThreadID]
	switch {
	case s.closing:
		return errStopping
	case ex.Strategy == reject && len(unfinished) > 0:
		return httpapi.Refuse(http.StatusConflict,
			"The thread has a run in progress: wait for it, or choose another multitask_strategy.")
	}
	ended := map[*execution]error{}
	err := s.update(func(t tables) error {
		if _, err := t.thread(ex.ThreadID); err != nil {
			return err
		}
		for _, old := range unfinished {
			var err error
			switch {
			case ex.Strategy == rollback:
				ended[old], err = errRolledBack, t.deleteRun(old.Run)
			case ex.Strategy == interrupt:
				ended[old] = errInterrupted
				err = t.move(old.Run, ending{status: StatusInterrupted, reason: "a later run of the thread interrupted it"})
			}
			if err != nil {
				return err
			}
		}
		return errors.Join(s.store.Room(t.runs.Tx()), store.Put(t.runs, ex.key(), ex.Run))
	})
	if err != nil {
		return err
	}
	for old, why := range ended {
		s.release(old, why)
	}
	ex.ctx, ex.cancel = context.WithCancelCause(s.base)
	ex.done = make(chan struct{})
	s.queues[ex.ThreadID] = append(s.queues[ex.ThreadID], ex)
	s.advance(ex.ThreadID)
	return nil
}

// release ends an execution that has ended in the store: its script is stopped, and who waits for it is released.
func (s *Server) release(ex *execution, why error) {
	queue := s.queues[ex.ThreadID]
	queue = slices.DeleteFunc(queue, func(other *execution) bool { return other == ex })
	if s.queues[ex.ThreadID] = queue; len(queue) == 0 {
		delete(s.queues, ex.ThreadID)
	}
	ex.why = why
	ex.cancel(why)
	close(ex.done)
}

// advance starts the first run of a thread: those of one thread run one after the other, in the order of their
// creation, those of different threads at the same time.
func (s *Server) advance(thread string) {
	queue := s.queues[thread]
	if len(queue) == 0 || queue[0].started || s.closing { // what has not begun when the server stops is ended by Close
		return
	}
	ex := queue[0]
	ex.started = true
	s.scripts.Go(func() {
		end := s.execute(ex)
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Contains(s.queues[thread], ex) {
			return // it was deleted or interrupted meanwhile, and has no say any more
		}
		if err := s.update(func(t tables) error { return t.move(ex.Run, end) }); err != nil {
			s.opts.Log.Error("a run could not be ended in the store", "run", ex.ID, "status", end.status, "error", err)
		}
		s.release(ex, nil)
		s.advance(thread)
	})
}

// find returns the execution of a run, nil if it is not in progress.
func (s *Server) find(thread, run string) *execution {
	queue := s.queues[thread]
	if at := slices.IndexFunc(queue, func(ex *execution) bool { return ex.ID == run }); at >= 0 {
		return queue[at]
	}
	return nil
}

// cancelRun is POST /threads/{thread_id}/runs/{run_id}/cancel. The run has ended when it answers; its messages stay.
func (s *Server) cancelRun(c *call) (int, any, error) {
	if _, err := s.visibleRun(c, "update"); err != nil {
		return 0, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ex := s.find(c.thread, c.run)
	if ex == nil {
		return 0, nil, httpapi.Refuse(http.StatusNotFound, "Run %s is not in progress: there is nothing to cancel", c.run)
	}
	err := s.update(func(t tables) error {
		return t.move(ex.Run, ending{status: StatusInterrupted, reason: "a client cancelled the run"})
	})
	if err != nil {
		return 0, nil, err
	}
	s.release(ex, errInterrupted)
	s.advance(c.thread)
	return http.StatusNoContent, nil, nil
}

// visibleRun finds a run of a thread that the user may use. A run is found under its own thread only.
func (s *Server) visibleRun(c *call, action string) (r Run, err error) {
	if _, _, err := s.visibleThread(c, action, map[string]any{"run_id": c.run}); err != nil {
		return Run{}, err
	}
	err = s.view(func(t tables) error {
		r, err = t.run(c.thread, c.run)
		return err
	})
	return r, err
}

// getRun is GET /threads/{thread_id}/runs/{run_id}.
func (s *Server) getRun(c *call) (int, any, error) {
	r, err := s.visibleRun(c, "read")
	return http.StatusOK, r, err
}

// listRuns is GET /threads/{thread_id}/runs?limit=&offset=: newest first.
func (s *Server) listRuns(c *call) (int, any, error) {
	var form httpapi.Form
	page := readPage(form.Query(c.Request), 10)
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	if _, _, err := s.visibleThread(c, "read", nil); err != nil {
		return 0, nil, err
	}
	var runs []Run
	err := s.view(func(t tables) (err error) {
		runs, err = store.Cut(store.Newest[Run](t.runs, c.thread), page, store.Any)
		return err
	})
	return http.StatusOK, runs, err
}

// joinRun is GET /threads/{thread_id}/runs/{run_id}/join: it answers when the run has ended, with the values of the
// thread's state. A join of a run that is rolled back is answered that there is no such run.
func (s *Server) joinRun(c *call) (int, any, error) {
	if _, err := s.visibleRun(c, "read"); err != nil {
		return 0, nil, err
	}
	switch err := s.wait(c.Context(), c.thread, c.run); {
	case errors.Is(err, errRolledBack):
		return 0, nil, httpapi.Refuse(http.StatusNotFound, "Run %s was rolled back and deleted", c.run)
	case err != nil && !errors.Is(err, errInterrupted):
		return 0, nil, err
	}
	var r Run
	var values map[string]any
	err := s.view(func(t tables) (err error) {
		if r, err = t.run(c.thread, c.run); err == nil {
			values, err = t.values(c.thread)
		}
		return err
	})
	if err == nil && r.Status != StatusSuccess {
		values["__error__"] = map[string]any{"status": r.Status, "message": r.Reason}
	}
	return http.StatusOK, values, err
}

// wait waits until a run has ended. One that is not in progress has.
func (s *Server) wait(ctx context.Context, thread, run string) error {
	s.mu.Lock()
	ex := s.find(thread, run)
	s.mu.Unlock()
	if ex == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.opts.JoinTimeout, errJoinTimeout)
	defer cancel()
	select {
	case <-ex.done:
		return ex.why
	case <-ctx.Done():
		return fmt.Errorf("wait for the run: %w", context.Cause(ctx))
	}
}
