package agentserver

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// createRun is POST /threads/{thread_id}/runs: it answers as soon as the run is on record (interface, sections 3 and 4).
func (s *Server) createRun(x *exchange) (any, error) {
	body, err := s.body(x, false)
	if err != nil {
		return nil, err
	}
	ask, err := s.parseRun(body)
	if err != nil {
		return nil, err
	}
	_, d, err := s.visibleThread(x, "create_run", map[string]any{
		"assistant_id": ask.assistantID, "multitask_strategy": ask.strategyName, "metadata": ask.metadata, "input": ask.rawInput,
	})
	if err != nil {
		return nil, err
	}
	rev := s.rev.Load()
	g, ok := rev.app.graphs[ask.assistantID]
	if !ok {
		return nil, httpError(http.StatusNotFound, "Assistant %q not found: the deployed graphs are %s", ask.assistantID, strings.Join(rev.app.Graphs(), ", "))
	}
	now := time.Now().UTC()
	run := threads.Run{
		ID: threads.NewID(), ThreadID: x.threadID, AssistantID: ask.assistantID, CreatedAt: now, UpdatedAt: now,
		Status: threads.StatusPending, Metadata: d.metadataOf(ask.metadata), Strategy: ask.strategyName,
	}
	ex := &execution{run: run, rev: rev, graph: g, user: x.user, input: ask.input}
	if err := s.engine.begin(x.r.Context(), ex, s.opts.Strategies[ask.strategyName]); err != nil {
		return nil, orMissing(err, noThread(x.threadID))
	}
	x.w.Header().Set("Content-Location", strings.TrimSuffix(s.opts.BasePath, "/")+"/threads/"+x.threadID+"/runs/"+run.ID)
	return run, nil
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
	if strategy, given := body["multitask_strategy"]; given && strategy == nil {
		return out, invalid("multitask_strategy must be a string") // the interface has it optional, not nullable
	}
	if out.strategyName, err = stringField(body, "multitask_strategy"); err != nil {
		return out, err
	}
	out.strategyName = cmp.Or(out.strategyName, s.opts.DefaultStrategy)
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
		if fields, ok := v.(map[string]any); ok && fields["role"] == nil {
			return out, invalid("input.messages[%d]: role is required", i)
		}
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
	if _, _, err := s.visibleThread(x, action, map[string]any{"run_id": x.runID}); err != nil {
		return threads.Run{}, err
	}
	return s.run(x)
}

func (s *Server) run(x *exchange) (threads.Run, error) {
	r, err := s.store.Run(x.r.Context(), x.threadID, x.runID)
	return r, orMissing(err, noRun(x.runID))
}

func noRun(id string) error { return httpError(http.StatusNotFound, "Run %s not found", id) }

// getRun is GET /threads/{thread_id}/runs/{run_id}.
func (s *Server) getRun(x *exchange) (any, error) { return s.visibleRun(x, "read") }

// listRuns is GET /threads/{thread_id}/runs.
func (s *Server) listRuns(x *exchange) (any, error) {
	query := queryNumbers(x.r.URL.Query(), "limit", "offset")
	limit, errLimit := intField(query, "limit", 10, 1, 1000)
	offset, errOffset := intField(query, "offset", 0, 0, math.MaxInt32)
	if err := cmp.Or(errLimit, errOffset); err != nil {
		return nil, err
	}
	if _, _, err := s.visibleThread(x, "read", nil); err != nil {
		return nil, err
	}
	runs, err := s.store.Runs(x.r.Context(), x.threadID)
	return page(runs, limit, offset), err
}

// deleteRun is DELETE /threads/{thread_id}/runs/{run_id}: what rollback does to a run, without a new one.
func (s *Server) deleteRun(x *exchange) (any, error) {
	if _, err := s.visibleRun(x, "delete"); err != nil {
		return nil, err
	}
	err := s.engine.remove(x.threadID, func(other threads.Run) bool { return other.ID == x.runID },
		func() error { return s.store.DeleteRun(x.r.Context(), x.threadID, x.runID) })
	return nil, orMissing(err, noRun(x.runID))
}

// joinRun is GET /threads/{thread_id}/runs/{run_id}/join: it answers when the run has ended, with the values of the
// thread's state. A join of a run that is rolled back is answered that there is no such run.
func (s *Server) joinRun(x *exchange) (any, error) {
	if _, err := s.visibleRun(x, "read"); err != nil {
		return nil, err
	}
	err := s.engine.wait(x.r.Context(), x.runID, s.opts.JoinTimeout)
	if errors.Is(err, errRolledBack) {
		return nil, httpError(http.StatusNotFound, "Run %s was rolled back and deleted", x.runID)
	}
	if err != nil && !errors.Is(err, errInterrupted) {
		return nil, err
	}
	r, err := s.run(x)
	if err != nil {
		return nil, err
	}
	state, err := s.store.State(x.r.Context(), x.threadID)
	if err != nil {
		return nil, orMissing(err, noThread(x.threadID))
	}
	values := state.Values()
	if r.Status != threads.StatusSuccess {
		values["__error__"] = map[string]any{"status": r.Status, "message": r.Reason}
	}
	return values, nil
}
