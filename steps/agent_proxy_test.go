package steps_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/interop/independent"
)

// proxy is what layers know of the server behind them.
type proxy struct {
	mu    sync.Mutex
	runs  map[string]*seenRun // by path of the run
	last  map[string]*seenRun // by path of the thread
	first map[string]string   // the first user of all
}

// seenRun is a run as the proxy saw it begin.
type seenRun struct {
	path, thread string
	text         string // of its last message
	began        time.Time
	hold         time.Duration
	rolledBack   bool              // while it was in progress
	replaced     bool              // when it was over
	messages     []json.RawMessage // of the state when it was rolled back
}

// behind puts the layer before the agent server and returns the address.
func behind(t *testing.T, s *independent.Server, layer func(*proxy, http.Handler) http.Handler) string {
	t.Helper()
	at, err := url.Parse(s.AgentURL)
	require.NoError(t, err)
	back := httputil.NewSingleHostReverseProxy(at)
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	back.Transport = transport
	back.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	p := &proxy{runs: map[string]*seenRun{}, last: map[string]*seenRun{}, first: map[string]string{}}
	front := httptest.NewServer(layer(p, p.watch(plain(back))))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
		transport.CloseIdleConnections()
	})
	return front.URL
}

// plain keeps answers from being compressed, so that layers can read them.
func plain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept-Encoding", "identity")
		next.ServeHTTP(w, r)
	})
}

// watch notes the runs that begin.
func (p *proxy) watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		thread, isRun := strings.CutSuffix(r.URL.Path, "/runs")
		if !isRun || r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body := readBody(r)
		rollback := gjson.GetBytes(body, "multitask_strategy").String() == "rollback"
		var before []json.RawMessage
		if rollback {
			before = p.state(next, r, thread)
		}
		a := record(next, r)
		id := gjson.GetBytes(a.Body.Bytes(), "run_id").String()
		if a.Code < 300 {
			text := gjson.GetBytes(body, "input.messages.@reverse.0.content").String()
			fresh := &seenRun{path: thread + "/runs/" + id, thread: thread, text: text, began: time.Now(), hold: holdOf(text)}
			p.mu.Lock()
			if prior := p.last[thread]; rollback && prior != nil {
				prior.messages = before
				prior.rolledBack = time.Since(prior.began) < prior.hold
				prior.replaced = !prior.rolledBack
			}
			p.runs[fresh.path], p.last[thread] = fresh, fresh
			p.mu.Unlock()
		}
		send(w, a)
	})
}

// holdOf is how long a message asks the graph to stay in progress.
func holdOf(text string) time.Duration {
	word, _, _ := strings.Cut(text, " ")
	_, ms, _ := strings.Cut(word, "=")
	d, _ := time.ParseDuration(ms + "ms")
	return d
}

// state reads the messages of a thread with the credentials of a request.
func (p *proxy) state(next http.Handler, like *http.Request, thread string) (messages []json.RawMessage) {
	r := httptest.NewRequest(http.MethodGet, thread+"/state", nil)
	r.Header = like.Header.Clone()
	r.Header.Del("Content-Type")
	a := record(next, r)
	for _, m := range gjson.GetBytes(a.Body.Bytes(), "values.messages").Array() {
		messages = append(messages, json.RawMessage(m.Raw))
	}
	return messages
}

func readBody(r *http.Request) []byte {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return body
}

func record(next http.Handler, r *http.Request) *httptest.ResponseRecorder {
	a := httptest.NewRecorder()
	next.ServeHTTP(a, r)
	return a
}

func send(w http.ResponseWriter, a *httptest.ResponseRecorder) {
	a.Result().Header.Del("Content-Length")
	maps.Copy(w.Header(), a.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(a.Code)
	_, _ = w.Write(a.Body.Bytes())
}

// when makes a layer for some requests.
func when(match func(r *http.Request) bool, serve func(p *proxy, next http.Handler, w http.ResponseWriter, r *http.Request)) func(*proxy, http.Handler) http.Handler {
	return func(p *proxy, next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if match(r) {
				serve(p, next, w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func at(method, suffix string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method && strings.HasSuffix(r.URL.Path, suffix) }
}

func aRun(r *http.Request) bool {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	return r.Method == http.MethodGet && len(parts) == 4
}
