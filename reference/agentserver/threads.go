package agentserver

import (
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/store"
)

// createThread serves POST /threads.
func (s *Server) createThread(c *call) (int, any, error) {
	var form httpapi.Form
	body, err := form.Body(c.Request, true)
	if err != nil {
		return 0, nil, err
	}
	metadata := body.Object("metadata")
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	t := Thread{ID: store.NewID(), CreatedAt: s.store.Now(), Status: "idle"}
	allowed, err := s.authorize(c, "create", map[string]any{"thread_id": t.ID, "metadata": metadata.Members})
	if err != nil {
		return 0, nil, err
	}
	t.Metadata = allowed.metadata()
	err = s.update(func(tab tables) error {
		if err := s.store.Room(tab.threads.Tx()); err != nil {
			return err
		}
		return store.Put(tab.threads, t.ID, t)
	})
	return http.StatusOK, t, err
}

// visibleThread returns the thread of a request, if the user may perform the action on it. Otherwise it returns 404, as for
// an unknown thread.
func (s *Server) visibleThread(c *call, action string, value map[string]any) (Thread, access, error) {
	if value == nil {
		value = map[string]any{}
	}
	value["thread_id"] = c.thread
	allowed, err := s.authorize(c, action, value)
	if err != nil {
		return Thread{}, access{}, err
	}
	var t Thread
	err = s.view(func(tab tables) (err error) {
		t, err = tab.thread(c.thread)
		return err
	})
	if err != nil {
		return Thread{}, access{}, err
	}
	if !matches(t.Metadata, allowed.filter) {
		return Thread{}, access{}, threadNotFound(c.thread)
	}
	t.Status = s.status(t.ID)
	return t, allowed, nil
}

// status returns the status of a thread, which depends on its runs.
func (s *Server) status(thread string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queues[thread]) > 0 {
		return "busy"
	}
	return "idle"
}

// getThread serves GET /threads/{thread_id}.
func (s *Server) getThread(c *call) (int, any, error) {
	t, _, err := s.visibleThread(c, "read", nil)
	return http.StatusOK, t, err
}

// getState serves GET /threads/{thread_id}/state (interface, section 2, "Thread state").
func (s *Server) getState(c *call) (int, any, error) {
	if _, _, err := s.visibleThread(c, "read", nil); err != nil {
		return 0, nil, err
	}
	var values map[string]any
	err := s.view(func(t tables) (err error) {
		values, err = t.values(c.thread)
		return err
	})
	return http.StatusOK, map[string]any{"values": values}, err
}

// deleteThread serves DELETE /threads/{thread_id}. It also deletes the runs and messages of the thread.
func (s *Server) deleteThread(c *call) (int, any, error) {
	if _, _, err := s.visibleThread(c, "delete", nil); err != nil {
		return 0, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.update(func(t tables) error { return t.deleteThread(c.thread) }); err != nil {
		return 0, nil, err
	}
	for _, ex := range slices.Clone(s.queues[c.thread]) {
		s.release(ex, errRolledBack)
	}
	return http.StatusNoContent, nil, nil
}

// listThreads serves GET /threads.
func (s *Server) listThreads(c *call) (int, any, error) {
	var form httpapi.Form
	page := readPage(form.Query(c.Request), 100)
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	return s.findThreads(c, map[string]any{}, nil, page)
}

// searchThreads serves POST /threads/search.
func (s *Server) searchThreads(c *call) (int, any, error) {
	var form httpapi.Form
	body, err := form.Body(c.Request, true)
	if err != nil {
		return 0, nil, err
	}
	metadata, page := body.Object("metadata"), readPage(body.Scalars(), 10)
	ids := httpapi.Get[[]any](body, "ids", "array")
	if ids != nil && !areTexts(*ids) {
		body.Wrong("ids", "array_type", "Input should be a valid array of ids")
	}
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	return s.findThreads(c, metadata.Members, ids, page)
}

// areTexts reports whether all values are strings.
func areTexts(values []any) bool {
	for _, v := range values {
		if _, ok := v.(string); !ok {
			return false
		}
	}
	return true
}

// findThreads returns the threads that the caller may access and that have the metadata and one of the IDs, newest first. If
// ids is nil, the ID does not matter.
func (s *Server) findThreads(c *call, metadata map[string]any, ids *[]any, page store.Page) (int, any, error) {
	allowed, err := s.authorize(c, "search", map[string]any{
		"metadata": metadata, "limit": page.Limit, "offset": page.Offset,
	})
	if err != nil {
		return 0, nil, err
	}
	var found []Thread
	err = s.view(func(tab tables) error {
		found, err = store.Cut(store.Newest[Thread](tab.threads, ""), page, func(t Thread) bool {
			return matches(t.Metadata, allowed.filter) && matches(t.Metadata, metadata) &&
				(ids == nil || slices.Contains(*ids, any(t.ID)))
		})
		return err
	})
	for i := range found {
		found[i].Status = s.status(found[i].ID)
	}
	return http.StatusOK, found, err
}

// readPage reads limit and offset.
func readPage(values httpapi.Scalars, otherwise int) store.Page {
	return store.Page{Limit: values.Int("limit", otherwise, 1, 1000), Offset: values.Int("offset", 0, 0, math.MaxInt32)}
}

// matches reports whether metadata contains all values of a filter.
func matches(metadata, filter map[string]any) bool {
	for name, want := range filter {
		value, ok := metadata[name]
		if !ok || !reflect.DeepEqual(value, want) {
			return false
		}
	}
	return true
}

// metadata returns the metadata of the payload with the filter merged into it. The filter overwrites values of the caller
// (interface, section 5, item 6).
func (a access) metadata() map[string]any {
	sent, _ := a.value["metadata"].(map[string]any)
	merged := map[string]any{}
	maps.Copy(merged, sent)
	maps.Copy(merged, a.filter)
	return merged
}
