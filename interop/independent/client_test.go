package independent

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"
)

// A connection that a server closes after an error of the request is kept for half a second, longer than goleak waits.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// client speaks to one base address with one set of headers.
type client struct {
	t       *testing.T
	base    string
	headers map[string]string
	http    *http.Client
}

type answer struct {
	status int
	header http.Header
	text   string
}

func (a answer) get(path string) gjson.Result { return gjson.Get(a.text, path) }

func start(t *testing.T, opts Options) *Server {
	t.Helper()
	s, err := Start(opts)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

func newClient(t *testing.T, base string, headers ...string) client {
	c := client{t: t, base: base, headers: map[string]string{}, http: &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}}
	for i := 0; i < len(headers); i += 2 {
		c.headers[headers[i]] = headers[i+1]
	}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

func (s *Server) owner(t *testing.T) client {
	return newClient(t, s.ControlURL, "X-Api-Key", s.Facts.Owner.APIKey)
}

func (s *Server) user(t *testing.T, n int) client {
	return newClient(t, s.AgentURL, "Authorization", "Bearer "+s.Users[n].Token)
}

// do sends a string as it is, and anything else as JSON.
func (c client) do(method, path string, body any) answer {
	c.t.Helper()
	var raw io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		raw = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		require.NoError(c.t, err)
		raw = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, raw)
	require.NoError(c.t, err)
	for k, v := range c.headers {
		req.Header.Set(k, v)
	}
	res, err := c.http.Do(req)
	require.NoError(c.t, err)
	defer func() { _ = res.Body.Close() }()
	var plain io.Reader = res.Body
	if res.Header.Get("Content-Encoding") == "gzip" { // the transport leaves it alone when the header was asked for by hand
		plain, err = gzip.NewReader(res.Body)
		require.NoError(c.t, err)
	}
	text, err := io.ReadAll(plain)
	require.NoError(c.t, err)
	if strings.Contains(strings.ToLower(res.Header.Get("Content-Type")), "json") {
		require.True(c.t, gjson.ValidBytes(text), "%s", text)
	}
	return answer{status: res.StatusCode, header: res.Header, text: string(text)}
}

// create deploys and returns the path of the deployment.
func (c client) create(f Facts, ref string) string {
	c.t.Helper()
	a := c.do("POST", "/v2/deployments", f.CreateBody("one", ref))
	require.Equal(c.t, http.StatusAccepted, a.status, a.text)
	return "/v2/deployments/" + a.get("id").String()
}

// settled polls the latest revision until it is neither under way nor unknown.
func (c client) settled(path string) answer {
	c.t.Helper()
	latest := path + "/revisions/" + c.do("GET", path, nil).get("latest_revision_id").String()
	var last answer
	require.Eventually(c.t, func() bool {
		last = c.do("GET", latest, nil)
		status := last.get("status").String()
		return status == deployed || strings.HasSuffix(status, "_FAILED")
	}, 10*time.Second, 2*time.Millisecond)
	return last
}

func runBody(content, strategy string) object {
	b := object{"assistant_id": assistantID, "input": object{"messages": []object{{"role": "user", "content": content}}}}
	if strategy != "" {
		b["multitask_strategy"] = strategy
	}
	return b
}

// thread makes a thread and returns its path.
func (c client) thread() string {
	c.t.Helper()
	return "/threads/" + c.do("POST", "/threads", object{}).get("thread_id").String()
}

// run starts a run and returns its path.
func (c client) run(thread, content, strategy string) string {
	c.t.Helper()
	a := c.do("POST", thread+"/runs", runBody(content, strategy))
	require.Equal(c.t, http.StatusAccepted, a.status, a.text)
	return thread + "/runs/" + a.get("run_id").String()
}

func (c client) contents(thread string) []string {
	out := []string{}
	for _, m := range c.do("GET", thread+"/state", nil).get("values.messages").Array() {
		out = append(out, m.Get("type").String()+": "+m.Get("content").String())
	}
	return out
}
