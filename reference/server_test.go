package reference_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/internal/contractcheck"
	"github.com/agentconform/agentconform/spec"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if runAsVictim() {
		return
	}
	// A connection that a server closes after an error of the request is kept for half a second, longer than goleak waits.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// Waiting for what happens in the background. The limit only ends a test that hangs: its length shows nothing.
const (
	limit = 2 * time.Minute
	tick  = time.Millisecond
)

// client speaks to a reference as its owner.
type client struct {
	t      testing.TB
	server *reference.Server // nil where it runs in another process
	url    string
	key    string
	http   *http.Client
}

func newClient(t testing.TB, url, key string) client {
	connections := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(connections.CloseIdleConnections)
	checked := &contractcheck.Transport{T: t, Inner: connections, Side: sideOf}
	return client{t: t, url: url, key: key, http: &http.Client{Transport: checked, Timeout: limit}}
}

// sideOf tells which half of the interface answers under a path of the reference.
func sideOf(path string) (spec.Side, string) {
	rest, isAgent := strings.CutPrefix(path, "/agents/")
	if !isAgent {
		return spec.ControlPlane, path
	}
	_, below, _ := strings.Cut(rest, "/")
	return spec.AgentServer, "/" + below
}

func start(t testing.TB, opts reference.Options) client {
	t.Helper()
	s, err := reference.Start(context.Background(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	c := newClient(t, s.ControlPlaneURL(), s.Fixtures().Owner.APIKey)
	c.server = s
	return c
}

func (c client) do(method, path string, body any) (int, gjson.Result) {
	c.t.Helper()
	var text []byte
	if body != nil {
		var err error
		text, err = json.Marshal(body)
		require.NoError(c.t, err)
	}
	req, err := http.NewRequest(method, c.url+path, bytes.NewReader(text))
	require.NoError(c.t, err)
	req.Header.Set("X-Api-Key", c.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return resp.StatusCode, gjson.ParseBytes(answer)
}

// settle polls a revision until it is settled.
func (c client) settle(deployment, revision string) string {
	c.t.Helper()
	return c.await(deployment, revision, "DEPLOYED", "CREATE_FAILED", "BUILD_FAILED", "DEPLOY_FAILED", "SKIPPED", "INTERRUPTED")
}

// await polls a revision until it has one of the statuses.
func (c client) await(deployment, revision string, statuses ...string) string {
	c.t.Helper()
	var status string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(tick) {
		_, r := c.do("GET", "/v2/deployments/"+deployment+"/revisions/"+revision, nil)
		if status = r.Get("status").String(); slices.Contains(statuses, status) {
			return status
		}
	}
	require.FailNow(c.t, "the status did not come", "want one of %v, is %s", statuses, status)
	return ""
}
