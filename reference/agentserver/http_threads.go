package agentserver

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"reflect"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// allow asks the authorizer about an action on threads.
func (s *Server) allow(ctx context.Context, user User, action string, value map[string]any) (Decision, error) {
	return s.authz.Authorize(ctx, Access{User: user, Resource: "threads", Action: action, Value: value})
}

// metadataOf is the payload's metadata with the filter merged into it: what a caller writes there is overwritten
// (interface, section 5, item 6).
func (d Decision) metadataOf(sent map[string]any) map[string]any {
	if changed, ok := d.Value["metadata"].(map[string]any); ok {
		sent = changed
	}
	merged := maps.Clone(sent)
	if merged == nil {
		merged = map[string]any{}
	}
	maps.Copy(merged, d.Filter)
	return merged
}

// matches tells whether metadata has all the values of a filter.
func matches(metadata, filter map[string]any) bool {
	for k, want := range filter {
		have, ok := metadata[k]
		if !ok || !equalJSON(have, want) {
			return false
		}
	}
	return true
}

// equalJSON compares JSON values; numbers by their value, so that 1 and 1.0 are the same.
func equalJSON(a, b any) bool {
	if x, ok := a.(json.Number); ok {
		y, ok := b.(json.Number)
		if !ok {
			return false
		}
		xf, errX := x.Float64()
		yf, errY := y.Float64()
		return x == y || errX == nil && errY == nil && xf == yf && math.Abs(xf) < 1<<53
	}
	return reflect.DeepEqual(a, b)
}

// visibleThread finds a thread that the user may use for an action. One that is hidden does not exist for the user.
func (s *Server) visibleThread(ctx context.Context, user User, action, id string, value map[string]any) (threads.Thread, Decision, error) {
	if value == nil {
		value = map[string]any{}
	}
	value["thread_id"] = id
	d, err := s.allow(ctx, user, action, value)
	if err != nil {
		return threads.Thread{}, Decision{}, err
	}
	t, err := s.store.Thread(ctx, id)
	if errors.Is(err, threads.ErrNotFound) || err == nil && !matches(t.Metadata, d.Filter) {
		return threads.Thread{}, Decision{}, noThread(id)
	}
	return t, d, err
}

func noThread(id string) error { return httpError(http.StatusNotFound, "Thread %s not found", id) }

// createThread is POST /threads.
func (s *Server) createThread(x *exchange) error {
	body, err := s.body(x, true)
	if err != nil {
		return err
	}
	id, err := uuidField(body, "thread_id")
	if err != nil {
		return err
	}
	metadata, err := objectField(body, "metadata")
	if err != nil {
		return err
	}
	ifExists, err := stringField(body, "if_exists")
	if err != nil || ifExists != "" && ifExists != "raise" && ifExists != "do_nothing" {
		return invalid(`if_exists must be "raise" or "do_nothing"`)
	}
	if id == "" {
		id = threads.NewID()
	}
	d, err := s.allow(x.r.Context(), x.user, "create", map[string]any{"thread_id": id, "metadata": metadata})
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	t := threads.Thread{ID: id, CreatedAt: now, UpdatedAt: now, Metadata: d.metadataOf(metadata), Status: "idle"}
	err = s.store.CreateThread(x.r.Context(), t)
	if errors.Is(err, threads.ErrExists) {
		return s.existing(x, id, ifExists, d)
	}
	if err != nil {
		return err
	}
	answer(x.w, http.StatusOK, t)
	return nil
}

// existing answers to the creation of a thread that is there already.
func (s *Server) existing(x *exchange, id, ifExists string, d Decision) error {
	t, err := s.store.Thread(x.r.Context(), id)
	if err != nil {
		return err
	}
	if ifExists != "do_nothing" || !matches(t.Metadata, d.Filter) {
		return httpError(http.StatusConflict, "Thread %s exists already", id)
	}
	answer(x.w, http.StatusOK, t)
	return nil
}

// listThreads is GET /threads.
func (s *Server) listThreads(x *exchange) error {
	return s.answerThreads(x, queryNumbers(x.r.URL.Query(), "limit", "offset"), 100)
}

// searchThreads is POST /threads/search.
func (s *Server) searchThreads(x *exchange) error {
	body, err := s.body(x, true)
	if err != nil {
		return err
	}
	return s.answerThreads(x, body, 10)
}

// answerThreads lists the threads that match both what the caller asks for and what the caller may see.
func (s *Server) answerThreads(x *exchange, body map[string]any, defaultLimit int) error {
	limit, errLimit := intField(body, "limit", defaultLimit, 1, 1000)
	offset, errOffset := intField(body, "offset", 0, 0, math.MaxInt32)
	metadata, errMetadata := objectField(body, "metadata")
	ids, errIDs := uuidsField(body, "ids")
	status, errStatus := stringField(body, "status")
	for _, err := range []error{errLimit, errOffset, errMetadata, errIDs, errStatus} {
		if err != nil {
			return err
		}
	}
	d, err := s.allow(x.r.Context(), x.user, "search", map[string]any{"metadata": metadata, "limit": limit, "offset": offset})
	if err != nil {
		return err
	}
	found, err := s.store.Threads(x.r.Context(), func(t threads.Thread) bool {
		return matches(t.Metadata, d.Filter) && matches(t.Metadata, metadata) &&
			(ids == nil || ids[t.ID]) && (status == "" || t.Status == status)
	})
	if err != nil {
		return err
	}
	from := min(offset, len(found))
	page := found[from:min(from+limit, len(found))]
	if page == nil {
		page = []threads.Thread{}
	}
	answer(x.w, http.StatusOK, page)
	return nil
}

// getThread is GET /threads/{thread_id}.
func (s *Server) getThread(x *exchange) error {
	id, err := x.pathID("thread_id")
	if err != nil {
		return err
	}
	t, _, err := s.visibleThread(x.r.Context(), x.user, "read", id, nil)
	if err != nil {
		return err
	}
	answer(x.w, http.StatusOK, t)
	return nil
}

// patchThread is PATCH /threads/{thread_id}: the metadata sent is merged into the thread's.
func (s *Server) patchThread(x *exchange) error {
	id, err := x.pathID("thread_id")
	if err != nil {
		return err
	}
	body, err := s.body(x, false)
	if err != nil {
		return err
	}
	metadata, err := objectField(body, "metadata")
	if err != nil {
		return err
	}
	_, d, err := s.visibleThread(x.r.Context(), x.user, "update", id, map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	t, err := s.store.UpdateThread(x.r.Context(), id, func(t *threads.Thread) error {
		if !matches(t.Metadata, d.Filter) {
			return noThread(id) // it changed hands since we looked
		}
		if t.Metadata == nil {
			t.Metadata = map[string]any{}
		}
		maps.Copy(t.Metadata, d.metadataOf(metadata))
		return nil
	})
	if errors.Is(err, threads.ErrNotFound) {
		return noThread(id)
	}
	if err != nil {
		return err
	}
	answer(x.w, http.StatusOK, t)
	return nil
}

// deleteThread is DELETE /threads/{thread_id}.
func (s *Server) deleteThread(x *exchange) error {
	id, err := x.pathID("thread_id")
	if err != nil {
		return err
	}
	if _, _, err := s.visibleThread(x.r.Context(), x.user, "delete", id, nil); err != nil {
		return err
	}
	err = s.engine.remove(id, func(threads.Run) bool { return true }, func() error { return s.store.DeleteThread(x.r.Context(), id) })
	if errors.Is(err, threads.ErrNotFound) {
		return noThread(id)
	}
	if err != nil {
		return err
	}
	x.w.WriteHeader(http.StatusNoContent)
	return nil
}

// getState is GET /threads/{thread_id}/state (interface, section 2, "Thread state").
func (s *Server) getState(x *exchange) error {
	id, err := x.pathID("thread_id")
	if err != nil {
		return err
	}
	t, _, err := s.visibleThread(x.r.Context(), x.user, "read", id, nil)
	if err != nil {
		return err
	}
	state, err := s.store.State(x.r.Context(), id)
	if errors.Is(err, threads.ErrNotFound) {
		return noThread(id)
	}
	if err != nil {
		return err
	}
	at, checkpoint, metadata := t.CreatedAt, any(nil), map[string]any{}
	if state.RunID != "" {
		at, checkpoint = state.At, state.Messages[len(state.Messages)-1].ID
		metadata["run_id"] = state.RunID
	}
	answer(x.w, http.StatusOK, map[string]any{
		"values":     state.Values(),
		"next":       []string{},
		"checkpoint": map[string]any{"thread_id": id, "checkpoint_ns": "", "checkpoint_id": checkpoint},
		"metadata":   metadata,
		"created_at": at,
	})
	return nil
}
