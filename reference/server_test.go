package reference_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"github.com/agentconform/agentconform/reference"
)

func TestMain(m *testing.M) {
	if runAsVictim() {
		return
	}
	// After an invalid request, net/http keeps a closed connection for half a second, longer than goleak waits.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// limit ends a test that hangs.
const limit = 2 * time.Minute

// client sends requests to a reference.
type client struct {
	t      testing.TB
	server *reference.Server // nil if it runs in another process
	url    string
	key    string
	http   *http.Client
}

func newClient(t testing.TB, url, key string) client {
	connections := &http.Transport{MaxIdleConnsPerHost: 16}
	t.Cleanup(connections.CloseIdleConnections)
	return client{t: t, url: url, key: key, http: &http.Client{Transport: connections, Timeout: limit}}
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

// do sends a request to the control plane with the API key.
func (c client) do(method, path string, body any) (int, gjson.Result) {
	c.t.Helper()
	return c.send(map[string]string{"X-Api-Key": c.key}, method, c.url+path, body)
}

// as sends a request to an agent server with the token of the first user.
func (c client) as(method, url string, body any) (int, gjson.Result) {
	c.t.Helper()
	return c.send(map[string]string{"Authorization": "Bearer " + c.server.Fixtures().Users[0].Token}, method, url, body)
}

func (c client) send(headers map[string]string, method, url string, body any) (int, gjson.Result) {
	c.t.Helper()
	var text []byte
	if body != nil {
		var err error
		text, err = json.Marshal(body)
		require.NoError(c.t, err)
	}
	req, err := http.NewRequest(method, url, bytes.NewReader(text))
	require.NoError(c.t, err)
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	text, err = io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	return resp.StatusCode, gjson.ParseBytes(text)
}

// await polls a revision until it is DEPLOYED.
func (c client) await(deployment, revision string) {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		_, r := c.do("GET", "/v2/deployments/"+deployment+"/revisions/"+revision, nil)
		return r.Get("status").String() == "DEPLOYED"
	}, limit, time.Millisecond)
}
