package agentserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
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

// watchdog ends a test that hangs. Its length shows nothing: the slowest machine needs a fraction of it.
const watchdog = 2 * time.Minute

// unending is a wait that the tests end themselves, by stopping the run.
const unending = "wait=600000"

// writesThenUnending is the same after a first message.
const writesThenUnending = "wait-after-write=600000"

func openDB(t testing.TB) *store.Store {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "agent.db"), true)
	require.NoError(t, err)
	return db
}

// conformanceApp loads the conformance graph.
func conformanceApp(t testing.TB, folder string) *App {
	t.Helper()
	app, err := Load(t.Context(), sourceOf(t, folder), "agent.json")
	require.NoError(t, err)
	return app
}

// sourceOf is a source of the conformance graph: the files of the folder over those of the first revision.
func sourceOf(t testing.TB, folder string) fs.FS {
	t.Helper()
	source := fstest.MapFS{}
	for _, each := range []string{graphs.Conformance, folder} {
		entries, err := graphs.FS.ReadDir(each)
		require.NoError(t, err)
		for _, entry := range entries {
			text, err := graphs.FS.ReadFile(each + "/" + entry.Name())
			require.NoError(t, err)
			source[entry.Name()] = &fstest.MapFile{Data: text}
		}
	}
	return source
}

// appOf loads a source with one graph, main.star:agent, and a handler, auth.star:auth, if that is there.
func appOf(t testing.TB, files map[string]string) *App {
	t.Helper()
	app, err := loadFiles(files)
	require.NoError(t, err)
	return app
}

func loadFiles(files map[string]string) (*App, error) {
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	if _, ok := files["agent.json"]; !ok {
		config := `{"graphs": {"main": "main.star:agent"}`
		if _, ok := files["auth.star"]; ok {
			config += `, "auth": {"path": "auth.star:auth"}`
		}
		tree["agent.json"] = &fstest.MapFile{Data: []byte(config + "}")}
	}
	return Load(context.Background(), tree, "agent.json")
}

const echo = "def agent(messages, config):\n  return 'heard ' + messages[-1]['content']\n"

// site is a server under test, reachable over HTTP.
type site struct {
	t      testing.TB
	server *Server
	url    string
	client *http.Client
	db     *store.Store
}

func newSite(t testing.TB, app *App, opts Options) *site {
	t.Helper()
	db := openDB(t)
	server, err := New(app, db, "agent", map[string]string{"CONFORMANCE_USERS": users}, opts)
	require.NoError(t, err)
	ts := httptest.NewServer(server)
	s := &site{t: t, server: server, url: ts.URL, client: ts.Client(), db: db}
	connections := s.client.Transport.(*http.Transport)
	connections.MaxIdleConnsPerHost = 100
	s.client.Transport = s.checked(connections)
	s.client.Timeout = watchdog
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), watchdog)
		defer cancel()
		assert.NoError(t, server.Close(ctx))
		ts.Close()
		connections.CloseIdleConnections()
		assert.NoError(t, db.Close())
	})
	return s
}

// conformanceSite serves the conformance graph.
func conformanceSite(t testing.TB, opts Options) *site {
	return newSite(t, conformanceApp(t, graphs.Conformance), opts)
}

// direct is the same site without a network in between: no goroutine but those of the server is left behind.
func (s *site) direct() *site {
	d := *s
	d.client = &http.Client{Transport: s.checked(inProcess{s.server})}
	return &d
}

// checked holds what passes to the contract's document.
func (s *site) checked(inner http.RoundTripper) http.RoundTripper {
	return &contractcheck.Transport{T: s.t, Inner: inner, Side: contractcheck.Only(spec.AgentServer)}
}

type inProcess struct{ h http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	p.h.ServeHTTP(rec, r)
	return rec.Result(), nil
}

type answered struct {
	status int
	header http.Header
	body   string
}

// json reads the body into v.
func (a answered) json(t testing.TB, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(a.body), v), a.body)
}

// detail is the detail of a refusal, as text where it lists problems.
func (a answered) detail(t testing.TB) string {
	t.Helper()
	var v struct{ Detail any }
	a.json(t, &v)
	assert.NotEmpty(t, v.Detail)
	return fmt.Sprint(v.Detail)
}

// as is a user of a site.
type as struct {
	*site
	headers map[string]string
}

func (s *site) bearer(token string) as {
	return as{site: s, headers: map[string]string{"Authorization": "Bearer " + token}}
}
func (s *site) alice() as  { return s.bearer("alice-token") }
func (s *site) nobody() as { return as{site: s} }
func (u as) do(method, path, body string) answered {
	u.t.Helper()
	a, err := u.try(context.Background(), method, path, body)
	require.NoError(u.t, err)
	return a
}

func (u as) try(ctx context.Context, method, path, body string) (answered, error) {
	var r io.Reader
	if body != "" {
		r = strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, u.url+path, r)
	if err != nil {
		return answered{}, err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range u.headers {
		req.Header.Set(k, v)
	}
	resp, err := u.client.Do(req)
	if err != nil {
		return answered{}, err
	}
	defer resp.Body.Close()
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(resp.Body); err != nil {
		return answered{}, err
	}
	return answered{resp.StatusCode, resp.Header, buf.String()}, nil
}

func (u as) ok(method, path, body string) answered {
	u.t.Helper()
	a := u.do(method, path, body)
	require.Equal(u.t, 200, a.status, "%s %s: %s", method, path, a.body)
	return a
}

func (u as) thread() string {
	u.t.Helper()
	var th Thread
	u.ok("POST", "/threads", "{}").json(u.t, &th)
	return th.ID
}

func runBody(graph, text, strategy string) string {
	body := map[string]any{"assistant_id": graph, "input": map[string]any{"messages": []any{map[string]any{"role": "user", "content": text}}}}
	if strategy != "" {
		body["multitask_strategy"] = strategy
	}
	data, _ := json.Marshal(body) // strings and maps can always be encoded
	return string(data)
}

func (u as) runOf(graph, thread, text, strategy string) string {
	u.t.Helper()
	var r Run
	u.ok("POST", "/threads/"+thread+"/runs", runBody(graph, text, strategy)).json(u.t, &r)
	return r.ID
}

// run starts the conformance graph.
func (u as) run(thread, text, strategy string) string {
	u.t.Helper()
	return u.runOf("conformance", thread, text, strategy)
}

func (u as) join(thread, run string) answered {
	u.t.Helper()
	return u.do("GET", "/threads/"+thread+"/runs/"+run+"/join", "")
}

func (u as) getRun(thread, run string) Run {
	u.t.Helper()
	var r Run
	u.ok("GET", "/threads/"+thread+"/runs/"+run, "").json(u.t, &r)
	return r
}

// texts are the messages of a thread as "type: content".
func (u as) texts(thread string) []string {
	u.t.Helper()
	var st struct {
		Values struct{ Messages []Message }
	}
	u.ok("GET", "/threads/"+thread+"/state", "").json(u.t, &st)
	out := []string{}
	for _, m := range st.Values.Messages {
		out = append(out, fmt.Sprintf("%v: %v", m["type"], m["content"]))
	}
	return out
}

// untilText waits until a message with the text is in the state.
func (u as) untilText(thread, text string) {
	u.t.Helper()
	require.Eventually(u.t, func() bool {
		for _, have := range u.texts(thread) {
			if strings.Contains(have, text) {
				return true
			}
		}
		return false
	}, watchdog, 2*time.Millisecond, "no message %q", text)
}
