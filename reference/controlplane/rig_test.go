package controlplane_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/internal/contractcheck"
	"github.com/agentconform/agentconform/reference/source"
	"github.com/agentconform/agentconform/reference/store"
	"github.com/agentconform/agentconform/spec"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// watchdog ends a test that hangs. The slowest machine needs a fraction of it.
const watchdog = 2 * time.Minute

// toyRuntime is a runtime whose builds are the texts of configuration files. Its hooks may fail or wait.
type toyRuntime struct {
	onBuild  func(ctx context.Context) error
	onDeploy func(env map[string]string) error
	serving  sync.Map // the build in service, by deployment
}

func (r *toyRuntime) Build(ctx context.Context, tree fs.FS, configPath string) (controlplane.Build, error) {
	if r.onBuild != nil {
		if err := r.onBuild(ctx); err != nil {
			return nil, err
		}
	}
	text, err := fs.ReadFile(tree, configPath)
	if string(text) == "broken" {
		err = errors.New(configPath + " is broken")
	}
	return string(text), err
}

func (r *toyRuntime) Deploy(_ context.Context, _, id string, b controlplane.Build, env map[string]string) error {
	if r.onDeploy != nil {
		if err := r.onDeploy(env); err != nil {
			return err
		}
	}
	r.serving.Store(id, b)
	return nil
}

func (r *toyRuntime) Remove(_ context.Context, id string) error {
	r.serving.Delete(id)
	return nil
}

// rig is a control plane with a store and a toyRuntime.
type rig struct {
	t       *testing.T
	server  *controlplane.Server
	opts    controlplane.Options
	runtime *toyRuntime
}

// newRig returns a rig whose revisions stay in CREATING, unless configured otherwise.
func newRig(t *testing.T, edition controlplane.Edition, configure ...func(*controlplane.Options)) *rig {
	t.Helper()
	kept, err := store.Open(filepath.Join(t.TempDir(), "store.db"), true)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, kept.Close()) })
	fetcher, err := source.New()
	require.NoError(t, err)
	t.Cleanup(fetcher.Close)
	r := &rig{t: t, runtime: &toyRuntime{}}
	r.opts = controlplane.Options{
		Edition: edition, Store: kept, Sources: fetcher, Runtime: r.runtime, Pace: time.Hour,
		Tenants:  []controlplane.Tenant{{Name: "a", APIKey: "key-a"}},
		AgentURL: func(id string) string { return "http://agents.example/" + id },
	}
	for _, change := range configure {
		change(&r.opts)
	}
	r.server, err = controlplane.New(r.opts)
	require.NoError(t, err)
	t.Cleanup(r.server.Close)
	return r
}

// want sends a request, with additional headers ("Name: value"). It requires a status, and that the exchange conforms to
// the OpenAPI document. It returns the body of the response.
func (r *rig) want(status int, method, target, body string, headers ...string) gjson.Result {
	r.t.Helper()
	req := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, h := range append([]string{"X-Api-Key: key-a", "Content-Type: application/json"}, headers...) {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	w := contractcheck.Server{T: r.t, Side: spec.ControlPlane, Handler: r.server}.Exchange(req)
	require.Equal(r.t, status, w.Code, "%s %s %s: %s", method, target, body, w.Body)
	if w.Body.Len() > 0 {
		require.Equal(r.t, "application/json", w.Header().Get("Content-Type"))
	}
	return gjson.ParseBytes(w.Body.Bytes())
}

// places returns the places of the problems of a 422, such as "query.limit".
func places(refusal gjson.Result) (list []string) {
	for _, problem := range refusal.Get("detail").Array() {
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

func (r *rig) update(id, ref string) (revision string) {
	r.t.Helper()
	body := fmt.Sprintf(`{"source_revision_config":{"repo_ref":%q}}`, ref)
	return r.want(200, "PATCH", "/v2/deployments/"+id, body).Get("latest_revision_id").String()
}

// await waits until a revision has a status, and returns its message.
func (r *rig) await(id, revision string, status controlplane.Status) (message string) {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		shown := r.want(200, "GET", "/v2/deployments/"+id+"/revisions/"+revision, "")
		message = shown.Get("status_message").String()
		return shown.Get("status").String() == string(status)
	}, watchdog, time.Millisecond, "want %s", status)
	return message
}

func (r *rig) servedBuild(id string) string {
	text, _ := r.runtime.serving.Load(id)
	return fmt.Sprint(text)
}
