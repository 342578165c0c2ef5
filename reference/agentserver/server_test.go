package agentserver

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSwapWhileRunsFinish(t *testing.T) {
	s := conformanceSite(t)
	old := s.thread()
	slow := s.run(old, "slow wait-after-write=300", "")
	s.untilText(old, "Working")
	s.server.Swap(s.server.rev.Load().app, map[string]string{"CONFORMANCE_USERS": users, "CONFORMANCE_PREFIX": "Next: you said: "})
	thread, _, _ := s.ran("hi")
	assert.Equal(t, "ai: Next: you said: hi", s.texts(thread)[1])
	s.join(old, slow)
	assert.Equal(t, "ai: You said: slow wait-after-write=300", s.texts(old)[2])
}

func TestInvalidRequests(t *testing.T) {
	s := conformanceSite(t)
	thread := s.thread()
	runs, unknown := "/threads/"+thread+"/runs", uuid.NewString()
	ok := runBody("conformance", "x", "")
	said := func(messages string) string {
		return `{"assistant_id": "conformance", "input": {"messages": ` + messages + `}}`
	}
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/threads", "{", 422}, {"POST", "/threads", "[]", 422}, {"POST", "/threads", "{} {}", 422}, {"POST", "/threads", "\"\xff\"", 422},
		{"POST", "/threads", `{"metadata": []}`, 422}, {"POST", "/threads", `{"metadata": {"x": ` + deep + `}}`, 422},
		{"POST", "/threads", `{"x": "` + strings.Repeat("x", 1<<20) + `"}`, 413},
		{"GET", "/threads?limit=0", "", 422}, {"GET", "/threads?limit=1001", "", 422}, {"GET", "/threads?offset=-1", "", 422},
		{"POST", "/threads/search", `{"limit": 1.5}`, 422}, {"POST", "/threads/search", `{"limit": "1"}`, 422},
		{"POST", "/threads/search", `{"metadata": 1}`, 422}, {"POST", "/threads/search", `{"ids": "x"}`, 422}, {"POST", "/threads/search", `{"ids": [5]}`, 422},
		{"GET", "/threads/none", "", 422}, {"GET", "/threads/" + unknown, "", 404}, {"GET", "/threads/" + unknown + "/state", "", 404},
		{"GET", "/threads/" + unknown + "/runs", "", 404}, {"POST", "/threads/" + unknown + "/runs", ok, 404},
		{"GET", runs + "/none", "", 422}, {"GET", runs + "/" + unknown + "/join", "", 404}, {"POST", runs + "/" + unknown + "/cancel", "", 404},
		{"POST", runs, "", 422}, {"POST", runs, "{}", 422}, {"POST", runs, `{"assistant_id": "conformance"}`, 422},
		{"POST", runs, `{"assistant_id": 1, "input": {"messages": []}}`, 422}, {"POST", runs, `{"assistant_id": "conformance", "input": {}}`, 422},
		{"POST", runs, said(`"x"`), 422}, {"POST", runs, said(`["x"]`), 422}, {"POST", runs, said(`[{"content": "x"}]`), 422},
		{"POST", runs, said(`[{"role": "king", "content": "x"}]`), 422}, {"POST", runs, said(`[{"role": "user"}]`), 422},
		{"POST", runs, said(`[{"role": "user", "content": 5}]`), 422}, {"POST", runs, runBody("conformance", "x", "explode"), 422},
		{"POST", runs, runBody("nobody", "x", ""), 404},
		{"GET", "/", "", 404}, {"GET", "/nothing", "", 404}, {"GET", "/threads/", "", 404}, {"GET", "//threads", "", 404}, {"GET", "/threads/../threads", "", 404},
		{"GET", "/threads/./" + thread, "", 404}, {"PUT", "/threads", "", 405}, {"POST", "/threads/" + thread, "", 405},
	} {
		a := s.do(c.method, c.path, c.body)
		assert.Equal(t, c.status, a.status, "%s %s %.60s: %s", c.method, c.path, c.body, a.body)
		assert.Equal(t, "application/json", a.header.Get("Content-Type"))
		a.detail(t)
	}
	assert.Empty(t, fetch[[]Run](s, "GET", runs, ""), "a refused run is not stored")
	assert.Equal(t, http.StatusOK, s.do("HEAD", "/threads", "").status)
}

func TestTimeLimitOfRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, files{"main.star": endless}, Options{RunTime: time.Minute})
		start := time.Now()
		_, run, _ := s.ran("x")
		assert.Equal(t, StatusTimeout, run.Status)
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestTimeLimitOfJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, files{"main.star": endless}, Options{JoinTimeout: time.Minute})
		start := time.Now()
		_, _, joined := s.ran("x")
		assert.Equal(t, 503, joined.status)
		assert.NotEmpty(t, joined.header.Get("Retry-After"))
		assert.Equal(t, time.Minute, time.Since(start))
	})
}

func TestCloseReleasesJoinsAndDeleteDataDeletes(t *testing.T) {
	s := newSite(t, files{"main.star": endless}, Options{})
	thread := s.thread()
	joined := make(chan response, 2)
	for range 2 { // the first is in progress, the second is pending
		run := s.run(thread, "x", "")
		go func() { joined <- s.join(thread, run) }()
	}
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	require.NoError(t, s.server.Close(ctx))
	for range 2 {
		select {
		case a := <-joined:
			assert.Contains(t, []int{200, 503}, a.status)
		case <-ctx.Done():
			t.Fatal("join hangs")
		}
	}
	assert.Equal(t, 503, s.do("POST", "/threads/"+thread+"/runs", runBody("main", "x", "")).status)
	for _, run := range fetch[[]Run](s, "GET", "/threads/"+thread+"/runs", "") {
		assert.Equal(t, StatusInterrupted, run.Status)
	}
	server, err := New(s.server.rev.Load().app, s.db, "other", nil, Options{})
	require.NoError(t, err)
	require.NoError(t, server.DeleteData())
	require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
		assert.Nil(t, tx.Bucket([]byte("other")))
		return nil
	}))
}
