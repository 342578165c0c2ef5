package agentserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// allow asks the authorizer about an action on threads.
func (s *Server) allow(x *exchange, action string, value map[string]any) (Decision, error) {
	return s.authz.Authorize(x.r.Context(), Access{User: x.user, Action: action, Value: value})
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
	metadata, errMetadata := objectField(body, "metadata")
	if err := cmp.Or(onlyFields(body, "metadata"), errMetadata); err != nil {
		return nil, err
	}
	id := threads.NewID()
	d, err := s.allow(x, "create", map[string]any{"thread_id": id, "metadata": metadata})
	if err != nil {
		return nil, err
	}
	t := threads.Thread{ID: id, CreatedAt: time.Now().UTC(), Metadata: d.metadataOf(metadata), Status: threads.ThreadIdle}
	return t, s.store.CreateThread(x.r.Context(), t)
}

// getThread is GET /threads/{thread_id}.
func (s *Server) getThread(x *exchange) (any, error) {
	t, _, err := s.visibleThread(x, "read", nil)
	return t, err
}

// deleteThread is DELETE /threads/{thread_id}.
func (s *Server) deleteThread(x *exchange) (any, error) {
	if _, _, err := s.visibleThread(x, "delete", nil); err != nil {
		return nil, err
	}
	return nil, orMissing(s.engine.deleteThread(x.r.Context(), x.threadID), noThread(x.threadID))
}

// getState is GET /threads/{thread_id}/state (interface, section 2, "Thread state").
func (s *Server) getState(x *exchange) (any, error) {
	if _, _, err := s.visibleThread(x, "read", nil); err != nil {
		return nil, err
	}
	values, err := s.values(x)
	return map[string]any{"values": values}, err
}

// values is the "values" object of a state: empty before the first message.
func (s *Server) values(x *exchange) (map[string]any, error) {
	messages, err := s.store.State(x.r.Context(), x.threadID)
	if err != nil || len(messages) == 0 {
		return map[string]any{}, orMissing(err, noThread(x.threadID))
	}
	return map[string]any{"messages": messages}, nil
}

// page reads limit and offset.
func page(body map[string]any, otherwise int) (limit, offset int, err error) {
	limit, errLimit := intField(body, "limit", otherwise, 1, 1000)
	offset, errOffset := intField(body, "offset", 0, 0, math.MaxInt32)
	return limit, offset, cmp.Or(errLimit, errOffset)
}

// cut is a page of a list.
func cut[T any](all []T, limit, offset int) []T {
	from := min(offset, len(all))
	return append([]T{}, all[from:min(from+limit, len(all))]...)
}

// listThreads is GET /threads.
func (s *Server) listThreads(x *exchange) (any, error) {
	limit, offset, err := page(queryNumbers(x.r.URL.Query(), "limit", "offset"), 100)
	if err != nil {
		return nil, err
	}
	return s.findThreads(x, map[string]any{}, nil, limit, offset)
}

// searchThreads is POST /threads/search.
func (s *Server) searchThreads(x *exchange) (any, error) {
	body, err := s.body(x, true)
	if err != nil {
		return nil, err
	}
	metadata, errMetadata := objectField(body, "metadata")
	ids, errIDs := uuidsField(body, "ids")
	limit, offset, errPage := page(body, 10)
	if err := cmp.Or(onlyFields(body, "ids", "metadata", "limit", "offset"), errMetadata, errIDs, errPage); err != nil {
		return nil, err
	}
	return s.findThreads(x, metadata, ids, limit, offset)
}

// findThreads lists a page of the threads that match both what the caller asks for and what the caller may see, newest
// first. Nil ids are any.
func (s *Server) findThreads(x *exchange, metadata map[string]any, ids map[string]bool, limit, offset int) (any, error) {
	d, err := s.allow(x, "search", map[string]any{"metadata": metadata, "limit": limit, "offset": offset})
	if err != nil {
		return nil, err
	}
	found, err := s.store.Threads(x.r.Context(), func(t threads.Thread) bool {
		return matches(t.Metadata, d.Filter) && contains(t.Metadata, metadata) && (ids == nil || ids[t.ID])
	})
	return cut(found, limit, offset), err
}

// contains tells whether a JSON value holds another one: an object has each key of the other with a value that contains
// the other's, an array has for each item of the other one that contains it, and anything else is equal.
func contains(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := have.(map[string]any)
		for key, value := range want {
			if ok {
				have, ok = object[key]
				ok = ok && contains(have, value)
			}
		}
		return ok
	case []any:
		list, ok := have.([]any)
		for _, item := range want {
			ok = ok && slices.ContainsFunc(list, func(v any) bool { return contains(v, item) })
		}
		return ok
	}
	return equalJSON(have, want)
}
