package agentserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/graphs"
	"github.com/agentconform/agentconform/reference/internal/contractcheck"
	"github.com/agentconform/agentconform/reference/store"
	"github.com/agentconform/agentconform/spec"
)

const users = `[{"name": "Alice", "token": "alice-token", "identity": "alice@example.org", "role": "developer"},
	{"name": "Bob", "token": "bob-token", "identity": "bob@example.org", "role": "user"}]`

// watchdog ends a test that hangs. The slowest machine needs a fraction of it.
const watchdog = 2 * time.Minute

// Waits that end when the test stops the run. The second follows a first message.
const (
	unending           = "wait=600000"
	writesThenUnending = "wait-after-write=600000"
)

const (
	echo    = "def agent(messages, config):\n  return 'heard ' + messages[-1]['content']\n"
	endless = "def agent(messages, config, ctx):\n  ctx.wait(1e9)\n"
)

// files is a source. If it has no agent.json, it has the graph main.star:agent, and the handler auth.star:auth if
// auth.star exists.
type files map[string]string

func (f files) load() (*App, error) {
	config := `{"graphs": {"main": "main.star:agent"}`
	if f["auth.star"] != "" {
		config += `, "auth": {"path": "auth.star:auth"}`
	}
	tree := fstest.MapFS{"agent.json": {Data: []byte(config + "}")}}
	for name, text := range f {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return Load(context.Background(), tree, "agent.json")
}

// site is a server under test with a client.
type site struct {
	t       testing.TB
	server  *Server
	db      *store.Store
	wire    contractcheck.Server // checks exchanges against the OpenAPI document
	graph   string               // the assistant_id of runs
	headers map[string]string    // headers of each request
}

func newSite(t testing.TB, source files, opts Options) *site {
	t.Helper()
	app, err := source.load()
	require.NoError(t, err)
	return serve(t, app, "main", opts)
}

// conformanceSite serves the conformance graph. The client is its first user.
func conformanceSite(t testing.TB) *site {
	t.Helper()
	source, err := graphs.Conformance()
	require.NoError(t, err)
	app, err := Load(t.Context(), source, "agent.json")
	require.NoError(t, err)
	s := serve(t, app, "conformance", Options{})
	s.headers["Authorization"] = "Bearer alice-token"
	return s
}

func serve(t testing.TB, app *App, graph string, opts Options) *site {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "agent.db"), true)
	require.NoError(t, err)
	server, err := New(app, db, "agent", map[string]string{"CONFORMANCE_USERS": users}, opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), watchdog)
		defer cancel()
		assert.NoError(t, server.Close(ctx))
		assert.NoError(t, db.Close())
	})
	wire := contractcheck.Server{T: t, Side: spec.AgentServer, Handler: server}
	return &site{t: t, server: server, db: db, wire: wire, graph: graph, headers: map[string]string{}}
}

type response struct {
	status int
	header http.Header
	body   string
}

// json decodes the body into v.
func (a response) json(t testing.TB, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.body), v), a.body)
}

// detail returns the detail of a refusal as a text.
func (a response) detail(t testing.TB) string {
	t.Helper()
	var v struct{ Detail any }
	a.json(t, &v)
	assert.NotEmpty(t, v.Detail)
	return fmt.Sprint(v.Detail)
}

func (s *site) do(method, path, body string) response {
	s.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range s.headers {
		r.Header.Set(name, value)
	}
	w := s.wire.Exchange(r)
	return response{w.Code, w.Header(), w.Body.String()}
}

// fetch sends a request that must return 200, and decodes the response.
func fetch[T any](s *site, method, path, body string) (v T) {
	s.t.Helper()
	a := s.do(method, path, body)
	require.Equal(s.t, 200, a.status, "%s %s: %s", method, path, a.body)
	a.json(s.t, &v)
	return v
}

func (s *site) thread() string {
	s.t.Helper()
	return fetch[Thread](s, "POST", "/threads", "{}").ID
}

func runBody(graph, text, strategy string) string {
	body := map[string]any{"assistant_id": graph, "input": map[string]any{"messages": []any{map[string]any{"role": "user", "content": text}}}}
	if strategy != "" {
		body["multitask_strategy"] = strategy
	}
	data, _ := json.Marshal(body) // strings and maps can always be encoded
	return string(data)
}

func (s *site) run(thread, text, strategy string) string {
	s.t.Helper()
	return fetch[Run](s, "POST", "/threads/"+thread+"/runs", runBody(s.graph, text, strategy)).ID
}

func (s *site) join(thread, run string) response {
	s.t.Helper()
	return s.do("GET", "/threads/"+thread+"/runs/"+run+"/join", "")
}

func (s *site) getRun(thread, run string) Run {
	s.t.Helper()
	return fetch[Run](s, "GET", "/threads/"+thread+"/runs/"+run, "")
}

// ran creates a thread with a run and joins the run.
func (s *site) ran(text string) (thread string, run Run, joined response) {
	s.t.Helper()
	thread = s.thread()
	id := s.run(thread, text, "")
	joined = s.join(thread, id)
	return thread, s.getRun(thread, id), joined
}

// texts returns the messages of a thread as "type: content".
func (s *site) texts(thread string) []string {
	s.t.Helper()
	state := fetch[struct {
		Values struct{ Messages []Message }
	}](s, "GET", "/threads/"+thread+"/state", "")
	out := []string{}
	for _, m := range state.Values.Messages {
		out = append(out, fmt.Sprintf("%v: %v", m["type"], m["content"]))
	}
	return out
}

// untilText waits until the state contains a message with the text.
func (s *site) untilText(thread, text string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool { return strings.Contains(strings.Join(s.texts(thread), "\n"), text) },
		watchdog, 2*time.Millisecond, "no message %q", text)
}
