package agent

import (
	"context"
	"fmt"
	"io"
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
	"github.com/agentconform/agentconform/steps/shared"
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

// TestAThreadThatExistedIsNotEntered creates two threads at a server that returns an existing one at first, and whose
// clock is wrong.
func TestAThreadThatExistedIsNotEntered(t *testing.T) {
	const old = "aaaaaaaa-0000-4000-8000-000000000001"
	for name, c := range map[string]struct {
		list    string // the response to GET /threads
		entered []string
		notes   int
	}{
		"the list shows it":             {`[{"thread_id":"` + old + `"}]`, []string{"new"}, 1},
		"the list shows it in capitals": {`[{"thread_id":"` + strings.ToUpper(old) + `"}]`, []string{"new"}, 1},
		"the list is empty":             {`[]`, []string{old, "new"}, 0},
		"the target lists nothing":      {`{"detail":"not found"}`, []string{old, "new"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			created := []string{old, "new"}
			mux := http.NewServeMux()
			mux.HandleFunc("GET /threads", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, c.list)
			})
			mux.HandleFunc("POST /threads", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"thread_id":%q,"created_at":"2020-01-01T00:00:00Z"}`, created[0])
				created = created[1:]
			})
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			cfg := config.Default()
			cfg.AgentTarget, cfg.Users = server.URL, []config.User{{Name: "a", Token: "a-token-that-is-long"}}
			require.NoError(t, cfg.Complete())
			tt, err := target.New(target.Options{Config: &cfg, Concurrency: 4})
			require.NoError(t, err)
			t.Cleanup(func() { _ = tt.Close() })
			tt.Ledger, err = evidence.OpenLedger("", "test", "")
			require.NoError(t, err)
			s, err := New(tt, nil, shared.NewMaker(t.Context()), 1, 1).AgentServer(t.Context())
			require.NoError(t, err)
			for range 2 {
				_, err := s.CreateThread(t.Context(), tt.Owner(), nil)
				require.NoError(t, err)
			}
			var entered []string
			for _, e := range tt.Ledger.Entries() {
				entered = append(entered, e.ID)
			}
			assert.Equal(t, c.entered, entered)
			assert.Len(t, tt.Notes(), c.notes)
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
