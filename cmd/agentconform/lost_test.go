package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/steps"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/target"
)

// TestDeploymentsOfLostRuns finds those with the names that runs give and of the age, and removes nothing else.
func TestDeploymentsOfLostRuns(t *testing.T) {
	t.Parallel()
	var past atomic.Int64
	v := startVendor(t, 0, func(o *reference.Options) {
		o.Now = func() time.Time { return time.Now().Add(-time.Duration(past.Load())) }
	})
	create := func(name string, age time.Duration) string {
		past.Store(int64(age))
		body := v.Fixtures().Create
		body["name"] = name
		id, _ := v.ask(t, http.MethodPost, "/v2/deployments", body)["id"].(string)
		require.NotEmpty(t, id)
		past.Store(0)
		return id
	}
	old := create("agentconform-0a1b2c3d-shared-1", 3*time.Hour)
	for name, age := range map[string]time.Duration{
		"agentconform-0a1b2c3d-history-12": time.Hour, "agentconform-production-1": 9 * time.Hour, "agentconform-0a1b2c3d-shared": 9 * time.Hour,
		"agentconform-0a1b2c3d-shared-1-copy": 9 * time.Hour, "my-agentconform-0a1b2c3d-shared-1": 9 * time.Hour, "agentconform-0A1B2C3D-shared-1": 9 * time.Hour,
	} {
		create(name, age)
	}
	c := addresses(t, v.ControlPlaneURL(), "", v.key)
	before, _ := v.count(t)
	left, ageless, err := steps.Lost(t.Context(), c, 2*time.Hour)
	require.NoError(t, err)
	assert.Empty(t, ageless)
	require.Len(t, left, 1)
	assert.Equal(t, old, left[0].ID)
	assert.Equal(t, "0a1b2c3d", left[0].Run)
	require.NoError(t, steps.Clean(t.Context(), c, left, func(_ evidence.Left, problem string) { assert.Empty(t, problem) }))
	after, _ := v.count(t)
	assert.Equal(t, before-1, after)
}

// TestNamesOfRunsAreKnown holds the names of a run to what finds them again.
func TestNamesOfRunsAreKnown(t *testing.T) {
	t.Parallel()
	v := startVendor(t, 0)
	c := everything(t, v)
	o := optionsAlone(t, c)
	o.ID, o.Select.Only, o.Keep = runID(), []string{"CP-AUTH-*", "CP-CREATE-*"}, true
	_, err := steps.Run(t.Context(), o)
	require.NoError(t, err)
	all, _ := v.ask(t, http.MethodGet, "/v2/deployments?limit=100", nil)["resources"].([]any)
	require.NotEmpty(t, all)
	for _, each := range all {
		name, _ := each.(map[string]any)["name"].(string)
		assert.Equal(t, o.ID, target.RunOf(name), name)
	}
	left, _, err := steps.Lost(t.Context(), c, time.Hour)
	require.NoError(t, err)
	assert.Empty(t, left, "they are new")
}

// TestLostWithoutAListOrAnAge removes nothing of which the age is not known, and says that there is no list.
func TestLostWithoutAListOrAnAge(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"detail": "Not Found"}`: "does not list deployments",
		`{"resources": [{"id": "5f0c8a54-7ac1-4e29-9d0d-8f1f3b4f7a10", "name": "agentconform-0a1b2c3d-shared-1", "created_at": 7}], "offset": 1}`: "",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if want != "" || strings.HasSuffix(r.URL.Path, "/revisions") {
				w.WriteHeader(http.StatusNotFound)
			}
			_, _ = w.Write([]byte(answer))
		}))
		t.Cleanup(s.Close)
		left, ageless, err := steps.Lost(t.Context(), addresses(t, s.URL, "", "the-key"), time.Hour)
		assert.Empty(t, left)
		if want != "" {
			assert.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, []string{"deployment agentconform-0a1b2c3d-shared-1"}, ageless)
	}
}

// TestThreadsOfLostRuns finds those of each user by their metadata.
func TestThreadsOfLostRuns(t *testing.T) {
	t.Parallel()
	v := startVendor(t, 0)
	whole := everything(t, v)
	c := addresses(t, "", v.AgentURL(), "")
	c.Users = whole.Users
	require.Greater(t, len(c.Users), 1)
	require.NoError(t, c.Complete())
	for _, u := range c.Users[:2] {
		for _, metadata := range []string{`{"agentconform": "agentconform-0a1b2c3d-listed-1"}`, `{"agentconform": "mine"}`, `{}`} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, v.AgentURL()+"/threads", strings.NewReader(`{"metadata": `+metadata+`}`))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer "+u.Token)
			a, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			_ = a.Body.Close()
			require.Equal(t, http.StatusOK, a.StatusCode)
		}
	}
	left, ageless, err := steps.Lost(t.Context(), c, time.Hour)
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.Empty(t, ageless)
	left, _, err = steps.Lost(t.Context(), c, time.Nanosecond)
	require.NoError(t, err)
	require.Len(t, left, 2)
	assert.Equal(t, []string{"users.0", "users.1"}, []string{left[0].Owner, left[1].Owner})
	require.NoError(t, steps.Clean(t.Context(), c, left, func(_ evidence.Left, problem string) { assert.Empty(t, problem) }))
	left, _, err = steps.Lost(t.Context(), c, time.Nanosecond)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// threadList is an agent server with one list of threads, by GET or by search, whatever is asked.
type threadList struct {
	listing string // "get" or "search"
	status  int
	answer  string
	ahead   time.Duration // of its clock

	mu      sync.Mutex
	deleted []string // escaped paths
}

func (l *threadList) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Date", time.Now().Add(l.ahead).UTC().Format(http.TimeFormat))
	switch served := map[string]string{"get": "GET /threads", "search": "POST /threads/search"}[l.listing]; {
	case r.Method == http.MethodDelete:
		l.mu.Lock()
		l.deleted = append(l.deleted, r.URL.EscapedPath())
		l.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	case r.Method+" "+r.URL.Path != served:
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"detail": "Not Found"}`))
	default:
		w.WriteHeader(l.status)
		_, _ = w.Write([]byte(l.answer))
	}
}

// of serves it, and returns a configuration with one user.
func (l *threadList) of(t *testing.T) *config.Config {
	t.Helper()
	s := httptest.NewServer(l)
	t.Cleanup(s.Close)
	c := addresses(t, "", s.URL, "")
	c.Users = []config.User{{Name: "ada", Token: "token-of-ada"}}
	c.Agent.Listing = l.listing
	require.NoError(t, c.Complete())
	return c
}

// TestAListOfThreadsThatIsRefusedIsNotEmpty: clean says what the target answered.
func TestAListOfThreadsThatIsRefusedIsNotEmpty(t *testing.T) {
	t.Parallel()
	for _, listing := range []string{"get", "search"} {
		for _, refused := range []*threadList{{status: 401, answer: "{}"}, {status: 403, answer: "[]"}, {status: 500, answer: `"token-of-ada"`}, {status: 200, answer: `{"threads": []}`}} {
			refused.listing = listing
			left, ageless, err := steps.Lost(t.Context(), refused.of(t), time.Hour)
			require.Error(t, err, "%s %d", listing, refused.status)
			assert.Regexp(t, `^listing the threads: (GET|POST) http://[^ ]+/threads(/search)?: status `+strconv.Itoa(refused.status)+`.*; without a list of threads`, err.Error())
			assert.NotContains(t, err.Error(), "token-of-ada")
			assert.Empty(t, left)
			assert.Empty(t, ageless)
		}
		empty := threadList{listing: listing, status: 200, answer: "[]"}
		left, _, err := steps.Lost(t.Context(), empty.of(t), time.Hour)
		require.NoError(t, err, listing)
		assert.Empty(t, left)
	}
}

// TestIdsOfLostThreads: an id need not be a UUID, and stays one segment of the path.
func TestIdsOfLostThreads(t *testing.T) {
	t.Parallel()
	ids := []string{"thread-1", "a/../b", "17", "5f0c8a54-7ac1-4e29-9d0d-8f1f3b4f7a10"}
	var rows []string
	for _, id := range append(ids, "", ".", "..") {
		rows = append(rows, fmt.Sprintf(`{"thread_id": %q, "created_at": "2024-01-01T00:00:00Z", "metadata": {"agentconform": "agentconform-0a1b2c3d-listed-1"}}`, id))
	}
	l := &threadList{listing: "get", status: 200, answer: "[" + strings.Join(rows, ",") + "]"}
	c := l.of(t)
	left, _, err := steps.Lost(t.Context(), c, time.Hour)
	require.NoError(t, err)
	require.Len(t, left, len(ids))
	require.NoError(t, steps.Clean(t.Context(), c, left, func(_ evidence.Left, problem string) { assert.Empty(t, problem) }))
	var want []string
	for _, id := range ids {
		want = append(want, "/threads/"+url.PathEscape(id))
	}
	assert.ElementsMatch(t, want, l.deleted)
}

// TestTheAgeOfThreadsIsByTheClockOfTheTarget: created_at is by that clock.
func TestTheAgeOfThreadsIsByTheClockOfTheTarget(t *testing.T) {
	t.Parallel()
	for ahead, want := range map[time.Duration]int{-5 * time.Hour: 0, 0: 1, 5 * time.Hour: 1} {
		created := time.Now().Add(-3 * time.Hour).UTC().Format(time.RFC3339)
		l := threadList{listing: "search", status: 200, ahead: ahead,
			answer: fmt.Sprintf(`[{"thread_id": "t", "created_at": %q, "metadata": {"agentconform": "agentconform-0a1b2c3d-listed-1"}}]`, created)}
		left, _, err := steps.Lost(t.Context(), l.of(t), 2*time.Hour)
		require.NoError(t, err)
		assert.Len(t, left, want, "%s ahead", ahead)
	}
}
