package agentserver

import (
	"context"
	"errors"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// waitRun is POST /threads/{thread_id}/runs/wait, and POST /runs/wait without a thread: it answers when the new run has ended,
// with the values as the run left them, or {"__error__": {"error", "message"}} if it did not succeed.
func (s *Server) waitRun(x *exchange) (any, error) {
	ex, ask, err := s.createAttached(x, "join")
	if err != nil {
		return nil, err
	}
	defer s.engine.unfollow(ex)
	err = s.engine.wait(x.r.Context(), ex, s.opts.JoinTimeout)
	switch {
	case errors.Is(err, errRolledBack):
		return failed(rolledBack(x.runID)), nil
	case err != nil && !errors.Is(err, errInterrupted):
		if ask.cancelAlone && x.r.Context().Err() != nil {
			s.cancelAlone(x)
		}
		return nil, err
	}
	p, err := s.store.Progress(x.r.Context(), x.threadID, x.runID)
	if errors.Is(err, threads.ErrNotFound) {
		return failed(rolledBack(x.runID)), nil
	}
	if err != nil {
		return nil, err
	}
	if how := failureOf(p.Run); how != nil {
		return failed(how), nil
	}
	return p.Last(), nil
}

func failed(how map[string]any) map[string]any { return map[string]any{"__error__": how} }

// mayCancelAlone asks whether the user may cancel a run by closing the connection, where that is asked for.
func (s *Server) mayCancelAlone(x *exchange, alone bool) error {
	if !alone {
		return nil
	}
	_, _, err := s.visibleThread(x, "update", map[string]any{"run_id": x.runID, "action": actionInterrupt})
	return err
}

// cancelAlone interrupts the run of a client that has closed the connection.
func (s *Server) cancelAlone(x *exchange) {
	ctx := context.WithoutCancel(x.r.Context())
	if _, err := s.engine.cancel(ctx, x.threadID, actionInterrupt, func(r threads.Run) bool { return r.ID == x.runID }); err != nil {
		s.opts.Log.Error("the run of a client that is gone could not be cancelled", "run", x.runID, "error", err)
	}
}
