package agentserver

import (
	"cmp"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/store"
)

// createThread is POST /threads.
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
		return cmp.Or(s.store.Room(tab.threads.Tx()), store.Put(tab.threads, t.ID, t))
	})
	return http.StatusOK, t, err
}

// visibleThread finds a thread that the user may use for an action. One that is hidden does not exist for the user.
func (s *Server) visibleThread(c *call, action string, value map[string]any) (t Thread, allowed access, err error) {
	if value == nil {
		value = map[string]any{}
	}
	value["thread_id"] = c.thread
	if allowed, err = s.authorize(c, action, value); err != nil {
		return t, allowed, err
	}
	err = s.view(func(tab tables) error {
		t, err = tab.thread(c.thread)
		return err
	})
	if err == nil && !matches(t.Metadata, allowed.filter) {
		return Thread{}, access{}, noThread(c.thread)
	}
	t.Status = s.status(t.ID)
	return t, allowed, err
}

// status follows from the runs of a thread.
func (s *Server) status(thread string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queues[thread]) > 0 {
		return "busy"
	}
	return "idle"
}

// getThread is GET /threads/{thread_id}.
func (s *Server) getThread(c *call) (int, any, error) {
	t, _, err := s.visibleThread(c, "read", nil)
	return http.StatusOK, t, err
}

// getState is GET /threads/{thread_id}/state (interface, section 2, "Thread state").
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

// deleteThread is DELETE /threads/{thread_id}: the thread and everything on it.
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

// listThreads is GET /threads.
func (s *Server) listThreads(c *call) (int, any, error) {
	var form httpapi.Form
	page := readPage(form.Query(c.Request), 100)
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	return s.findThreads(c, map[string]any{}, nil, page)
}

// searchThreads is POST /threads/search.
func (s *Server) searchThreads(c *call) (int, any, error) {
	var form httpapi.Form
	body, err := form.Body(c.Request, true)
	if err != nil {
		return 0, nil, err
	}
	metadata, page := body.Object("metadata"), readPage(body.Scalars(), 10)
	ids := httpapi.Get[[]any](body, "ids", "array")
	if ids != nil && slices.ContainsFunc(*ids, func(id any) bool { _, isText := id.(string); return !isText }) {
		body.Wrong("ids", "array_type", "Input should be a valid array of ids")
	}
	if err := form.Err(); err != nil {
		return 0, nil, err
	}
	return s.findThreads(c, metadata.Members, ids, page)
}

// findThreads lists the threads that match both what the caller asks for and what the caller may see, newest first.
// Nil ids are any.
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

func readPage(values httpapi.Scalars, otherwise int) store.Page {
	return store.Page{Limit: values.Int("limit", otherwise, 1, 1000), Offset: values.Int("offset", 0, 0, math.MaxInt32)}
}

// matches tells whether metadata has all the values of a filter.
func matches(metadata, filter map[string]any) bool {
	for name, want := range filter {
		if have, ok := metadata[name]; !ok || !reflect.DeepEqual(have, want) {
			return false
		}
	}
	return true
}

// metadata is the payload's metadata with the filter merged into it: what a caller writes there is overwritten
// (interface, section 5, item 6).
func (a access) metadata() map[string]any {
	sent, _ := a.value["metadata"].(map[string]any)
	merged := map[string]any{}
	maps.Copy(merged, sent)
	maps.Copy(merged, a.filter)
	return merged
}
