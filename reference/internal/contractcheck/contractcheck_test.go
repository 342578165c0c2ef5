package contractcheck

import (
	"context"
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
	ok       = `{"run_id":"1"}`
)

type recorder struct{ errors []string }

func (*recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// answers is a server with one answer.
type answers struct {
	status     int
	kind, body string
}

func (a answers) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.status, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

// judge sends a request to a server with that answer, and returns what is reported.
func judge(t *testing.T, side spec.Side, ctx context.Context, method, target, sent, kind string, answer answers) string {
	t.Helper()
	var reported recorder
	transport := &Transport{T: &reported, Inner: answer, Side: Only(side)}
	for range 2 { // the second is remembered, if the first passed
		r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(sent))
		r.Header.Set("Content-Type", kind)
		resp, err := transport.RoundTrip(r)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		assert.Equal(t, answer.body, string(body), "what passes is not changed")
	}
	return strings.Join(reported.errors, "; ")
}

func TestAnswersAreJudged(t *testing.T) {
	const json = "application/json"
	for name, c := range map[string]struct {
		target string
		answer answers
		want   string
	}{
		"an answer":        {single, answers{200, json, revision}, ""},
		"a list":           {list, answers{200, json, `{"resources":[` + revision + `],"offset":1}`}, ""},
		"a refusal":        {list, answers{404, json, `{"detail":"not found"}`}, ""},
		"an open refusal":  {single, answers{404, json, `no JSON`}, ""},
		"a refused query":  {list + "?limit=0", answers{422, json, `{"detail":[]}`}, ""},
		"a server error":   {single, answers{500, json, `no JSON`}, ""},
		"a rate limit":     {list, answers{429, json, `no JSON`}, ""},
		"an unknown path":  {"/nothing", answers{404, json, ``}, ""},
		"status":           {single, answers{302, json, ``}, "status is not supported"},
		"content type":     {single, answers{200, "text/html", revision}, "Content-Type"},
		"no JSON":          {single, answers{200, json, `{`}, "decode"},
		"no body":          {single, answers{200, json, ``}, "body"},
		"missing field":    {single, answers{200, json, strings.Replace(revision, `"source":"git_host",`, ``, 1)}, "source"},
		"wrong type":       {single, answers{200, json, strings.Replace(revision, `:{}`, `:[]`, 1)}, "source_revision_config"},
		"unknown value":    {single, answers{200, json, strings.Replace(revision, `git_host`, `svn`, 1)}, "source"},
		"uuid":             {single, answers{200, json, strings.Replace(revision, id, "7", 1)}, "uuid"},
		"date-time":        {single, answers{200, json, strings.Replace(revision, "2026-01-02T", "2026-13-02T", 1)}, "date-time"},
		"refusal's body":   {list, answers{404, json, `{"detail":[]}`}, "detail"},
		"query":            {list + "?limit=101", answers{200, json, `{"resources":[],"offset":0}`}, "limit"},
		"path":             {strings.Replace(single, id, "7", 1), answers{200, json, revision}, "deployment_id"},
		"an accepted path": {"/nothing", answers{200, json, `{}`}, "does not declare the operation"},
	} {
		got := judge(t, spec.ControlPlane, t.Context(), "GET", c.target, "", "", c.answer)
		if c.want == "" {
			assert.Empty(t, got, name)
			continue
		}
		assert.Contains(t, got, c.want, name)
	}
}

func TestRequestsAreJudged(t *testing.T) {
	beyond := Beyond(t.Context(), "a reason")
	for name, c := range map[string]struct {
		ctx          context.Context
		target, body string
		kind         string
		status       int
		want         string
	}{
		"good":           {t.Context(), runs, run, "application/json", 200, ""},
		"refused":        {t.Context(), runs, `{"input":1}`, "application/json", 422, ""},
		"beyond":         {beyond, runs, `{}`, "application/json", 200, ""},
		"bad":            {t.Context(), runs, `{}`, "application/json", 200, "assistant_id"},
		"another type":   {t.Context(), runs, run, "text/plain", 200, "the request is accepted, but does not match"},
		"needless":       {beyond, runs, run, "application/json", 200, "take out"},
		"undeclared":     {t.Context(), "/x", `{}`, "application/json", 200, "does not declare"},
		"without a body": {t.Context(), runs, ``, "application/json", 200, "the request is accepted"},
	} {
		got := judge(t, spec.AgentServer, c.ctx, "POST", c.target, c.body, c.kind, answers{c.status, "application/json", ok})
		if c.want == "" {
			assert.Empty(t, got, name)
			continue
		}
		assert.Contains(t, got, c.want, name)
	}
}
