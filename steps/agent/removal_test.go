package agent

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

// TestThreads removes ten threads, of two users and of nobody, at servers that differ in what they do with DELETE.
func TestThreads(t *testing.T) {
	answers := func(status int) func(*threadServer, http.ResponseWriter, string) {
		return func(_ *threadServer, w http.ResponseWriter, _ string) { w.WriteHeader(status) }
	}
	for name, c := range map[string]struct {
		remove  func(s *threadServer, w http.ResponseWriter, id string)
		hidden  string // this thread is not shown
		gone    int    // threads that are reported as removed
		never   int
		deletes int // at most
	}{
		"removes":              {func(s *threadServer, _ http.ResponseWriter, id string) { delete(s.owners, id) }, "", 10, 0, 11},
		"takes no DELETE, 405": {answers(405), "", 0, 10, 1},
		"takes no DELETE, 404": {answers(404), "", 0, 10, 1},
		"takes no DELETE and does not show the first one": {answers(404), "t0", 0, 10, 2},
		"refuses with 403": {answers(403), "", 0, 0, 11},
		"one is gone":      {func(s *threadServer, _ http.ResponseWriter, id string) { delete(s.owners, id) }, "t5", 10, 0, 11},
		"busy for a moment": {func(s *threadServer, w http.ResponseWriter, id string) {
			if s.busy[id]++; s.busy[id] < 3 {
				w.WriteHeader(409)
				return
			}
			delete(s.owners, id)
		}, "", 10, 0, 33},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &threadServer{owners: map[string]string{}, busy: map[string]int{}, remove: c.remove}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			var all []reports.LedgerEntry
			for i := range 10 {
				id := fmt.Sprintf("t%d", i)
				s.owners[id] = fmt.Sprintf("Bearer token-%d", i%2)
				all = append(all, reports.LedgerEntry{Kind: evidence.Thread, ID: id, Address: server.URL, Owner: fmt.Sprintf("users.%d", i%2)})
			}
			all[0].Owner = "" // created without valid credentials; the first user sees it
			delete(s.owners, c.hidden)
			cfg := config.Default()
			cfg.AgentTarget = server.URL
			cfg.Users = []config.User{{Name: "a", Token: "token-0"}, {Name: "b", Token: "token-1"}}
			require.NoError(t, cfg.Complete())
			tt, err := target.New(target.Options{Config: &cfg, Concurrency: 4})
			require.NoError(t, err)
			t.Cleanup(func() { _ = tt.Close() })
			var mu sync.Mutex
			gone, never, reported := 0, 0, map[string]bool{}
			RemoveThreads(context.Background(), tt, all, func(e reports.LedgerEntry) {
				mu.Lock()
				defer mu.Unlock()
				assert.False(t, reported[e.ID], "each once")
				reported[e.ID] = true
				if e.Removed {
					gone++
				}
				if e.Unremovable {
					never++
				}
			})
			assert.Equal(t, []int{10, c.gone, c.never}, []int{len(reported), gone, never})
			assert.LessOrEqual(t, s.deletes, c.deletes)
		})
	}
}

// threadServer shows and removes threads of their owners.
type threadServer struct {
	mu      sync.Mutex
	owners  map[string]string // Authorization by thread
	busy    map[string]int
	deletes int
	remove  func(s *threadServer, w http.ResponseWriter, id string)
}

func (s *threadServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/threads/"), "/state")
	switch who := r.Header.Get("Authorization"); {
	case who == "":
		w.WriteHeader(401)
	case s.owners[id] != who:
		w.WriteHeader(404)
	case r.Method == http.MethodDelete:
		s.deletes++
		s.remove(s, w, id)
	}
}
