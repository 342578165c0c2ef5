package agentserver

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// createRun is POST /threads/{thread_id}/runs: it answers as soon as the run is on record (interface, sections 3 and 4).
func (s *Server) createRun(x *exchange) error {
	threadID, err := x.pathID("thread_id")
	if err != nil {
		return err
	}
	body, err := s.body(x, false)
	if err != nil {
		return err
	}
	ask, err := s.parseRun(body)
	if err != nil {
		return err
	}
	_, d, err := s.visibleThread(x.r.Context(), x.user, "create_run", threadID, map[string]any{
		"assistant_id": ask.assistantID, "multitask_strategy": ask.strategyName, "metadata": ask.metadata, "input": ask.rawInput,
	})
	if err != nil {
		return err
	}
	rev := s.rev.Load()
	g, ok := rev.app.graphs[ask.assistantID]
	if !ok {
		return httpError(http.StatusNotFound, "Assistant %q not found: the deployed graphs are %s", ask.assistantID, strings.Join(rev.app.Graphs(), ", "))
	}
	now := time.Now().UTC()
	run := threads.Run{
		ID: threads.NewID(), ThreadID: threadID, AssistantID: ask.assistantID, CreatedAt: now, UpdatedAt: now,
		Status: threads.StatusPending, Metadata: d.metadataOf(ask.metadata), Strategy: ask.strategyName,
	}
	ex := &execution{run: run, rev: rev, graph: g, user: x.user, input: ask.input}
	err = s.engine.begin(x.r.Context(), ex, s.opts.Strategies[ask.strategyName])
	if errors.Is(err, threads.ErrNotFound) {
		return noThread(threadID)
	}
	if err != nil {
		return err
	}
	x.w.Header().Set("Content-Location", strings.TrimSuffix(s.opts.BasePath, "/")+"/threads/"+threadID+"/runs/"+run.ID)
	answer(x.w, http.StatusOK, run)
	return nil
}

// runRequest is the body of createRun.
type runRequest struct {
	assistantID  string
	input        []threads.Message
	rawInput     map[string]any
	metadata     map[string]any
	strategyName string
}

func (s *Server) parseRun(body map[string]any) (out runRequest, err error) {
	if out.assistantID, err = stringField(body, "assistant_id"); err != nil {
		return out, err
	}
	if out.assistantID == "" {
		return out, invalid("assistant_id is required: the name of a deployed graph")
	}
	if out.metadata, err = objectField(body, "metadata"); err != nil {
		return out, err
	}
	if out.strategyName, err = stringField(body, "multitask_strategy"); err != nil {
		return out, err
	}
	if out.strategyName == "" {
		out.strategyName = s.opts.DefaultStrategy
	}
	if s.opts.Strategies[out.strategyName] == nil {
		return out, invalid("multitask_strategy must be one of %s", strings.Join(slices.Sorted(maps.Keys(s.opts.Strategies)), ", "))
	}
	input, ok := body["input"].(map[string]any)
	if !ok {
		return out, invalid("input is required: an object with messages")
	}
	messages, ok := input["messages"].([]any)
	if !ok {
		return out, invalid("input.messages is required: an array of objects with role and content")
	}
	for i, v := range messages {
		m, err := parseMessage(v, "")
		if err != nil {
			return out, invalid("input.messages[%d]: %s", i, err)
		}
		out.input = append(out.input, m)
	}
	out.rawInput = input
	return out, nil
}

// visibleRun finds a run of a thread that the user may read. A run is found under its own thread only.
func (s *Server) visibleRun(x *exchange, action string) (threads.Run, error) {
	threadID, err := x.pathID("thread_id")
	if err != nil {
		return threads.Run{}, err
	}
	runID, err := x.pathID("run_id")
	if err != nil {
		return threads.Run{}, err
	}
	if _, _, err := s.visibleThread(x.r.Context(), x.user, action, threadID, map[string]any{"run_id": runID}); err != nil {
		return threads.Run{}, err
	}
	r, err := s.store.Run(x.r.Context(), threadID, runID)
	if errors.Is(err, threads.ErrNotFound) {
		return threads.Run{}, noRun(runID)
	}
	return r, err
}

func noRun(id string) error { return httpError(http.StatusNotFound, "Run %s not found", id) }

// getRun is GET /threads/{thread_id}/runs/{run_id}.
func (s *Server) getRun(x *exchange) error {
	r, err := s.visibleRun(x, "read")
	if err != nil {
		return err
	}
	answer(x.w, http.StatusOK, r)
	return nil
}

// listRuns is GET /threads/{thread_id}/runs.
func (s *Server) listRuns(x *exchange) error {
	threadID, err := x.pathID("thread_id")
	if err != nil {
		return err
	}
	query := queryNumbers(x.r.URL.Query(), "limit", "offset")
	limit, err := intField(query, "limit", 10, 1, 1000)
	if err != nil {
		return err
	}
	offset, err := intField(query, "offset", 0, 0, 1<<31-1)
	if err != nil {
		return err
	}
	if _, _, err := s.visibleThread(x.r.Context(), x.user, "read", threadID, nil); err != nil {
		return err
	}
	runs, err := s.store.Runs(x.r.Context(), threadID)
	if err != nil {
		return err
	}
	from := min(offset, len(runs))
	page := runs[from:min(from+limit, len(runs))]
	if page == nil {
		page = []threads.Run{}
	}
	answer(x.w, http.StatusOK, page)
	return nil
}

// deleteRun is DELETE /threads/{thread_id}/runs/{run_id}: what rollback does to a run, without a new one.
func (s *Server) deleteRun(x *exchange) error {
	r, err := s.visibleRun(x, "delete")
	if err != nil {
		return err
	}
	err = s.engine.remove(r.ThreadID, func(other threads.Run) bool { return other.ID == r.ID },
		func() error { return s.store.DeleteRun(x.r.Context(), r.ThreadID, r.ID) })
	if errors.Is(err, threads.ErrNotFound) {
		return noRun(r.ID)
	}
	if err != nil {
		return err
	}
	x.w.WriteHeader(http.StatusNoContent)
	return nil
}

// joinRun is GET /threads/{thread_id}/runs/{run_id}/join: it answers when the run has ended, with the values of the
// thread's state. Who waits for a run that is rolled back is told that there is no such run.
func (s *Server) joinRun(x *exchange) error {
	r, err := s.visibleRun(x, "read")
	if err != nil {
		return err
	}
	err = s.engine.wait(x.r.Context(), r.ID, s.opts.JoinTimeout)
	if errors.Is(err, errRolledBack) {
		return httpError(http.StatusNotFound, "Run %s was rolled back and deleted", r.ID)
	}
	if err != nil && !errors.Is(err, errInterrupted) {
		return err
	}
	r, err = s.store.Run(x.r.Context(), r.ThreadID, r.ID)
	if errors.Is(err, threads.ErrNotFound) {
		return noRun(r.ID)
	}
	if err != nil {
		return err
	}
	state, err := s.store.State(x.r.Context(), r.ThreadID)
	if errors.Is(err, threads.ErrNotFound) {
		return noThread(r.ThreadID)
	}
	if err != nil {
		return err
	}
	values := state.Values()
	if r.Status != threads.StatusSuccess {
		values["__error__"] = map[string]any{"status": r.Status, "message": r.Reason}
	}
	answer(x.w, http.StatusOK, values)
	return nil
}
