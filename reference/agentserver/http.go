package agentserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// exchange is one request in a handler, with the ids of its path.
type exchange struct {
	w               http.ResponseWriter
	r               *http.Request
	user            User
	threadID, runID string
}

// endpoint returns what is answered, nil where the answer has no body.
type endpoint func(*exchange) (any, error)

// methods are the endpoints of a path by method.
type methods map[string]endpoint

// dispatch authenticates every request before anything else is looked at, and turns errors into answers.
func (s *Server) dispatch(m methods) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method := r.Method
		if method == http.MethodHead {
			method = http.MethodGet
		}
		do := m[method]
		if do == nil {
			w.Header().Set("Allow", strings.Join(slices.Sorted(maps.Keys(m)), ", "))
			answerError(w, http.StatusMethodNotAllowed, "Method Not Allowed")
			return
		}
		user, err := s.auth.Authenticate(r.Context(), requestOf(r))
		x := &exchange{w: w, r: r, user: user}
		var v any
		if err == nil {
			err = x.readPath()
		}
		if err == nil {
			v, err = do(x)
		}
		switch {
		case err != nil:
			s.answerFailure(w, r, err)
		case v == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			answer(w, http.StatusOK, v)
		}
	})
}

// answerFailure chooses the status for an error. An internal error is logged, and not shown.
func (s *Server) answerFailure(w http.ResponseWriter, r *http.Request, err error) {
	var chosen *HTTPError
	var refused *threads.RefusedError
	switch {
	case errors.As(err, &chosen):
		answerError(w, chosen.Status, chosen.Detail)
	case errors.As(err, &refused):
		answerError(w, http.StatusConflict, refused.Reason)
	case errors.Is(err, errStopping), errors.Is(err, threads.ErrClosed), errors.Is(err, errTooMany), errors.Is(err, errJoinTimeout):
		w.Header().Set("Retry-After", "1")
		answerError(w, http.StatusServiceUnavailable, "Try again: "+err.Error())
	case r.Context().Err() != nil && errors.Is(err, context.Canceled):
		// The client closed the connection: there is no one to answer.
	default:
		s.opts.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", s.rev.Load().redact(err.Error()))
		answerError(w, http.StatusInternalServerError, "Internal server error")
	}
}

func answerError(w http.ResponseWriter, status int, detail string) {
	answer(w, status, map[string]string{"detail": detail})
}

func answer(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte(`{"detail":"Internal server error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // the client may have closed the connection
}

func invalid(format string, args ...any) error {
	return httpError(http.StatusUnprocessableEntity, format, args...)
}

// readPath reads the ids of the path. All ids are uuids, in the one form that the server writes itself.
func (x *exchange) readPath() error {
	ok := true
	if id := x.r.PathValue("thread_id"); id != "" {
		if x.threadID, ok = parseID(id); !ok {
			return invalid("Invalid thread id: it must be a uuid")
		}
	}
	if id := x.r.PathValue("run_id"); id != "" {
		if x.runID, ok = parseID(id); !ok {
			return invalid("Invalid run id: it must be a uuid")
		}
	}
	return nil
}

// body decodes the JSON object that a request sends. An absent body is allowed where the object may be empty.
func (s *Server) body(x *exchange, mayBeAbsent bool) (map[string]any, error) {
	data, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, s.opts.MaxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, httpError(http.StatusRequestEntityTooLarge, "The body has more than %d bytes", s.opts.MaxBody)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, httpError(http.StatusRequestTimeout, "The body took too long")
	case err != nil:
		return nil, httpError(http.StatusBadRequest, "The body could not be read")
	case len(data) == 0 && mayBeAbsent:
		return map[string]any{}, nil
	case len(data) == 0:
		return nil, invalid("The body is not valid JSON: it is empty")
	case !utf8.Valid(data):
		return nil, invalid("The body is not valid JSON: it is not encoded as UTF-8")
	}
	var v any
	if err := threads.Unmarshal(data, &v); err != nil {
		return nil, invalid("The body is not valid JSON: %s", err)
	}
	object, ok := v.(map[string]any)
	switch {
	case !ok:
		return nil, invalid("The body must be a JSON object")
	case depth(v) > maxContentDepth:
		return nil, invalid("The body is nested more than %d levels deep", maxContentDepth)
	}
	return object, nil
}
