package agentserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"github.com/agentconform/agentconform/reference/graphs"
)

func TestMain(m *testing.M) {
	// A connection that a server closes after an error of the request is kept for half a second, longer than goleak waits.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

func TestThreadsAreListedAndSearched(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	var th Thread
	alice.ok("POST", "/threads", "").json(t, &th)
	first := th.ID
	alice.ok("POST", "/threads", `{"metadata": {"n": 1, "deep": {"a": [1, "x"]}}}`).json(t, &th)
	own := th.ID

	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/threads", "", 2},
		{"GET", "/threads?limit=1", "", 1},
		{"GET", "/threads?offset=2", "", 0},
		{"POST", "/threads/search", "{}", 2},
		{"POST", "/threads/search", `{"limit": 1, "offset": 1}`, 1},
		{"POST", "/threads/search", `{"metadata": {"n": 1}}`, 1},
		{"POST", "/threads/search", `{"metadata": {"deep": {"a": [1, "x"]}}}`, 1},
		{"POST", "/threads/search", `{"metadata": {"n": 2}}`, 0},
		{"POST", "/threads/search", fmt.Sprintf(`{"ids": [%q]}`, own), 1},
		{"POST", "/threads/search", `{"ids": [], "status": null}`, 0},
	} {
		var list []Thread
		alice.ok(c.method, c.path, c.body).json(t, &list)
		assert.Len(t, list, c.want, "%s %s", c.path, c.body)
		assert.NotNil(t, list)
	}
	var list []Thread
	alice.ok("GET", "/threads", "").json(t, &list)
	assert.Equal(t, []string{own, first}, []string{list[0].ID, list[1].ID}, "newest first")

	assert.Equal(t, 204, alice.do("DELETE", "/threads/"+own, "").status)
	assert.Equal(t, 404, alice.do("GET", "/threads/"+own, "").status)
	assert.Equal(t, 404, alice.do("DELETE", "/threads/"+own, "").status)
}

func TestANewRevisionAnswersWhileOldRunsFinish(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	old := alice.thread()
	slow := alice.run(old, "slow wait-after-write=300", "")
	alice.untilText(old, "Working")
	s.server.Swap(conformanceApp(t, graphs.ConformanceNext), map[string]string{"CONFORMANCE_USERS": users})
	thread := alice.thread()
	alice.join(thread, alice.run(thread, "hi", ""))
	assert.Equal(t, "ai: Next: you said: hi", alice.texts(thread)[1])
	alice.join(old, slow)
	assert.Equal(t, "ai: You said: slow wait-after-write=300", alice.texts(old)[2])
}

func TestBadRequestsAreRefusedInJSON(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := alice.thread()
	runs, unknown := "/threads/"+thread+"/runs", uuid.NewString()
	ok := runBody("conformance", "x", "")
	for _, c := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/threads", "{", 422}, {"POST", "/threads", "[]", 422}, {"POST", "/threads", "{} {}", 422}, {"POST", "/threads", "\"\xff\"", 422},
		{"POST", "/threads", `{"metadata": []}`, 422}, {"POST", "/threads", `{"metadata": {"x": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`, 422},
		{"POST", "/threads", `{"x": "` + strings.Repeat("x", 1<<20) + `"}`, 413},
		{"GET", "/threads?limit=0", "", 422}, {"GET", "/threads?limit=x", "", 422}, {"GET", "/threads?limit=1001", "", 422}, {"GET", "/threads?offset=-1", "", 422},
		{"POST", "/threads/search", `{"limit": 0}`, 422}, {"POST", "/threads/search", `{"limit": 1001}`, 422}, {"POST", "/threads/search", `{"limit": 1.5}`, 422},
		{"POST", "/threads/search", `{"limit": "1"}`, 422}, {"POST", "/threads/search", `{"offset": -1}`, 422}, {"POST", "/threads/search", `{"metadata": 1}`, 422},
		{"POST", "/threads/search", `{"ids": "x"}`, 422}, {"POST", "/threads/search", `{"ids": [5]}`, 422},
		{"GET", "/threads/none", "", 422}, {"GET", "/threads/" + unknown, "", 404}, {"GET", "/threads/" + unknown + "/state", "", 404},
		{"GET", "/threads/" + unknown + "/runs", "", 404}, {"POST", "/threads/" + unknown + "/runs", ok, 404},
		{"GET", runs + "/none", "", 422}, {"GET", runs + "/" + unknown, "", 404}, {"GET", runs + "/" + unknown + "/join", "", 404}, {"POST", runs + "/" + unknown + "/cancel", "", 404},
		{"POST", runs, "", 422}, {"POST", runs, "{}", 422}, {"POST", runs, `{"assistant_id": "conformance"}`, 422}, {"POST", runs, `{"assistant_id": 1, "input": {"messages": []}}`, 422},
		{"POST", runs, `{"assistant_id": "conformance", "input": {}}`, 422}, {"POST", runs, `{"assistant_id": "conformance", "input": {"messages": "x"}}`, 422},
		{"POST", runs, `{"assistant_id": "conformance", "input": {"messages": ["x"]}}`, 422}, {"POST", runs, `{"assistant_id": "conformance", "input": {"messages": [{"content": "x"}]}}`, 422},
		{"POST", runs, `{"assistant_id": "conformance", "input": {"messages": [{"role": "king", "content": "x"}]}}`, 422},
		{"POST", runs, `{"assistant_id": "conformance", "input": {"messages": [{"role": "user"}]}}`, 422},
		{"POST", runs, `{"assistant_id": "conformance", "input": {"messages": [{"role": "user", "content": 5}]}}`, 422},
		{"POST", runs, runBody("conformance", "x", "explode"), 422}, {"POST", runs, runBody("nobody", "x", ""), 404},
		{"GET", "/", "", 404}, {"GET", "/nothing", "", 404}, {"GET", "/threads/", "", 404}, {"GET", "//threads", "", 404}, {"GET", "/threads/../threads", "", 404},
		{"GET", "/threads//" + thread, "", 404}, {"GET", "/threads/./" + thread, "", 404}, {"PUT", "/threads", "", 405}, {"DELETE", "/threads", "", 405}, {"POST", "/threads/" + thread, "", 405},
	} {
		a := alice.do(c.method, c.path, c.body)
		assert.Equal(t, c.status, a.status, "%s %s %.60s: %s", c.method, c.path, c.body, a.body)
		assert.Equal(t, "application/json", a.header.Get("Content-Type"))
		a.detail(t)
	}
	var left []Run
	alice.ok("GET", runs, "").json(t, &left)
	assert.Empty(t, left, "a refused run leaves nothing")
	alice.join(thread, alice.run(thread, "still usable", ""))
	assert.Equal(t, http.StatusOK, alice.do("HEAD", "/threads", "").status)
}

func TestRunsAndJoinsAreBoundedInTime(t *testing.T) {
	app := appOf(t, map[string]string{"main.star": "def agent(messages, config, ctx):\n  ctx.wait(1e9)\n"})
	s := newSite(t, app, Options{RunTime: 100 * time.Millisecond})
	u := s.nobody()
	thread := u.thread()
	run := u.runOf("main", thread, "x", "")
	u.join(thread, run)
	assert.Equal(t, StatusTimeout, u.getRun(thread, run).Status)

	s = newSite(t, app, Options{JoinTimeout: 50 * time.Millisecond})
	u = s.nobody()
	thread = u.thread()
	joined := u.join(thread, u.runOf("main", thread, "x", ""))
	assert.Equal(t, 503, joined.status)
	assert.NotEmpty(t, joined.header.Get("Retry-After"))
}

func TestCloseInterruptsAndDeleteDataDeletes(t *testing.T) {
	app := appOf(t, map[string]string{"main.star": "def agent(messages, config, ctx):\n  ctx.wait(1e9)\n"})
	db := openDB(t)
	server, err := New(app, db, "agent", nil, Options{})
	require.NoError(t, err)
	s := (&site{t: t, server: server, db: db, url: ""}).direct()
	u := s.nobody()
	thread := u.thread()
	running, pending := u.runOf("main", thread, "x", ""), u.runOf("main", thread, "x", "")
	joined := make(chan answered, 2)
	for _, run := range []string{running, pending} {
		go func() { joined <- u.join(thread, run) }()
	}
	require.Eventually(t, func() bool { return u.getRun(thread, running).Status == StatusRunning }, watchdog, time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	defer cancel()
	require.NoError(t, server.Close(ctx))
	for range 2 {
		select {
		case a := <-joined:
			assert.Contains(t, []int{200, 503}, a.status)
		case <-ctx.Done():
			t.Fatal("join hangs")
		}
	}
	assert.Equal(t, 503, u.do("POST", "/threads/"+thread+"/runs", runBody("main", "x", "")).status)

	server, err = New(app, db, "agent", nil, Options{})
	require.NoError(t, err)
	u = (&site{t: t, server: server, db: db}).direct().nobody()
	for _, run := range []string{running, pending} {
		assert.Equal(t, StatusInterrupted, u.getRun(thread, run).Status)
	}
	require.NoError(t, server.DeleteData())
	require.NoError(t, db.View(func(tx *bbolt.Tx) error {
		assert.Nil(t, tx.Bucket([]byte("agent")))
		return nil
	}))
	require.NoError(t, db.Close())
}
