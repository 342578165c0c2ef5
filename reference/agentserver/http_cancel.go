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
	among := []string{}
	if status != "" {
		among = s.engine.threadsInProgress()
	} else if id, err := uuidField(body, "thread_id"); err != nil {
		return nil, err
	} else {
		among = append(among, id)
	}
	n := 0
	for _, id := range among {
		each := &exchange{w: x.w, r: x.r, user: x.user, threadID: id}
		_, _, err := s.visibleThread(each, "update", map[string]any{"action": action})
		if hidden, ok := errors.AsType[*HTTPError](err); ok && hidden.Status == http.StatusNotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		ended, err := s.engine.cancel(x.r.Context(), id, action, match)
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
