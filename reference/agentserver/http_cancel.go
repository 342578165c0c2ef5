package agentserver

import (
	"errors"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// cancelRun is POST /threads/{thread_id}/runs/{run_id}/cancel?wait=&action=: 202, or 204 if the client waits. Either way the run
// has ended by then, interrupted or deleted.
func (s *Server) cancelRun(x *exchange) (any, error) {
	q := x.r.URL.Query()
	wait, err := queryFlag(q, "wait")
	if err != nil {
		return nil, err
	}
	action, err := cancelAction(x)
	if err != nil {
		return nil, err
	}
	if _, _, err := s.visibleThread(x, "update", map[string]any{"run_id": x.runID, "action": action}); err != nil {
		return nil, err
	}
	if _, err := s.run(x); err != nil {
		return nil, err
	}
	n, err := s.engine.cancel(x.r.Context(), x.threadID, action, func(r threads.Run) bool { return r.ID == x.runID })
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, httpError(http.StatusNotFound, "Run %s is not in progress: there is nothing to cancel", x.runID)
	}
	if !wait {
		x.w.WriteHeader(http.StatusAccepted)
		return responded{}, nil
	}
	return nil, nil
}

func cancelAction(x *exchange) (string, error) {
	switch action := x.r.URL.Query().Get("action"); action {
	case "":
		return actionInterrupt, nil
	case actionInterrupt, actionRollback:
		return action, nil
	}
	return "", invalid("action must be interrupt or rollback")
}

// cancelRuns is POST /runs/cancel?action=: it cancels named runs of one thread, or all runs of the user with a status.
func (s *Server) cancelRuns(x *exchange) (any, error) {
	body, err := s.body(x, false)
	if err != nil {
		return nil, err
	}
	action, err := cancelAction(x)
	if err != nil {
		return nil, err
	}
	status, match, err := whichRuns(body)
	if err != nil {
		return nil, err
	}
	id, err := uuidField(body, "thread_id")
	if err != nil {
		return nil, err
	}
	among, value := []string{id}, map[string]any{"action": action, "thread_id": id}
	if status != "" {
		among, value = s.engine.threadsInProgress(), map[string]any{"action": action, "status": status}
	}
	d, err := s.allow(x, "update", value)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, id := range among {
		ended, err := s.cancelOn(x, id, d, action, match)
		if err != nil && !errors.Is(err, threads.ErrNotFound) {
			return nil, err
		}
		n += ended
	}
	if n == 0 {
		return nil, httpError(http.StatusNotFound, "No run in progress was found to cancel")
	}
	return nil, nil
}

// cancelOn cancels runs of a thread that a decision lets the user see.
func (s *Server) cancelOn(x *exchange, threadID string, d Decision, action string, match func(threads.Run) bool) (int, error) {
	t, err := s.store.Thread(x.r.Context(), threadID)
	if err != nil || !matches(t.Metadata, d.Filter) {
		return 0, err
	}
	return s.engine.cancel(x.r.Context(), threadID, action, match)
}

// whichRuns reads which runs a client wants to cancel.
func whichRuns(body map[string]any) (status string, match func(threads.Run) bool, err error) {
	for name := range body {
		if name != "thread_id" && name != "run_ids" && name != "status" {
			return "", nil, invalid("%s is not known: send status, or thread_id and run_ids", name)
		}
	}
	status, err = choice(body, "status", threads.StatusPending, threads.StatusRunning, "all")
	if err != nil {
		return "", nil, err
	}
	ids, err := uuidsField(body, "run_ids")
	switch {
	case err != nil:
		return "", nil, err
	case status != "" && (body["thread_id"] != nil || ids != nil):
		return "", nil, invalid("status cancels runs of all threads: leave out thread_id and run_ids, or status")
	case status == "" && (body["thread_id"] == nil || len(ids) == 0):
		return "", nil, invalid("send status, or thread_id and run_ids")
	case status == "":
		return "", func(r threads.Run) bool { return ids[r.ID] }, nil
	}
	return status, func(r threads.Run) bool { return slices.Contains([]string{"all", r.Status}, status) }, nil
}
