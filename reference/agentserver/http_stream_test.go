package agentserver

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// received is one event as a client reads it.
type received struct {
	name, id string
	data     string
}

// eventsIn reads a whole stream.
func eventsIn(body string) []received {
	var out []received
	for block := range strings.SplitSeq(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		var e received
		for line := range strings.SplitSeq(block, "\n") {
			switch name, value, _ := strings.Cut(line, ": "); name {
			case "event":
				e.name = value
			case "data":
				e.data = value
			case "id":
				e.id = value
			}
		}
		if e.name != "" {
			out = append(out, e)
		}
	}
	return out
}

// names are those of events, with the number of messages where they hold values.
func names(events []received) []string {
	out := []string{}
	for _, e := range events {
		name := e.name
		var v struct{ Messages []json.RawMessage }
		if json.Unmarshal([]byte(e.data), &v) == nil && v.Messages != nil {
			name += strings.Repeat("+", len(v.Messages))
		}
		out = append(out, name)
	}
	return out
}

func (u as) stream(path, body string) []received {
	u.t.Helper()
	method := "POST"
	if body == "" {
		method = "GET"
	}
	a := u.ok(method, path, body)
	assert.Equal(u.t, "text/event-stream", a.header.Get("Content-Type"))
	return eventsIn(a.body)
}

func TestAStreamShowsWhatTheRunWritesInOrder(t *testing.T) {
	s := conformanceSite(t, Options{BasePath: "/base"})
	alice := s.alice()
	for options, want := range map[string][]string{
		`{}`:                                     {"metadata", "values+", "values++", "values++++"},
		`{"stream_mode": ["values", "updates"]}`: {"metadata", "values+", "updates", "values++", "updates", "values++++"},
		`{"stream_mode": "updates"}`:             {"metadata", "updates", "updates"},
		`{"stream_mode": ["messages"]}`: {
			"metadata", "messages/metadata", "messages/complete", "messages/metadata", "messages/complete", "messages/metadata", "messages/complete",
		},
		`{"stream_mode": "messages-tuple"}`: {"metadata", "messages", "messages", "messages"},
	} {
		thread := alice.thread()
		events := alice.stream("/threads/"+thread+"/runs/stream", withOptions(t, "conformance", "wait-after-write=1 tool", options))
		assert.Equal(t, want, names(events), options)
		var about struct {
			RunID string `json:"run_id"`
		}
		require.NoError(t, json.Unmarshal([]byte(events[0].data), &about))
		assert.Equal(t, threads.StatusSuccess, alice.getRun(thread, about.RunID).Status, "the stream ends after the run")
	}
	thread := alice.thread()
	events := alice.stream("/threads/"+thread+"/runs/stream", withOptions(t, "conformance", "one", `{"stream_mode": ["updates", "messages-tuple"]}`))
	assert.Contains(t, events[1].data, `{"conformance":{"messages":[{"content":"You said: one"`)
	assert.Contains(t, events[2].data, `[{"content":"You said: one"`)
	head := alice.ok("POST", "/threads/"+thread+"/runs/stream", runBody("conformance", "x", "")).header
	assert.Regexp(t, `^/base/threads/`+thread+`/runs/[^/]+$`, head.Get("Content-Location"))
	assert.Equal(t, strings.TrimPrefix(head.Get("Content-Location"), "/base")+"/stream", head.Get("Location"))
}

func TestAStreamTellsHowTheRunFailed(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := alice.thread()
	at := "/threads/" + thread + "/runs"
	events := alice.stream(at+"/stream", runBody("conformance", "fail", ""))
	last := events[len(events)-1]
	assert.Equal(t, "error", last.name)
	assert.Contains(t, last.data, "asked to")

	for _, end := range []struct {
		name string
		do   func(run string)
		want string
	}{
		{"rollback", func(string) { alice.run(thread, "next", "rollback") }, "UserRollback"},
		{"interrupt", func(string) { alice.run(thread, "next", "interrupt") }, "UserInterrupt"},
		{"cancel", func(run string) { assert.Equal(t, 202, alice.do("POST", at+"/"+run+"/cancel", "").status) }, "UserInterrupt"},
		{"cancel with rollback", func(run string) {
			assert.Equal(t, 204, alice.do("POST", at+"/"+run+"/cancel?wait=true&action=rollback", "").status)
		}, "UserRollback"},
		{"delete", func(run string) { assert.Equal(t, 204, alice.do("DELETE", at+"/"+run, "").status) }, "UserRollback"},
	} {
		streamed, waited := make(chan []received, 1), make(chan answered, 1)
		go func() {
			streamed <- alice.stream(at+"/stream", runBody("conformance", end.name+" "+writesThenUnending, ""))
		}()
		alice.untilText(thread, "Working on it: "+end.name)
		run := alice.running(thread)
		go func() { waited <- alice.join(thread, run) }()
		end.do(run)
		events := <-streamed
		assert.Equal(t, "error", events[len(events)-1].name, end.name)
		assert.Contains(t, events[len(events)-1].data, `"error":"`+end.want+`"`, end.name)
		<-waited
		alice.do("POST", "/runs/cancel", `{"status": "all"}`)
	}
}

// running is the id of the run of a thread that is in progress.
func (u as) running(thread string) string {
	u.t.Helper()
	var runs []threads.Run
	u.ok("GET", "/threads/"+thread+"/runs?status=running", "").json(u.t, &runs)
	require.Len(u.t, runs, 1)
	return runs[0].ID
}

func TestWhatIsStillToComeOfARun(t *testing.T) {
	s := conformanceSite(t, Options{Heartbeat: 5 * time.Millisecond})
	alice := s.alice()
	thread := alice.thread()
	run := alice.run(thread, "join wait-after-write=300", "")
	at := "/threads/" + thread + "/runs/" + run + "/stream"
	alice.untilText(thread, "Working on it")
	body := alice.ok("GET", at+"?stream_mode=&cancel_on_disconnect=false", "").body
	assert.Equal(t, []string{"values+++"}, names(eventsIn(strings.ReplaceAll(body, ": heartbeat\n", ""))))
	assert.Contains(t, body, ": heartbeat\n")
	assert.NotContains(t, body, ": heartbeat\n\n", "an empty line would end an event")
	assert.Empty(t, alice.ok("GET", at, "").body, "the run has ended")

	for last, want := range map[string][]string{
		"-1": {"metadata", "values+", "updates", "values++", "updates", "values+++"}, "0": {"values+", "updates", "values++", "updates", "values+++"},
		"2": {"updates", "values+++"}, "3": {}, "9": {},
	} {
		resumed := alice
		resumed.headers = map[string]string{"Authorization": "Bearer alice-token", "Last-Event-ID": last}
		assert.Equal(t, want, names(resumed.stream(at+`?stream_mode=["values","updates"]`, "")), last)
	}
	resumed := alice
	resumed.headers = map[string]string{"Authorization": "Bearer alice-token", "Last-Event-ID": "x"}
	assert.Equal(t, 422, resumed.do("GET", at, "").status)
	assert.Equal(t, 422, alice.do("GET", at+"?stream_mode=debug", "").status)
	assert.Equal(t, 422, alice.do("GET", at+"?cancel_on_disconnect=x", "").status)
	assert.Equal(t, 404, alice.do("GET", strings.Replace(at, run, threads.NewID(), 1), "").status)
}

func TestEveryStreamHasALimit(t *testing.T) {
	s := conformanceSite(t, Options{JoinTimeout: 50 * time.Millisecond})
	alice := s.alice()
	events := alice.stream("/runs/stream", runBody("conformance", unending, ""))
	assert.Contains(t, events[len(events)-1].data, "TimeoutError")
	assert.Equal(t, 503, alice.do("POST", "/runs/wait", runBody("conformance", unending, "")).status)
}

func TestStreamsEndWithTheServer(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	thread := alice.thread()
	ends := make(chan []received, 2)
	for _, text := range []string{writesThenUnending, "pending"} {
		go func() { ends <- alice.stream("/threads/"+thread+"/runs/stream", runBody("conformance", text, "")) }()
		if text != "pending" {
			alice.untilText(thread, "Working")
		}
	}
	require.Eventually(t, func() bool {
		var runs []threads.Run
		alice.ok("GET", "/threads/"+thread+"/runs", "").json(t, &runs)
		return len(runs) == 2
	}, watchdog, time.Millisecond)
	require.NoError(t, s.server.Close(t.Context()))
	for range 2 {
		events := <-ends
		assert.Contains(t, events[len(events)-1].data, "UserInterrupt")
	}
}

func TestARunIsCancelledWhenItsOnlyClientIsGone(t *testing.T) {
	s := conformanceSite(t, Options{})
	alice := s.alice()
	for path, ends := range map[string]string{"/wait": threads.StatusInterrupted, "/stream": threads.StatusInterrupted} {
		for on, want := range map[string]string{"cancel": ends, "continue": threads.StatusRunning} {
			thread := alice.thread()
			ctx, cancel := context.WithCancel(t.Context())
			gone := make(chan error, 1)
			go func() {
				req, _ := http.NewRequestWithContext(ctx, "POST", s.url+"/threads/"+thread+"/runs"+path,
					strings.NewReader(withOptions(t, "conformance", on+" "+writesThenUnending, `{"on_disconnect": "`+on+`"}`)))
				req.Header.Set("Authorization", "Bearer alice-token")
				resp, err := http.DefaultTransport.RoundTrip(req)
				if err == nil {
					defer resp.Body.Close()
					_, err = bufio.NewReader(resp.Body).ReadString(0)
				}
				gone <- err
			}()
			alice.untilText(thread, "Working on it")
			run := alice.running(thread)
			cancel()
			require.Error(t, <-gone)
			if want == threads.StatusInterrupted {
				require.Eventually(t, func() bool { return alice.getRun(thread, run).Status == want }, watchdog, time.Millisecond, path)
				continue
			}
			time.Sleep(20 * time.Millisecond)
			assert.Equal(t, want, alice.getRun(thread, run).Status, path)
			alice.do("POST", "/threads/"+thread+"/runs/"+run+"/cancel", "")
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestAClientThatDoesNotReadHoldsUpNobody has a client that sends a request for a large stream and reads nothing of it.
func TestAClientThatDoesNotReadHoldsUpNobody(t *testing.T) {
	s := newSite(t, appOf(t, map[string]string{
		"main.star": "def agent(messages, config, ctx):\n  for i in range(14):\n    ctx.write('x' * 100000)\n  return 'end'\n",
	}), Options{})
	u := s.nobody()
	thread := u.thread()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10)) // the stream has 10 MB: each event holds all messages so far
	body := runBody("main", "x", "")
	_, err = conn.Write([]byte("POST /threads/" + thread + "/runs/stream HTTP/1.1\r\nHost: x\r\nContent-Length: " +
		jsonLength(body) + "\r\n\r\n" + body))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var runs []threads.Run
		u.ok("GET", "/threads/"+thread+"/runs", "").json(t, &runs)
		return len(runs) == 1 && runs[0].Status == threads.StatusSuccess
	}, watchdog, time.Millisecond)
	assert.Contains(t, u.texts(thread), "ai: end")
	require.NoError(t, conn.Close())
}

func jsonLength(s string) string {
	data, _ := json.Marshal(len(s)) // a number can always be encoded
	return string(data)
}
