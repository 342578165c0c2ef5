package contractcheck

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/spec"
)

const (
	id       = "6f1c1a7e-7a0b-4f0e-9c52-0d3c5b1f2a34"
	revision = `{"id":"` + id + `","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:05.6Z","status":"DEPLOYED","source":"git_host","source_revision_config":{}}`
	single   = "/v2/deployments/" + id + "/revisions/" + id
	list     = "/v2/deployments/" + id + "/revisions"
	runs     = "/threads/" + id + "/runs"
	run      = `{"assistant_id":"a","input":{"messages":[{"role":"user","content":"x"}]}}`
)

func get(path string, status int, body string) spec.Exchange {
	return spec.Exchange{
		Side: spec.ControlPlane, Method: "GET", Path: path, Status: status,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body),
	}
}

func post(path, sent string, status int, body string) spec.Exchange {
	x := get(path, status, body)
	x.Side, x.Method = spec.AgentServer, "POST"
	x.RequestBody, x.RequestHeader = []byte(sent), http.Header{"Content-Type": {"application/json"}}
	return x
}

func with(x spec.Exchange, change func(*spec.Exchange)) spec.Exchange {
	x.Header, x.RequestHeader = x.Header.Clone(), x.RequestHeader.Clone()
	change(&x)
	return x
}

func TestGoodExchangesPass(t *testing.T) {
	for name, x := range map[string]spec.Exchange{
		"an answer":             get(single, 200, revision),
		"a list":                get(list, 200, `{"resources":[`+revision+`],"offset":1}`),
		"a refusal":             get(list, 404, `{"detail":"not found"}`),
		"an open refusal":       get(single, 404, `no JSON`),
		"a request":             post(runs, run, 200, `{"run_id":"1"}`),
		"a request, refused":    post(runs, `{"input":1}`, 422, ``),
		"a query, refused":      with(get(list, 422, `{"detail":[]}`), func(x *spec.Exchange) { x.Query = "limit=0" }),
		"a server error":        get(single, 500, `no JSON`),
		"a rate limit":          get(list, 429, `no JSON`),
		"HEAD":                  with(get(single, 200, ""), func(x *spec.Exchange) { x.Method = "HEAD" }),
		"an extension":          with(get("/threads/"+id, 200, `no JSON`), func(x *spec.Exchange) { x.Side = spec.AgentServer }),
		"an unknown path":       get("/nothing", 404, ``),
		"a path with an escape": get("/v2/deployments/%2e", 404, ``),
	} {
		assert.NoError(t, Judge(x, Sent{}), name)
	}
}

func TestBadExchangesAreReported(t *testing.T) {
	for name, c := range map[string]struct {
		x    spec.Exchange
		want string
	}{
		"status":            {get(single, 302, ``), "status is not supported"},
		"content type":      {with(get(single, 200, revision), func(x *spec.Exchange) { x.Header.Set("Content-Type", "text/html") }), "Content-Type"},
		"no JSON":           {get(single, 200, `{`), "decode"},
		"no body":           {get(single, 200, ``), "body"},
		"missing field":     {get(single, 200, strings.Replace(revision, `"source":"git_host",`, ``, 1)), "source"},
		"wrong type":        {get(single, 200, strings.Replace(revision, `:{}`, `:[]`, 1)), "source_revision_config"},
		"unknown value":     {get(single, 200, strings.Replace(revision, `git_host`, `svn`, 1)), "source"},
		"uuid":              {get(single, 200, strings.Replace(revision, id, "7", 1)), "uuid"},
		"date-time":         {get(single, 200, strings.Replace(revision, "2026-01-02T", "2026-13-02T", 1)), "date-time"},
		"in a list":         {get(list, 200, `{"resources":[`+revision+`,`+strings.Replace(revision, id, "7", 1)+`],"offset":2}`), "uuid"},
		"refusal's body":    {get(list, 404, `{"detail":[]}`), "detail"},
		"request body":      {post(runs, `{"assistant_id":"a"}`, 200, `{"run_id":"1"}`), "the request is accepted, but does not match"},
		"request type":      {with(post(runs, run, 200, `{"run_id":"1"}`), func(x *spec.Exchange) { x.RequestHeader.Set("Content-Type", "text/plain") }), "the request is accepted, but does not match"},
		"query":             {with(get(list, 200, `{"resources":[],"offset":0}`), func(x *spec.Exchange) { x.Query = "limit=101" }), "limit"},
		"path":              {get(strings.Replace(single, id, "7", 1), 200, revision), "deployment_id"},
		"unknown path":      {get("/nothing", 200, `{}`), "does not declare the operation"},
		"unknown method":    {with(get(single, 204, ``), func(x *spec.Exchange) { x.Method = "DELETE" }), "does not declare the operation"},
		"path of the other": {get("/threads", 200, `[]`), "does not declare the operation"},
		"side":              {with(get(single, 200, revision), func(x *spec.Exchange) { x.Side = "" }), "no side"},
	} {
		assert.ErrorContains(t, Judge(c.x, Sent{}), c.want, name)
	}
}

// Exchanges that look like one that passed are not validated again; ids and times that are none do not look alike.
func TestAnExchangeThatPassedDoesNotHideABadOne(t *testing.T) {
	require.NoError(t, Judge(get(single, 200, revision), Sent{}))
	other := strings.ReplaceAll(revision, id, "0d3c5b1f-7a0b-4f0e-9c52-6f1c1a7e2a34")
	assert.Equal(t, seen(get(single, 200, revision), Sent{}), seen(get(single, 200, other), Sent{}))
	for _, bad := range []string{
		strings.Replace(revision, id, id+"0", 1), strings.Replace(revision, id, strings.Repeat("g", 8)+id[8:], 1),
		strings.Replace(revision, "05Z", "05", 1), strings.Replace(revision, "03:04:05Z", "03:04:65Z", 1),
	} {
		assert.Error(t, Judge(get(single, 200, bad), Sent{}), bad)
	}
}

type recorder struct{ errors []string }

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func TestATransportReportsWhatPassesThroughIt(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		w.Header().Set("Content-Type", "application/json")
		_, err = fmt.Fprintf(w, `{"run_id":"1","got":%d}`, len(body))
		assert.NoError(t, err)
	}))
	defer server.Close()
	for name, c := range map[string]struct {
		path, body, beyond string
		want               string
	}{
		"good":           {runs, run, "", ""},
		"beyond":         {runs, `{}`, "a reason", ""},
		"bad":            {runs, `{}`, "", "assistant_id"},
		"needless":       {runs, run, "a reason", "take out"},
		"undeclared":     {"/x", `{}`, "", "does not declare"},
		"of no side":     {"/elsewhere", `{}`, "", ""},
		"without a body": {runs, ``, "", "the request is accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			var reported recorder
			transport := &Transport{T: &reported, Inner: http.DefaultTransport, Side: func(path string) (spec.Side, string) {
				if path == "/elsewhere" {
					return "", ""
				}
				return spec.AgentServer, path
			}}
			client := &http.Client{Transport: transport}
			defer client.CloseIdleConnections()
			ctx := t.Context()
			if c.beyond != "" {
				ctx = Beyond(ctx, c.beyond)
			}
			req, err := http.NewRequestWithContext(ctx, "POST", server.URL+c.path, strings.NewReader(c.body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			resp, err := client.Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			require.NoError(t, err)
			assert.Equal(t, fmt.Sprintf(`{"run_id":"1","got":%d}`, len(c.body)), string(body), "what passes is not changed")
			if c.want == "" {
				assert.Empty(t, reported.errors)
				return
			}
			require.Len(t, reported.errors, 1)
			assert.Contains(t, reported.errors[0], c.want)
		})
	}
}
