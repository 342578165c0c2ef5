package agentserver

import (
	"cmp"
	"errors"
	"net/http"

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

// listRuns is GET /threads/{thread_id}/runs?limit=&offset=: newest first.
func (s *Server) listRuns(x *exchange) (any, error) {
	limit, offset, err := page(queryNumbers(x.r.URL.Query(), "limit", "offset"), 10)
	if err != nil {
		return nil, err
	}
	if _, _, err := s.visibleThread(x, "read", nil); err != nil {
		return nil, err
	}
	runs, err := s.store.Runs(x.r.Context(), x.threadID)
	return cut(runs, limit, offset), err
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
	values, err := s.values(x)
	if r.Status != threads.StatusSuccess {
		values["__error__"] = map[string]any{"status": r.Status, "message": r.Reason}
	}
	return values, err
}

// cancelRun is POST /threads/{thread_id}/runs/{run_id}/cancel?action=interrupt|rollback. The run has ended when it
// answers.
func (s *Server) cancelRun(x *exchange) (any, error) {
	action := cmp.Or(x.r.URL.Query().Get("action"), "interrupt")
	if action != "interrupt" && action != "rollback" {
		return nil, invalid("action must be interrupt or rollback")
	}
	if _, err := s.visibleRun(x, "update"); err != nil {
		return nil, err
	}
	err := s.engine.cancel(x.r.Context(), x.threadID, x.runID, action == "rollback")
	if errors.Is(err, threads.ErrGone) {
		return nil, httpError(http.StatusNotFound, "Run %s is not in progress: there is nothing to cancel", x.runID)
	}
	return nil, err
}
