package judge

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

// respond returns a response to a request with a method and a path.
func respond(method, path string, status int, body string) *exchange.Response {
	a := judgetest.Response(status, body)
	a.Request = exchange.Request{Method: method, Path: path}
	return a
}

// numbered returns a response with an exchange number, to test comparisons.
func numbered(id, status int, body string) *exchange.Response {
	a := judgetest.Response(status, body)
	a.ID = id
	return a
}

func responseRows() []judgetest.Row {
	served := func(status int) error { return IsServed(respond("PATCH", "/v2/deployments/a", status, `{}`)) }
	sent := func(method, body string) error {
		a := respond(method, "/v2/deployments", 500, `{}`)
		a.Request.Body = []byte(body)
		return IsServed(a)
	}
	either := func(status int) error { return ServesOrRefuses(judgetest.Response(status, `{}`), "2xx or 4xx") }
	id := func(status int, id string) error {
		return HasID(judgetest.Response(status, `{"a":{`+id+`}}`), "a.id", "a1b2c3d4-0000-4000-8000-00000000000f")
	}
	return []judgetest.Row{
		{Name: "a request is served with 200", Got: served(200)},
		{Name: "a request is served with 299", Got: served(299)},
		{Name: "a request that must be served is refused", Got: served(400), Kind: outcome.Refused, Actual: "400"},
		{Name: "a request that must be served is redirected", Got: served(300), Kind: outcome.WrongStatus},
		{Name: "a request that must be served crashes the server", Got: served(500), Kind: outcome.ServerError},

		{Name: "a create request from a tag crashes the server", Kind: outcome.ServerError, Got: sent("POST",
			`{"name":"n","source":"git_host","source_revision_config":{"graph_config_path":"a.json","repo_ref":"refs/tags/v1.0.0"}}`)},
		{Name: "an update of the source crashes the server", Kind: outcome.ServerError, Got: sent("PATCH",
			`{"source":"external_container","source_revision_config":{"graph_config_path":"a.json","repo_ref":null}}`)},

		{Name: "a request may be served", Got: either(200)},
		{Name: "a request may be refused", Got: either(499)},
		{Name: "a request is redirected", Got: either(302), Kind: outcome.WrongStatus, Actual: "302"},
		{Name: "a request that may be refused crashes the server", Got: either(500), Kind: outcome.ServerError},

		{Name: "the expected id", Got: id(200, `"id":"a1b2c3d4-0000-4000-8000-00000000000f"`)},
		{Name: "the expected id in capitals", Got: id(200, `"id":"A1B2C3D4-0000-4000-8000-00000000000F"`)},
		{Name: "the expected id in a refusal", Got: id(404, `"id":"a1b2c3d4-0000-4000-8000-00000000000f"`)},
		{Name: "another id", Got: id(200, `"id":"a1b2c3d4-0000-4000-8000-00000000000e"`),
			Kind: outcome.WrongValue, Pointer: "/a/id", Actual: `00000000000e"`},
		{Name: "an id that is not a UUID is in capitals", Got: HasID(judgetest.Response(200, `{"id":"A"}`), "id", "a"),
			Kind: outcome.WrongValue, Pointer: "/id", Actual: `"A"`},
		{Name: "an id that is not a string", Got: HasID(judgetest.Response(200, `{"id":1}`), "id", "1"),
			Kind: outcome.WrongValue, Pointer: "/id", Actual: "1"},
		{Name: "no id in a response with 200", Got: id(200, ``),
			Kind: outcome.Missing, Pointer: "/a/id", Actual: "nothing"},
		{Name: "no id in a refusal", Got: id(404, ``), Kind: outcome.Refused, Actual: "404"},
	}
}

func TestNameOf(t *testing.T) {
	const some = "status=CREATING%2CQUEUED%2CAWAITING_BUILD%2CBUILDING"
	for _, c := range []struct{ method, path, query, name, object string }{
		{"POST", "/v2/deployments", "", "A create request", "The response to a create request"},
		{"PATCH", "/v2/deployments/a", "", "An update", "The response to an update"},
		{"GET", "/v2/deployments/a", "", "GET of the deployment", "The deployment"},
		{"GET", "/v2/deployments/a/revisions", "", "The list of revisions", "The deployment"},
		{"GET", "/v2/deployments/a/revisions", "limit=1", "The list with limit=1", "The deployment"},
		{"GET", "/v2/deployments/a/revisions", some, "The list with status=CREATING,QUEUED,AWAITING_BUILD,BUILDING", "The deployment"},
		{"GET", "/v2/deployments/a/revisions", some + some, "The list of revisions", "The deployment"},
		{"GET", "/v2/deployments/a/revisions/b", "", "GET of the revision", "The revision"},
	} {
		r := exchange.Request{Method: c.method, Path: c.path, Query: c.query}
		assert.Equal(t, c.name, nameOf(r))
		assert.Equal(t, c.object, objectOf(r))
	}
}

func TestUnrefused(t *testing.T) {
	for status, want := range map[int]outcome.Kind{200: outcome.Accepted, 301: outcome.WrongStatus,
		400: outcome.WrongStatus, 499: outcome.WrongStatus, 500: outcome.ServerError} {
		assert.Equal(t, want, unrefused(judgetest.Response(status, "")), http.StatusText(status))
	}
}

func TestDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		field, a, b string
		want        bool
	}{
		"the same text":             {"status", `"A"`, `"A"`, false},
		"another text":              {"status", `"A"`, `"B"`, true},
		"absent and present":        {"status", `"A"`, ``, true},
		"the same time":             {"created_at", `"2026-01-01T00:00:00Z"`, `"2026-01-01T01:00:00+01:00"`, false},
		"less precise":              {"created_at", `"2026-01-01T00:00:00.999Z"`, `"2026-01-01T00:00:00Z"`, false},
		"one second":                {"created_at", `"2026-01-01T00:00:01Z"`, `"2026-01-01T00:00:00Z"`, true},
		"one millisecond":           {"created_at", `"2026-01-01T00:00:00.001Z"`, `"2026-01-01T00:00:00.002Z"`, true},
		"a small t and z":           {"created_at", `"2026-01-01t00:00:00z"`, `"2026-01-01T00:00:00Z"`, false},
		"not a time":                {"created_at", `"today"`, `"2026-01-01T00:00:00Z"`, false},
		"a time that is absent":     {"created_at", ``, `"2026-01-01T00:00:00Z"`, false},
		"ten digits of nanoseconds": {"created_at", `"2026-01-01T00:00:00.0000000001Z"`, `"2026-01-01T00:00:00.0000000009Z"`, false},
	} {
		assert.Equal(t, c.want, differ(c.field, gjson.Parse(c.a), gjson.Parse(c.b)), name)
	}
}
