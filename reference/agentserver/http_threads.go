package agentserver

import (
	"cmp"
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
func (s *Server) allow(x *exchange, action string, value map[string]any) (Decision, error) {
	return s.authz.Authorize(x.r.Context(), Access{User: x.user, Resource: "threads", Action: action, Value: value})
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
func (s *Server) visibleThread(x *exchange, action string, value map[string]any) (threads.Thread, Decision, error) {
	if value == nil {
		value = map[string]any{}
	}
	value["thread_id"] = x.threadID
	d, err := s.allow(x, action, value)
	if err != nil {
		return threads.Thread{}, Decision{}, err
	}
	t, err := s.store.Thread(x.r.Context(), x.threadID)
	if errors.Is(err, threads.ErrNotFound) || err == nil && !matches(t.Metadata, d.Filter) {
		return threads.Thread{}, Decision{}, noThread(x.threadID)
	}
	return t, d, err
}

func noThread(id string) error { return httpError(http.StatusNotFound, "Thread %s not found", id) }

// orMissing says what is missing where the store has not found it.
func orMissing(err, missing error) error {
	if errors.Is(err, threads.ErrNotFound) {
		return missing
	}
	return err
}

// page is the part of a list that was asked for; an empty one is an array too.
func page[T any](all []T, limit, offset int) []T {
	from := min(offset, len(all))
	return append([]T{}, all[from:min(from+limit, len(all))]...)
}

// createThread is POST /threads.
func (s *Server) createThread(x *exchange) (any, error) {
	body, err := s.body(x, true)
	if err != nil {
		return nil, err
	}
	id, errID := uuidField(body, "thread_id")
	metadata, errMetadata := objectField(body, "metadata")
	if err := cmp.Or(errID, errMetadata); err != nil {
		return nil, err
	}
	ifExists, err := stringField(body, "if_exists")
	if err != nil || ifExists != "" && ifExists != "raise" && ifExists != "do_nothing" {
		return nil, invalid(`if_exists must be "raise" or "do_nothing"`)
	}
	id = cmp.Or(id, threads.NewID())
	d, err := s.allow(x, "create", map[string]any{"thread_id": id, "metadata": metadata})
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	t := threads.Thread{ID: id, CreatedAt: now, UpdatedAt: now, Metadata: d.metadataOf(metadata), Status: "idle"}
	err = s.store.CreateThread(x.r.Context(), t)
	if errors.Is(err, threads.ErrExists) {
		t, err = s.store.Thread(x.r.Context(), id)
		if err == nil && (ifExists != "do_nothing" || !matches(t.Metadata, d.Filter)) {
			return nil, httpError(http.StatusConflict, "Thread %s exists already", id)
		}
	}
	return t, err
}

// listThreads is GET /threads.
func (s *Server) listThreads(x *exchange) (any, error) {
	return s.answerThreads(x, queryNumbers(x.r.URL.Query(), "limit", "offset"), 100)
}

// searchThreads is POST /threads/search.
func (s *Server) searchThreads(x *exchange) (any, error) {
	body, err := s.body(x, true)
	if err != nil {
		return nil, err
	}
	return s.answerThreads(x, body, 10)
}

// answerThreads lists the threads that match both what the caller asks for and what the caller may see.
func (s *Server) answerThreads(x *exchange, body map[string]any, defaultLimit int) (any, error) {
	limit, errLimit := intField(body, "limit", defaultLimit, 1, 1000)
	offset, errOffset := intField(body, "offset", 0, 0, math.MaxInt32)
	metadata, errMetadata := objectField(body, "metadata")
	ids, errIDs := uuidsField(body, "ids")
	status, errStatus := stringField(body, "status")
	if err := cmp.Or(errLimit, errOffset, errMetadata, errIDs, errStatus); err != nil {
		return nil, err
	}
	d, err := s.allow(x, "search", map[string]any{"metadata": metadata, "limit": limit, "offset": offset})
	if err != nil {
		return nil, err
	}
	found, err := s.store.Threads(x.r.Context(), func(t threads.Thread) bool {
		return matches(t.Metadata, d.Filter) && matches(t.Metadata, metadata) &&
			(ids == nil || ids[t.ID]) && (status == "" || t.Status == status)
	})
	return page(found, limit, offset), err
}

// getThread is GET /threads/{thread_id}.
func (s *Server) getThread(x *exchange) (any, error) {
	t, _, err := s.visibleThread(x, "read", nil)
	return t, err
}

// patchThread is PATCH /threads/{thread_id}: the metadata sent is merged into the thread's.
func (s *Server) patchThread(x *exchange) (any, error) {
	body, err := s.body(x, false)
	if err != nil {
		return nil, err
	}
	metadata, err := objectField(body, "metadata")
	if err != nil {
		return nil, err
	}
	_, d, err := s.visibleThread(x, "update", map[string]any{"metadata": metadata})
	if err != nil {
		return nil, err
	}
	t, err := s.store.UpdateThread(x.r.Context(), x.threadID, func(t *threads.Thread) error {
		if !matches(t.Metadata, d.Filter) {
			return noThread(x.threadID) // it changed hands since we looked
		}
		if t.Metadata == nil {
			t.Metadata = map[string]any{}
		}
		maps.Copy(t.Metadata, d.metadataOf(metadata))
		return nil
	})
	return t, orMissing(err, noThread(x.threadID))
}

// deleteThread is DELETE /threads/{thread_id}.
func (s *Server) deleteThread(x *exchange) (any, error) {
	if _, _, err := s.visibleThread(x, "delete", nil); err != nil {
		return nil, err
	}
	err := s.engine.remove(x.threadID, func(threads.Run) bool { return true },
		func() error { return s.store.DeleteThread(x.r.Context(), x.threadID) })
	return nil, orMissing(err, noThread(x.threadID))
}

// getState is GET /threads/{thread_id}/state (interface, section 2, "Thread state").
func (s *Server) getState(x *exchange) (any, error) {
	t, _, err := s.visibleThread(x, "read", nil)
	if err != nil {
		return nil, err
	}
	state, err := s.store.State(x.r.Context(), x.threadID)
	if err != nil {
		return nil, orMissing(err, noThread(x.threadID))
	}
	at, checkpoint, metadata := t.CreatedAt, any(nil), map[string]any{}
	if state.RunID != "" {
		at, checkpoint = state.At, state.Messages[len(state.Messages)-1].ID
		metadata["run_id"] = state.RunID
	}
	return map[string]any{
		"values":     state.Values(),
		"next":       []string{},
		"checkpoint": map[string]any{"thread_id": x.threadID, "checkpoint_ns": "", "checkpoint_id": checkpoint},
		"metadata":   metadata,
		"created_at": at,
	}, nil
}
