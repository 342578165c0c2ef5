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
	return s.allowOn(x, resourceThreads, action, value)
}

func (s *Server) allowOn(x *exchange, resource, action string, value map[string]any) (Decision, error) {
	return s.authz.Authorize(x.r.Context(), Access{User: x.user, Resource: resource, Action: action, Value: value})
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

// createThread is POST /threads.
func (s *Server) createThread(x *exchange) (any, error) {
	body, err := s.body(x, true)
	if err != nil {
		return nil, err
	}
	err = bodyFields{fields: []string{"thread_id", "metadata", "if_exists"}, known: map[string]string{
		"supersteps": "create the thread, then update its state",
		"graph_id":   "send it as metadata.graph_id",
		"ttl":        noTTL,
	}}.check(body)
	id, errID := uuidField(body, "thread_id")
	metadata, errMetadata := objectField(body, "metadata")
	ifExists, errIfExists := oneOf(body, "if_exists", "raise", "raise", "do_nothing")
	if err := cmp.Or(err, errID, errMetadata, errIfExists); err != nil {
		return nil, err
	}
	id = cmp.Or(id, threads.NewID())
	d, err := s.allow(x, "create", map[string]any{"thread_id": id, "metadata": metadata})
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	t := threads.Thread{ID: id, CreatedAt: now, UpdatedAt: now, Metadata: d.metadataOf(metadata), Status: threads.ThreadIdle}
	err = s.store.CreateThread(x.r.Context(), t)
	if errors.Is(err, threads.ErrExists) {
		x.threadID = id
		if t, err = s.existing(x, d); err != nil || ifExists != "do_nothing" {
			return nil, httpError(http.StatusConflict, "Thread %s exists already", id)
		}
	}
	if err != nil {
		return nil, err
	}
	return s.viewThread(x, t)
}

// existing is the thread of a request that would create it again: only who may create it and read it gets it.
func (s *Server) existing(x *exchange, create Decision) (threads.Thread, error) {
	t, _, err := s.visibleThread(x, "read", nil)
	if err == nil && !matches(t.Metadata, create.Filter) {
		err = noThread(x.threadID)
	}
	return t, err
}

const noTTL = "threads stay until they are deleted with DELETE /threads/{thread_id}"

// getThread is GET /threads/{thread_id}.
func (s *Server) getThread(x *exchange) (any, error) {
	t, _, err := s.visibleThread(x, "read", nil)
	if err != nil {
		return nil, err
	}
	if x.r.URL.Query().Get("include") != "" {
		return nil, invalid("include is not supported by this server: leave it out, a thread has no further fields")
	}
	return s.viewThread(x, t)
}

// patchThread is PATCH /threads/{thread_id}: the metadata sent is merged into the thread's. With "Prefer: return=minimal" the
// answer has no body.
func (s *Server) patchThread(x *exchange) (any, error) {
	body, err := s.body(x, false)
	if err != nil {
		return nil, err
	}
	err = bodyFields{fields: []string{"metadata"}, known: map[string]string{"ttl": noTTL}}.check(body)
	metadata, errMetadata := objectField(body, "metadata")
	if err := cmp.Or(err, errMetadata); err != nil {
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
	if err != nil {
		return nil, orMissing(err, noThread(x.threadID))
	}
	if x.r.Header.Get("Prefer") == "return=minimal" {
		return nil, nil
	}
	return s.viewThread(x, t)
}

// copyThread is POST /threads/{thread_id}/copy: a new thread with the metadata of this one, its messages and its history.
func (s *Server) copyThread(x *exchange) (any, error) {
	body, err := s.body(x, true)
	if err := cmp.Or(err, bodyFields{}.check(body)); err != nil {
		return nil, err
	}
	from, _, err := s.visibleThread(x, "read", nil)
	if err != nil {
		return nil, err
	}
	id := threads.NewID()
	d, err := s.allow(x, "create", map[string]any{"thread_id": id, "metadata": maps.Clone(from.Metadata)})
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	t := threads.Thread{ID: id, CreatedAt: now, UpdatedAt: now, Metadata: d.metadataOf(from.Metadata), Status: threads.ThreadIdle}
	if err := s.store.CopyThread(x.r.Context(), x.threadID, t); err != nil {
		return nil, orMissing(err, noThread(x.threadID))
	}
	return s.viewThread(x, t)
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

// threadFields are the fields of a thread in an answer.
var threadFields = []string{"thread_id", "created_at", "updated_at", "metadata", "status", "config", "values", "interrupts"}

// view is a thread as clients of the field expect it: with the values of its state. It never has a configuration or interrupts
// of its own.
func view(t threads.Thread, values map[string]any) map[string]any {
	return map[string]any{
		"thread_id": t.ID, "created_at": t.CreatedAt, "updated_at": t.UpdatedAt, "metadata": t.Metadata, "status": t.Status,
		"config": map[string]any{}, "values": values, "interrupts": map[string]any{},
	}
}

// viewThread is the view of one thread. One that was deleted meanwhile is not found.
func (s *Server) viewThread(x *exchange, t threads.Thread) (any, error) {
	state, err := s.store.State(x.r.Context(), t.ID)
	if err != nil {
		return nil, orMissing(err, noThread(t.ID))
	}
	return view(t, state.Values()), nil
}
