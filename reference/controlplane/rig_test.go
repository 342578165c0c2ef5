package controlplane_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/internal/contractcheck"
	"github.com/agentconform/agentconform/reference/source"
	"github.com/agentconform/agentconform/reference/store"
	"github.com/agentconform/agentconform/spec"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"
)

// A connection that a server closes after an error of the request is kept for half a second, longer than goleak waits.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// watchdog ends a test that hangs. Its length shows nothing: the slowest machine needs a fraction of it.
const watchdog = 2 * time.Minute

// rig is a control plane over a real store and a runtime of texts.
type rig struct {
	t       *testing.T
	server  *controlplane.Server
	opts    controlplane.Options
	runtime *toyRuntime
}

// newRig makes a rig. Unless configured otherwise, revisions stay in CREATING.
func newRig(t *testing.T, edition controlplane.Edition, configure ...func(*controlplane.Options)) *rig {
	t.Helper()
	kept, err := store.Open(filepath.Join(t.TempDir(), "store.db"), true)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, kept.Close()) })
	fetcher, err := source.New()
	require.NoError(t, err)
	t.Cleanup(fetcher.Close)
	now := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC).UnixMilli()
	r := &rig{t: t, runtime: &toyRuntime{serving: map[string]string{}}}
	r.opts = controlplane.Options{
		Edition: edition, Store: kept, Sources: fetcher, Runtime: r.runtime, Pace: time.Hour,
		Tenants: []controlplane.Tenant{
			{Name: "a", APIKey: "key-a", TenantID: "tenant-a", Bearer: "bearer-a"},
			{Name: "b", APIKey: "key-b", TenantID: "tenant-b", Bearer: "bearer-b"},
			{Name: "keyless", TenantID: "tenant-c"},
		},
		AgentURL: func(id string) string { return "http://agents.example/" + id },
		Now:      func() time.Time { return time.UnixMilli(atomic.AddInt64(&now, 1)) },
	}
	for _, change := range configure {
		change(&r.opts)
	}
	r.start()
	return r
}

func (r *rig) start() {
	server, err := controlplane.New(r.opts)
	require.NoError(r.t, err)
	r.server = server
	r.t.Cleanup(server.Close)
}

// serve answers a request, and holds both to the contract's document.
func (r *rig) serve(req *http.Request) *http.Response {
	r.t.Helper()
	checked := &contractcheck.Transport{T: r.t, Inner: inProcess{r.server}, Side: contractcheck.Only(spec.ControlPlane)}
	resp, err := checked.RoundTrip(req)
	require.NoError(r.t, err)
	return resp
}

type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	rec := httptest.NewRecorder()
	p.ServeHTTP(rec, req)
	return rec.Result(), nil
}

// send sends a request as tenant a, unless other headers are given ("Name: value").
func (r *rig) send(method, target, body string, headers ...string) (*http.Response, gjson.Result) {
	r.t.Helper()
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	if len(headers) == 0 {
		headers = []string{"X-Api-Key: key-a"}
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Add(name, value)
	}
	if body != "" && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp := r.serve(req)
	answer, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	if len(answer) > 0 {
		require.True(r.t, json.Valid(answer), "%s", answer)
		require.Equal(r.t, "application/json", resp.Header.Get("Content-Type"))
	}
	return resp, gjson.ParseBytes(answer)
}

// want sends a request and holds the answer to a status.
func (r *rig) want(status int, method, target, body string, headers ...string) gjson.Result {
	r.t.Helper()
	resp, answer := r.send(method, target, body, headers...)
	require.Equal(r.t, status, resp.StatusCode, "%s %s %s: %s", method, target, body, answer.Raw)
	return answer
}

// places returns where the problems of a 422 are, "query.limit" and the like.
func places(answer gjson.Result) (list []string) {
	for _, problem := range answer.Get("detail").Array() {
		var parts []string
		for _, part := range problem.Get("loc").Array() {
			parts = append(parts, part.String())
		}
		list = append(list, strings.Join(parts, "."))
	}
	return list
}

const gitBody = `{"name":"d","source":"git_host","source_config":{"repo_url":"http://127.0.0.1:1/r.git","build_on_push":false,"integration_id":12345678901234567890},
	"source_revision_config":{"repo_ref":"main","graph_config_path":"agent.json"},"secrets":[{"name":"S","value":"hunter2"}]}`

func (r *rig) create(body string) (id, revision string) {
	r.t.Helper()
	d := r.want(http.StatusCreated, "POST", "/v2/deployments", body)
	return d.Get("id").String(), d.Get("latest_revision_id").String()
}

func patch(config string) string { return fmt.Sprintf(`{"source_revision_config":%s}`, config) }

// operations are all operations, with a deployment and a revision to be filled in.
func operations(id, revision string) map[string][3]string {
	at := "/v2/deployments/" + id
	return map[string][3]string{
		"create":    {"POST", "/v2/deployments", gitBody},
		"list":      {"GET", "/v2/deployments", ""},
		"get":       {"GET", at, ""},
		"update":    {"PATCH", at, patch(`{"repo_ref":"x"}`)},
		"delete":    {"DELETE", at, ""},
		"list revs": {"GET", at + "/revisions", ""},
		"get rev":   {"GET", at + "/revisions/" + revision, ""},
	}
}
