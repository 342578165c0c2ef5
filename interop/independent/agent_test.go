package independent

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

func TestGraph(t *testing.T) {
	s := start(t, Options{})
	c := s.user(t, 1)
	thread := c.thread()
	assert.Equal(t, "[]", c.do("GET", thread+"/state", nil).get("values.messages").Raw)
	c.do("GET", c.run(thread, "tool please", "")+"/join", nil)
	c.do("GET", c.run(thread, "whoami", "")+"/join", nil)
	failed := c.run(thread, "fail", "")
	assert.Equal(t, http.StatusNoContent, c.do("GET", failed+"/join", nil).status)
	assert.Equal(t, "broken", c.do("GET", failed, nil).get("phase").String())
	messages := c.do("GET", thread+"/state", nil).get("values.messages")
	assert.Equal(t, `["human","tool","ai","human","ai","human"]`, messages.Get("#.type").String())
	user := gjson.Parse(messages.Get("4.content").String())
	assert.Equal(t, s.Users[1].Identity, user.Get("identity").String())
	assert.Equal(t, s.Users[1].Role, user.Get("role").String())
	assert.NotContains(t, messages.String(), s.Users[1].Token)
}

func TestRollback(t *testing.T) {
	s := start(t, Options{})
	c := s.user(t, 0)
	thread, other := c.thread(), c.thread()
	elsewhere := c.run(other, "wait=100 elsewhere", "")
	c.do("GET", c.run(thread, "kept", "rollback")+"/join", nil)
	first := c.run(thread, "wait-after-write=150 lost", "")
	require.Eventually(t, func() bool { return len(c.contents(thread)) == 4 }, 5*time.Second, time.Millisecond)
	waiting := c.run(thread, "wait=5 pending", "enqueue")

	joined := make(chan int, 1)
	go func() { joined <- c.do("GET", first+"/join", nil).status }()
	last := c.run(thread, "wait=20 stays", "rollback")
	assert.Equal(t, http.StatusGone, <-joined, "a waiting join is released")
	for range 2 {
		assert.Equal(t, http.StatusNoContent, c.do("GET", last+"/join", nil).status)
		assert.Equal(t, http.StatusGone, c.do("GET", first, nil).status)
		assert.Equal(t, http.StatusGone, c.do("GET", waiting, nil).status)
		assert.Equal(t, []string{"human: kept", "ai: First voice says <<kept>>, over & out",
			"human: wait=20 stays", "ai: First voice says <<wait=20 stays>>, over & out"}, c.contents(thread))
		c.do("GET", elsewhere+"/join", nil) // by then the first run would have ended by itself
	}
	assert.Len(t, c.contents(other), 2)
}

func TestRacingRollbacks(t *testing.T) {
	s := start(t, Options{})
	c := s.user(t, 0)
	thread := c.thread()
	var wg sync.WaitGroup
	paths := make([]string, 8)
	for i := range paths {
		wg.Go(func() {
			a := c.do("POST", thread+"/runs", runBody("wait-after-write=300 race", "rollback"))
			paths[i] = thread + "/runs/" + a.get("run_id").String()
		})
	}
	wg.Wait()
	left := 0
	for _, p := range paths {
		if c.do("GET", p+"/join", nil).status == http.StatusNoContent {
			left++
		}
	}
	assert.Equal(t, 1, left)
	assert.Len(t, c.contents(thread), 3)
}

func TestOtherStrategies(t *testing.T) {
	s := start(t, Options{})
	c := s.user(t, 0)
	thread := c.thread()
	first := c.run(thread, "wait=30000 long", "")
	assert.Equal(t, http.StatusConflict, c.do("POST", thread+"/runs", runBody("now", "")).status)
	second := c.run(thread, "wait=1000 next", "interrupt")
	assert.Equal(t, "stopped", c.do("GET", first, nil).get("phase").String())
	third := c.run(thread, "last", "enqueue")
	phase := c.do("GET", third, nil).get("phase").String()
	if c.do("GET", second, nil).get("phase").String() != "done" { // on a busy machine it may be
		assert.Equal(t, "waiting", phase)
	}
	c.do("GET", third+"/join", nil)
	assert.Equal(t, "done", c.do("GET", second, nil).get("phase").String())
	assert.Len(t, c.contents(thread), 5)
}

func TestRefusedRuns(t *testing.T) {
	s := start(t, Options{})
	c := s.user(t, 0)
	thread := c.thread()
	for body, status := range map[string]int{
		`{`: 400, `[]`: 400, `{}`: 400, `{"assistant_id":"parrot"}`: 400, `{"assistant_id":"parrot","input":"x"}`: 400,
		`{"assistant_id":"parrot","input":{"messages":"x"}}`:                                            400,
		`{"assistant_id":"parrot","input":{"messages":[{"role":"king","content":"x"}]}}`:                400,
		`{"assistant_id":"parrot","input":{"messages":[]},"multitask_strategy":"guess"}`:                400,
		`{"assistant_id":"cuckoo","input":{"messages":[]}}`:                                             404,
		`{"assistant_id":"parrot","input":{"messages":[{"role":"user","content":"x"}]},"metadata":"x"}`: 400,
	} {
		assert.Equal(t, status, c.do("POST", thread+"/runs", body).status, body)
	}
	assert.Empty(t, c.contents(thread))
	assert.Equal(t, 404, c.do("POST", "/threads/none/runs", runBody("x", "")).status)
	run := c.run(thread, "fine", "")
	other := c.thread()
	assert.Equal(t, 422, c.do("GET", other+run[len(thread):], nil).status, "a run is found under its own thread only")
	assert.Equal(t, 405, c.do("GET", thread+"/runs", nil).status)
	assert.Equal(t, 404, c.do("GET", thread, nil).status)
}

func TestUsersAreApart(t *testing.T) {
	s := start(t, Options{})
	ada, bob, dev := s.user(t, 0), s.user(t, 1), s.user(t, 2)
	made := ada.do("POST", "/threads", `{"metadata":{"owner":"bob#2","colour":"red"}}`)
	assert.Equal(t, s.Users[0].Identity, made.get("metadata.owner").String())
	assert.Equal(t, "red", made.get("metadata.colour").String())
	thread := "/threads/" + made.get("thread_id").String()
	run := ada.run(thread, "mine", "")
	ada.do("GET", run+"/join", nil)
	for _, path := range []string{thread + "/state", run, run + "/join"} {
		assert.Equal(t, 403, bob.do("GET", path, nil).status, path)
		assert.Less(t, dev.do("GET", path, nil).status, 300, path)
	}
	assert.Equal(t, 403, bob.do("POST", thread+"/runs", runBody("intruder", "rollback")).status)
	assert.Len(t, ada.contents(thread), 2)
	for c, n := range map[*client]int{&ada: 1, &bob: 0, &dev: 1} {
		assert.Len(t, c.do("GET", "/threads", nil).get("@this").Array(), n)
		assert.Len(t, c.do("POST", "/threads/search", `{"metadata":{"owner":"ada@example.org"}}`).get("@this").Array(), n)
	}
	assert.Equal(t, 400, ada.do("POST", "/threads/search", `{"limit":0}`).status)
	assert.Equal(t, 201, ada.do("POST", "/threads", nil).status)
}

func TestRefusals(t *testing.T) {
	for _, opts := range []Options{{}, {RefusedStatus: 418, RefusalAsJSON: true}} {
		s := start(t, opts)
		for _, header := range []string{"", "Bearer", "Bearer ", "Bearer nobody", "Basic " + s.Users[0].Token} {
			c := newClient(t, s.AgentURL)
			if header != "" {
				c.headers["Authorization"] = header
			}
			for method, path := range map[string]string{"POST": "/threads", "GET": "/threads/x/runs/y/join"} {
				a := c.do(method, path, nil)
				assert.Equal(t, s.RefusedStatus, a.status)
				assert.Contains(t, a.text, s.RefusedDetail)
			}
		}
		assert.Empty(t, s.user(t, 2).do("GET", "/threads", nil).get("@this").Array())
	}
}

// TestCloseInTheMiddle ends a run, a join and a build that would otherwise go on; goleak watches the rest.
func TestCloseInTheMiddle(t *testing.T) {
	s, err := Start(Options{BuildTime: time.Minute})
	require.NoError(t, err)
	s.owner(t).create(s.Facts, s.Sources.Main)
	c := s.user(t, 0)
	thread := c.thread()
	const wait = time.Minute // of the run: closing must not wait for its end
	run := c.run(thread, fmt.Sprintf("wait=%d", wait.Milliseconds()), "")
	begun := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+run+"/join", nil)
		if !assert.NoError(t, err) {
			return
		}
		req.Header.Set("Authorization", c.headers["Authorization"])
		close(begun)
		if res, err := c.http.Do(req); err == nil {
			_ = res.Body.Close()
		}
	})
	<-begun
	began := time.Now()
	s.Close()
	wg.Wait()
	assert.Less(t, time.Since(began), wait/2)
}
