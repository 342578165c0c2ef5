package spec

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// shared is the oracle of all tests, which use it concurrently.
var shared *Oracle

func TestMain(m *testing.M) {
	var err error
	if shared, err = New(); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}

const (
	deploymentPath = "/v2/deployments/0b5e9a52-1111-4222-8333-123456789abc"
	revisionsPath  = deploymentPath + "/revisions"
	revisionPath   = revisionsPath + "/0b5e9a52-1111-4222-8333-123456789abd"
)

func answer(method, path string, status int, body string) Exchange {
	side := ControlPlane
	if strings.HasPrefix(path, "/threads") {
		side = AgentServer
	}
	return Exchange{
		Side: side, Method: method, Path: path, Status: status,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body),
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		side         Side
		method, path string
		want         string
	}{
		{ControlPlane, "POST", "/v2/deployments", "create-deployment"},
		{ControlPlane, "GET", "/v2/deployments/not-a-uuid", "get-deployment"},
		{ControlPlane, "GET", "/v2/deployments/a%2Fb", "get-deployment"},
		{ControlPlane, "GET", revisionsPath, "list-revisions"},
		{ControlPlane, "GET", revisionPath, "get-revision"},
		{AgentServer, "POST", "/threads/search", "search-threads"},
		{AgentServer, "GET", "/threads/search/state", "get-state"},
		{AgentServer, "GET", "/threads/t/runs/r/join", "join-run"},
		{AgentServer, "POST", "/v2/deployments", ""},
		{ControlPlane, "PUT", "/v2/deployments", ""},
		{ControlPlane, "GET", "/v2/deployments/", ""},
		{ControlPlane, "GET", "/v2/deployments//revisions", ""},
		{ControlPlane, "GET", "/v2/deployments/d/revisions/.", ""},
		{ControlPlane, "GET", "/v2/deployments/../revisions", ""},
		{ControlPlane, "GET", revisionsPath + "/", ""},
		{ControlPlane, "GET", "", ""},
		{"moon", "GET", "/v2/deployments", ""},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			op, ok := shared.Find(c.side, c.method, c.path)
			assert.Equal(t, c.want != "", ok)
			assert.Equal(t, c.want, op.ID)
		})
	}
}

// TestWhatIsNotJudged has invalid responses that the contract does not cover.
func TestWhatIsNotJudged(t *testing.T) {
	for _, x := range []Exchange{
		answer("GET", "/v2/nothing", 200, "<"),
		answer("PUT", deploymentPath, 200, "<"),
		answer("DELETE", deploymentPath, 302, "<"), // a vendor extension
		answer("GET", revisionsPath, 0, ""),        // no answer
		answer("GET", revisionsPath, 429, "<"),
		answer("GET", "/threads/t/state", 599, "<"),
		answer("POST", "/v2/deployments", 401, "<"),
		answer("GET", "/threads/t/state", 499, "<"),
	} {
		assert.Nil(t, shared.JudgeResponse(x), "%s %s %d", x.Method, x.Path, x.Status)
	}
}

func TestAViolationSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		x     Exchange
		want  Violation
		title string
	}{
		{"a missing field", page(revision("status", "")), Violation{"list-revisions", 200, "/resources/0/status", "required", `the field "status"`, "", false}, "GET /v2/deployments/{id}/revisions returns no status"},
		{"a missing field, spelt otherwise", list(`{"resources":[],"offest":0,"total":0}`), Violation{"list-revisions", 200, "/offset", "required", `the field "offset"`,
			`"offest" in its place, in {"offest":0,"resources":[],"total":0}`, false}, "GET /v2/deployments/{id}/revisions returns no offset"},
		{"a type", page("7"), Violation{"list-revisions", 200, "/resources/0", "type", "object", "7", false}, "GET /v2/deployments/{id}/revisions returns a list item that is not of type object"},
		{"two types", oneRevision(revision("source_revision_config", `{"repo_ref":true}`)),
			Violation{"get-revision", 200, "/source_revision_config/repo_ref", "type", "null or string", "true", false}, "GET /v2/deployments/{id}/revisions/{id} returns repo_ref that is not of type null or string"},
		{"a format", oneRevision(revision("created_at", `"soon"`)), Violation{"get-revision", 200, "/created_at", "format", "a date-time with an offset", `"soon"`, false}, "GET /v2/deployments/{id}/revisions/{id} returns created_at that is not a date-time with an offset"},
		{"no offset", oneRevision(revision("created_at", `"2025-01-02T03:04:05.6"`)), Violation{"get-revision", 200, "/created_at", "format",
			"a date-time with an offset", `"2025-01-02T03:04:05.6"`, true}, "GET /v2/deployments/{id}/revisions/{id} returns created_at without a time offset"},
		{"a refusal", refused(404, `[]`), Violation{"list-revisions", 404, "", "type", "object", "[]", false},
			"GET /v2/deployments/{id}/revisions returns 404 with a body that is not of type object"},
		{"a value", oneRevision(revision("source", `"zip"`)), Violation{"get-revision", 200, "/source", "enum",
			`"git_host", "external_container" or "internal_container"`, `"zip"`, false}, "GET /v2/deployments/{id}/revisions/{id} returns source with a value that the interface does not define"},
		{"a status", refused(418, ""), Violation{"list-revisions", 418, "", "status", "status 200, 401, 403, 404 or 422", "status 418", false}, "GET /v2/deployments/{id}/revisions returns 418, which the interface does not list"},
		{"a content type of JSON", typed(list(`{"a":[1]}`), "text/plain"), Violation{"list-revisions", 200, "", "content-type", "application/json", `"text/plain", with the body {"a":[1]}`, false}, "GET /v2/deployments/{id}/revisions returns a Content-Type other than application/json"},
		{"a content type", typed(list("<html>"), "text/html"), Violation{"list-revisions", 200, "", "content-type", "application/json", `"text/html", with the body "<html>"`, false}, "GET /v2/deployments/{id}/revisions returns a Content-Type other than application/json"},
		{"no body", list(""), Violation{"list-revisions", 200, "", "body", "a JSON body", "no body", false}, "GET /v2/deployments/{id}/revisions returns an empty body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := shared.JudgeResponse(c.x)
			require.Len(t, got, 1)
			if c.want.Actual == "" {
				got[0].Actual = ""
			}
			assert.Equal(t, c.want, got[0])
			op, _ := shared.Find(c.x.Side, c.x.Method, c.x.Path)
			assert.Equal(t, c.title, got[0].Title(op))
		})
	}
}

func TestKey(t *testing.T) {
	for key, v := range map[string]Violation{
		"list-revisions 200 /resources/*/status enum": {"list-revisions", 200, "/resources/12/status", "enum", "x", "y", false},
		"a 200  type": {Operation: "a", Status: 200, Keyword: "type"},
	} {
		assert.Equal(t, key, v.Key())
	}
}

// TestTheOrderIsAlwaysTheSame repeats a judgement, since schemas are walked in the random order of maps.
func TestTheOrderIsAlwaysTheSame(t *testing.T) {
	x := page(revision("", "") + `,{"id":1,"created_at":2,"status":"UP"},` + strings.Repeat("null,", 12) + `7`)
	first := shared.JudgeResponse(x)
	require.Greater(t, len(first), 5)
	for range 50 {
		require.Equal(t, first, shared.JudgeResponse(x))
	}
}
