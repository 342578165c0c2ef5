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

// The causes for which a run was stopped, or a wait for it ended.
var (
	errRolledBack  = errors.New("the run was rolled back and deleted")
	errInterrupted = errors.New("the run was interrupted")
	errStopping    = httpapi.Refuse(http.StatusServiceUnavailable, "Try again: the server is stopping.")
	errJoinTimeout = httpapi.Refuse(http.StatusServiceUnavailable, "Try again: the run is still in progress.")
)

// The multitask strategies. They determine what happens if a thread has unfinished runs when a new run is created.
const (
	reject    = "reject"    // the new run is refused
	enqueue   = "enqueue"   // the new run waits for the others; this is the default
	interrupt = "interrupt" // the others end, and their messages remain
	rollback  = "rollback"  // the others are deleted with all of their messages
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
	done    chan struct{} // closed when the end of the run is stored
	cause   error         // the reason why the run was stopped, or nil; valid when done is closed
}

// createRun serves POST /threads/{thread_id}/runs. It returns when the run is stored (interface, sections 3 and 4).
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
	if strategy, ok := body.Members["multitask_strategy"]; ok {
		ex.Strategy = httpapi.Choice(body, "multitask_strategy", strategies)
		if strategy == nil { // the member is optional, but not nullable
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
	graph, ok := ex.rev.app.graphs[ex.AssistantID]
	if !ok {
		return 0, nil, httpapi.Refuse(http.StatusNotFound, "Assistant %q not found: the deployed graphs are %s",
			ex.AssistantID, strings.Join(ex.rev.app.Graphs(), ", "))
	}
	ex.graph = graph
	return http.StatusOK, ex.Run, s.begin(ex)
}

// begin adds a run to its thread. One transaction applies the strategy to the unfinished runs of the thread and stores the
// new run (interface, section 3, "Run rollback rule"). Then the scripts of the runs that have ended are stopped, and joins
// that wait for them return. Completed runs remain with their messages.
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
			switch ex.Strategy {
			case rollback:
				if err := t.deleteRun(old.Run); err != nil {
					return err
				}
				ended[old] = errRolledBack
			case interrupt:
				end := ending{status: StatusInterrupted, reason: "a later run of the thread interrupted it"}
				if err := t.move(old.Run, end); err != nil {
					return err
				}
				ended[old] = errInterrupted
			}
		}
		if err := s.store.Room(t.runs.Tx()); err != nil {
			return err
		}
		return store.Put(t.runs, ex.key(), ex.Run)
	})
	if err != nil {
		return err
	}
	for old, cause := range ended {
		s.release(old, cause)
	}
	ex.ctx, ex.cancel = context.WithCancelCause(s.base)
	ex.done = make(chan struct{})
	s.queues[ex.ThreadID] = append(s.queues[ex.ThreadID], ex)
	s.advance(ex.ThreadID)
	return nil
}

// release removes an execution whose end is stored. It stops the script and lets joins return. The caller holds mu.
func (s *Server) release(ex *execution, cause error) {
	queue := slices.DeleteFunc(s.queues[ex.ThreadID], func(other *execution) bool { return other == ex })
	s.queues[ex.ThreadID] = queue
	if len(queue) == 0 {
		delete(s.queues, ex.ThreadID)
	}
	ex.cause = cause
	ex.cancel(cause)
	close(ex.done)
}

// advance starts the first run of a thread if it has not started. Runs of one thread are executed in the order of their
// creation, and those of different threads concurrently. The caller holds mu.
func (s *Server) advance(thread string) {
	queue := s.queues[thread]
	if len(queue) == 0 || queue[0].started || s.closing { // Close ends runs that have not started
		return
	}
	ex := queue[0]
	ex.started = true
	s.scripts.Go(func() {
		end := s.execute(ex)
		s.mu.Lock()
		defer s.mu.Unlock()
		if !slices.Contains(s.queues[thread], ex) {
			return // the run was deleted or interrupted
		}
		if err := s.update(func(t tables) error { return t.move(ex.Run, end) }); err != nil {
			s.opts.Log.Error("storing the end of a run failed", "run", ex.ID, "status", end.status, "error", err)
		}
		s.release(ex, nil)
		s.advance(thread)
	})
}

// find returns the execution of a run, or nil if the run is not in progress. The caller holds mu.
func (s *Server) find(thread, run string) *execution {
	for _, ex := range s.queues[thread] {
		if ex.ID == run {
			return ex
		}
	}
	return nil
}

// cancelRun serves POST /threads/{thread_id}/runs/{run_id}/cancel. When it returns, the run has ended. Its messages remain.
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
		return t.move(ex.Run, ending{status: StatusInterrupted, reason: "a client canceled the run"})
	})
	if err != nil {
		return 0, nil, err
	}
	s.release(ex, errInterrupted)
	s.advance(c.thread)
	return http.StatusNoContent, nil, nil
}

// visibleRun returns a run of a thread, if the user may access the thread. A run is only found under its own thread.
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

// getRun serves GET /threads/{thread_id}/runs/{run_id}.
func (s *Server) getRun(c *call) (int, any, error) {
	r, err := s.visibleRun(c, "read")
	return http.StatusOK, r, err
}

// listRuns serves GET /threads/{thread_id}/runs?limit=&offset=. It lists the newest runs first.
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

// joinRun serves GET /threads/{thread_id}/runs/{run_id}/join. It returns the values of the state when the run has ended. If
// the run is rolled back, it returns 404.
func (s *Server) joinRun(c *call) (int, any, error) {
	if _, err := s.visibleRun(c, "read"); err != nil {
		return 0, nil, err
	}
	err := s.wait(c.Context(), c.thread, c.run)
	switch {
	case errors.Is(err, errRolledBack):
		return 0, nil, httpapi.Refuse(http.StatusNotFound, "Run %s was rolled back and deleted", c.run)
	case err != nil && !errors.Is(err, errInterrupted):
		return 0, nil, err
	}
	var r Run
	var values map[string]any
	err = s.view(func(t tables) (err error) {
		r, err = t.run(c.thread, c.run)
		if err != nil {
			return err
		}
		values, err = t.values(c.thread)
		return err
	})
	if err != nil {
		return 0, nil, err
	}
	if r.Status != StatusSuccess {
		values["__error__"] = map[string]any{"status": r.Status, "message": r.Reason}
	}
	return http.StatusOK, values, nil
}

// wait waits until a run has ended. It returns at once if the run is not in progress. The error is the reason why the run
// was stopped, or the end of the wait.
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
		return ex.cause
	case <-ctx.Done():
		return fmt.Errorf("waiting for the run: %w", context.Cause(ctx))
	}
}
