package agentserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// responded is returned by an endpoint that has written its answer itself.
type responded struct{}

// streamRun is POST /threads/{thread_id}/runs/stream, and POST /runs/stream without a thread: the events of a new run.
func (s *Server) streamRun(x *exchange) (any, error) {
	ex, ask, err := s.createAttached(x, "stream")
	if err != nil {
		return nil, err
	}
	defer s.engine.unfollow(ex)
	f := &follower{server: s, x: x, ex: ex, cancelAlone: ask.cancelAlone, reader: runReader{modes: ask.modes}}
	f.run(true)
	return responded{}, nil
}

// joinStream is GET /threads/{thread_id}/runs/{run_id}/stream: what is still to come of a run. With Last-Event-ID it is what
// came after that event, "-1" meaning all, also if the run has ended.
func (s *Server) joinStream(x *exchange) (any, error) {
	q := x.r.URL.Query()
	modes, err := queryModes(q)
	if err != nil {
		return nil, err
	}
	alone, err := queryFlag(q, "cancel_on_disconnect")
	if err != nil {
		return nil, err
	}
	last, resumed, err := lastEvent(x.r)
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
	p, err := s.store.Progress(x.r.Context(), x.threadID, x.runID)
	if err != nil {
		return nil, orMissing(err, noRun(x.runID))
	}
	if modes == nil && ex != nil {
		modes = ex.modes
	}
	f := &follower{server: s, x: x, ex: ex, cancelAlone: alone, reader: runReader{modes: modes, shown: len(p.Writes)}}
	if modes == nil {
		f.reader.modes = []string{modeValues}
	}
	if resumed {
		f.reader.shown = min(max(last, 0), len(p.Writes))
	}
	s.locate(x, x.runID, "stream")
	f.silent = ex == nil && !resumed // the run had ended: nothing is still to come
	f.run(last < 0 || !resumed && ex != nil && len(p.Writes) == 0)
	return responded{}, nil
}

// queryModes reads the modes of a stream, nil where there are none. Clients repeat the parameter, send a JSON array, or an
// empty value.
func queryModes(q url.Values) ([]string, error) {
	var list []any
	for _, v := range q["stream_mode"] {
		var many []any
		switch {
		case v == "":
		case json.Unmarshal([]byte(v), &many) == nil:
			list = append(list, many...)
		default:
			list = append(list, v)
		}
	}
	if list == nil {
		return nil, nil
	}
	return modesField(list)
}

// queryFlag reads a boolean of the query, as clients write it.
func queryFlag(q url.Values, name string) (bool, error) {
	switch q.Get(name) {
	case "", "0", "false", "False":
		return false, nil
	case "1", "true", "True":
		return true, nil
	}
	return false, invalid("%s must be true or false", name)
}

// lastEvent reads Last-Event-ID: the id of an event of this server, or -1 for all events.
func lastEvent(r *http.Request) (last int, given bool, err error) {
	v := r.Header.Get("Last-Event-ID")
	if v == "" {
		return 0, false, nil
	}
	last, err = strconv.Atoi(v)
	if err != nil || last < -1 {
		return 0, false, invalid("Last-Event-ID must be the id of an event of the run, or -1")
	}
	return last, true, nil
}

// follower is one client that reads the events of a run. What it reads comes from the store, so it takes no memory while the
// client is slow, and the run never waits for it.
type follower struct {
	server      *Server
	x           *exchange
	ex          *execution // nil: the run has ended
	reader      runReader
	stream      *eventStream
	cancelAlone bool
	silent      bool // how the run ended is no news
}

// run answers with the events of a run until it has ended, the client is gone, or Options.JoinTimeout is over.
func (f *follower) run(fromStart bool) {
	f.stream = openStream(f.x.w)
	defer f.stream.close()
	err := error(nil)
	if fromStart {
		err = f.stream.send(event{name: "metadata", data: map[string]any{"run_id": f.x.runID, "attempt": 1}, id: "0"})
	}
	if err == nil {
		err = f.follow()
	}
	if f.cancelAlone && f.ex != nil && err != nil && !errors.Is(err, errJoinTimeout) {
		f.server.cancelAlone(f.x)
	}
}

// follow sends events until there is nothing more to send. It returns why it has ended before the run.
func (f *follower) follow() error {
	limit := time.NewTimer(f.server.opts.JoinTimeout)
	defer limit.Stop()
	beat := time.NewTicker(f.server.opts.Heartbeat)
	defer beat.Stop()
	gone := f.x.r.Context().Done()
	for {
		more, end := (<-chan struct{})(nil), (<-chan struct{})(nil)
		ended := f.ex == nil
		if !ended {
			more, end = f.ex.written.wait(), f.ex.done
			select {
			case <-end:
				ended = true
			default:
			}
		}
		over, err := f.show(ended)
		if over || err != nil {
			return err
		}
		for waiting := true; waiting; {
			select {
			case <-more:
				waiting = false
			case <-end:
				waiting = false
			case <-beat.C:
				if err := f.stream.beat(); err != nil {
					return err
				}
			case <-limit.C:
				_ = f.stream.send(event{name: "error", data: failure("TimeoutError", "the stream has reached its limit of "+f.server.opts.JoinTimeout.String()+" and the run is in progress: join it, or its stream, again")})
				return errJoinTimeout
			case <-gone:
				return context.Cause(f.x.r.Context())
			}
		}
	}
}

// show sends what the run has written meanwhile and, if it has ended, how. A run that is not found is being deleted, and ends
// in a moment.
func (f *follower) show(ended bool) (over bool, err error) {
	p, err := f.server.store.Progress(f.x.r.Context(), f.x.threadID, f.x.runID)
	switch {
	case errors.Is(err, threads.ErrNotFound):
		if !ended {
			return false, nil
		}
		return true, f.sendEnd(rolledBack(f.x.runID))
	case errors.Is(err, threads.ErrClosed):
		return true, f.sendEnd(failure("UserInterrupt", reasonStopped))
	case f.x.r.Context().Err() != nil:
		return true, context.Cause(f.x.r.Context())
	case err != nil:
		f.server.opts.Log.Error("a stream failed", "run", f.x.runID, "error", err)
		return true, f.sendEnd(failure("InternalServerError", "Internal server error"))
	}
	for _, e := range f.reader.next(p) {
		if err := f.stream.send(e); err != nil {
			return true, err
		}
	}
	if !ended {
		return false, nil
	}
	if p.Run.Unfinished() { // the server stops, and ends the run in the store last
		return true, f.sendEnd(failure("UserInterrupt", reasonStopped))
	}
	return true, f.sendEnd(failureOf(p.Run))
}

// sendEnd tells how a run failed. There is no event for a success: the stream ends.
func (f *follower) sendEnd(how map[string]any) error {
	if how == nil || f.silent {
		return nil
	}
	return f.stream.send(event{name: "error", data: how})
}
