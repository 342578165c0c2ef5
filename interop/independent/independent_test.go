package independent

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"go.uber.org/goleak"

	"github.com/agentconform/agentconform/steps/config"
)

// A connection that a server closes after an error of the request is kept for half a second, longer than goleak waits.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// rig is a server with its configuration, and a client that sends the credentials of the owner to both halves.
type rig struct {
	*Server
	t *testing.T
	c config.Config
	http.Client
}

func start(t *testing.T, edition string) *rig {
	t.Helper()
	r := &rig{Server: Start(Options{Edition: edition}), t: t, c: config.Default(), Client: http.Client{Transport: &http.Transport{}}}
	t.Cleanup(func() { r.Close(); r.CloseIdleConnections() })
	require.NoError(t, r.Configure(&r.c))
	return r
}

func (r *rig) do(method, url, body string, headers ...string) (*http.Response, string) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, url, strings.NewReader(body))
	require.NoError(r.t, err)
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("X-Api-Key", r.c.Credentials.APIKey)
	request.Header.Set("Authorization", "Bearer "+Users[0].Token)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	a, err := r.Do(request)
	require.NoError(r.t, err)
	defer func() { _ = a.Body.Close() }()
	text, err := io.ReadAll(a.Body)
	require.NoError(r.t, err)
	return a, string(text)
}

const minimal = `{"source":"internal_container"}`

// What is unusual on the wire is why this server exists: no part of it may get lost.
func TestItIsUnusual(t *testing.T) {
	for _, edition := range []string{config.Cloud, config.SelfHosted} {
		r := start(t, edition)
		require.NotEqual(t, strings.Split(r.ControlURL, "/")[2], strings.Split(r.AgentURL, "/")[2], "a host for each half")
		a, text := r.do("POST", r.ControlURL+"/v2/deployments", minimal)
		assert.Equal(t, http.StatusAccepted, a.StatusCode)
		assert.Equal(t, "Application/JSON; Charset=UTF-8", a.Header.Get("Content-Type"))
		assert.Equal(t, []string{"chunked"}, a.TransferEncoding)
		assert.Contains(t, text, "\n\t\"détail\"")
		deployment := r.ControlURL + "/v2/deployments/" + gjson.Get(text, "id").Str
		a, text = r.do("DELETE", deployment, "")
		assert.Equal(t, http.StatusMethodNotAllowed, a.StatusCode, text)

		seen := map[string]bool{}
		for range 6 {
			r.do("PATCH", deployment, `{"source_revision_config":{"image_uri":"registry.invalid:5000/choir/parrot:2"}}`)
		}
		_, text = r.do("GET", deployment+"/revisions", "")
		for _, rev := range gjson.Get(text, "resources").Array() {
			created, err := time.Parse(time.RFC3339Nano, rev.Get("created_at").Str)
			require.NoError(t, err)
			_, offset := created.Zone()
			seen[rev.Get("status").Str], seen[created.Format("-07:00")] = true, true
			assert.Zero(t, offset%900)
		}
		assert.Greater(t, len(seen), 4, "statuses and zones: %v", seen)

		a, text = r.do("GET", deployment, "", "Accept-Encoding", "gzip")
		assert.Equal(t, "gzip", a.Header.Get("Content-Encoding"))
		plain, err := gzip.NewReader(strings.NewReader(text))
		require.NoError(t, err)
		require.NoError(t, plain.Close())

		a, text = r.do("POST", r.AgentURL+"/threads", "")
		assert.Equal(t, http.StatusCreated, a.StatusCode)
		assert.True(t, strings.HasPrefix(gjson.Get(text, "thread_id").Str, "thread~"), text)
		assert.Contains(t, text, `"api\/v7"`, "slashes are escaped")
		a, text = r.do("GET", r.AgentURL+"/threads", "", "Authorization", "Bearer nobody")
		assert.Equal(t, map[string]int{config.Cloud: 401, config.SelfHosted: 403}[edition], a.StatusCode)
		assert.Equal(t, refusedDetail, text)
	}
}

// A mistake is named by its place, of whatever kind it is.
func TestMistakesAreNamed(t *testing.T) {
	r := start(t, config.Cloud)
	all := r.ControlURL + "/v2/deployments"
	for body, loc := range map[string]string{
		``: `["body",0]`, `{`: `["body",0]`, `[]`: `["body",0]`, `null`: `["body",0]`, `{} {}`: `["body",0]`,
		`{}`: `["source"]`, `{"source":7}`: `["source"]`, `{"source":"external_container"}`: `["source"]`,
		`{"source":"git_host","source_config":[]}`:                           `["source_config"]`,
		`{"source":"git_host","source_config":{"build_on_push":"yes"}}`:      `["source_config","build_on_push"]`,
		`{"source":"git_host","source_revision_config":{"repo_ref":5}}`:      `["source_revision_config","repo_ref"]`,
		`{"source":"git_host","source_revision_config":{"image_uri":"a:b"}}`: `["source_revision_config","image_uri"]`,
	} {
		a, text := r.do("POST", all, body)
		assert.Equal(t, http.StatusUnprocessableEntity, a.StatusCode, body)
		assert.Equal(t, loc, gjson.Get(text, "detail.0.loc|@ugly").Raw, body)
	}
	_, text := r.do("POST", all, minimal)
	revisions := all + "/" + gjson.Get(text, "id").Str + "/revisions"
	for query, loc := range map[string]string{"limit=0": "limit", "limit=101": "limit", "limit=1.5": "limit", "limit=": "limit",
		"limit=99999999999999999999": "limit", "offset=-1": "offset", "offset=x": "offset", "status=": "status",
		"status=DEPLOYED,NONE": "status", "remote_reconciled=perhaps": "remote_reconciled"} {
		a, text := r.do("GET", revisions+"?"+query, "")
		assert.Equal(t, http.StatusUnprocessableEntity, a.StatusCode, query)
		assert.Equal(t, loc, gjson.Get(text, "detail.0.loc.0").Str, query)
	}
	_, text = r.do("GET", revisions+"?offset=99999999999999999999", "")
	assert.Equal(t, "[]", gjson.Get(text, "resources").Raw)
	_, text = r.do("GET", revisions+"?limit=0&offset=-1", "")
	assert.Len(t, gjson.Get(text, "detail").Array(), 2)
}

// Close ends a run and its join, which would otherwise go on; goleak watches the rest.
func TestCloseInTheMiddle(t *testing.T) {
	r := start(t, config.Cloud)
	_, text := r.do("POST", r.AgentURL+"/threads", "")
	runs := r.AgentURL + "/threads/" + gjson.Get(text, "thread_id").Str + "/runs"
	_, text = r.do("POST", runs, `{"assistant_id":"parrot","input":{"messages":[{"role":"user","content":"wait=60000"}]}}`)
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		request, _ := http.NewRequest("GET", runs+"/"+gjson.Get(text, "run_id").Str+"/join", nil)
		request.Header.Set("Authorization", "Bearer "+Users[0].Token)
		if a, err := r.Do(request); err == nil {
			_ = a.Body.Close()
		}
	}()
	began := time.Now()
	r.Close()
	<-joined
	assert.Less(t, time.Since(began), 30*time.Second, "half of what the run waits")
}
