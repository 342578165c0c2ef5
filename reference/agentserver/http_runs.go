package agentserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

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

// runStatuses and runFields are what a list of runs can be filtered by, and reduced to.
var (
	runStatuses = []string{
		threads.StatusPending, threads.StatusRunning, threads.StatusError, threads.StatusSuccess, threads.StatusTimeout, threads.StatusInterrupted,
	}
	runFields = []string{"run_id", "thread_id", "assistant_id", "created_at", "updated_at", "status", "metadata", "multitask_strategy", "reason"}
)

// listRuns is GET /threads/{thread_id}/runs?limit=&offset=&status=&select=: newest first.
func (s *Server) listRuns(x *exchange) (any, error) {
	q := x.r.URL.Query()
	query := queryNumbers(q, "limit", "offset")
	limit, errLimit := intField(query, "limit", 10, 1, 1000)
	offset, errOffset := intField(query, "offset", 0, 0, math.MaxInt32)
	fields, errFields := queryList(q, "select", runFields)
	statuses, errStatus := queryList(q, "status", runStatuses)
	if err := cmp.Or(errLimit, errOffset, errFields, errStatus); err != nil {
		return nil, err
	}
	if _, _, err := s.visibleThread(x, "read", nil); err != nil {
		return nil, err
	}
	runs, err := s.store.Runs(x.r.Context(), x.threadID)
	if err != nil {
		return nil, err
	}
	if statuses != nil {
		runs = slices.DeleteFunc(runs, func(r threads.Run) bool { return !slices.Contains(statuses, r.Status) })
	}
	if fields == nil {
		return page(runs, limit, offset), nil
	}
	return selected(page(runs, limit, offset), fields)
}

// queryList reads a parameter that has some values; clients repeat it, or send a JSON array. Nil: it is not given.
func queryList(q url.Values, name string, known []string) ([]string, error) {
	var out []string
	for _, v := range q[name] {
		var many []string
		if json.Unmarshal([]byte(v), &many) != nil {
			many = []string{v}
		}
		out = append(out, many...)
	}
	for _, v := range out {
		if !slices.Contains(known, v) {
			return nil, invalid("%s must be one of %s", name, strings.Join(known, ", "))
		}
	}
	return out, nil
}

// selected leaves only some fields of each row.
func selected[T any](rows []T, fields []string) ([]map[string]any, error) {
	out := []map[string]any{}
	for _, row := range rows {
		data, err := json.Marshal(row)
		if err != nil {
			return nil, err
		}
		var all map[string]any
		if err := threads.Unmarshal(data, &all); err != nil {
			return nil, err
		}
		for name := range all {
			if !slices.Contains(fields, name) {
				delete(all, name)
			}
		}
		out = append(out, all)
	}
	return out, nil
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
	alone, err := queryFlag(x.r.URL.Query(), "cancel_on_disconnect")
	if err != nil {
		return nil, err
	}
	if err := s.mayCancelAlone(x, alone); err != nil {
		return nil, err
	}
	if _, err := s.visibleRun(x, "read"); err != nil {
		return nil, err
	}
	ex := s.engine.follow(x.runID)
	defer s.engine.unfollow(ex)
	err = s.engine.wait(x.r.Context(), ex, s.opts.JoinTimeout)
	if errors.Is(err, errRolledBack) {
		return nil, httpError(http.StatusNotFound, "Run %s was rolled back and deleted", x.runID)
	}
	if err != nil && !errors.Is(err, errInterrupted) {
		if alone && x.r.Context().Err() != nil {
			s.cancelAlone(x)
		}
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
