package deviate

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func document(t *testing.T) *Document {
	t.Helper()
	d, err := Read()
	require.NoError(t, err)
	return d
}

// server answers lists with what it was asked, refuses who sends no key, and knows one deployment.
func server(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	status, answer := http.StatusOK, fmt.Sprintf(`{"id":"%s","status":"DEPLOYED","latest_revision_id":"r2","source_config":{"sent":%q}}`,
		strings.TrimPrefix(r.URL.Path, "/v2/deployments/"), body)
	switch {
	case r.Header.Get("X-Api-Key") == "":
		status, answer = http.StatusUnauthorized, `{"detail":"no key"}`
	case strings.HasSuffix(r.URL.Path, "/revisions"):
		answer = `{"resources":[{"id":"r2","status":"DEPLOYED"},{"id":"r1","status":"BUILDING"}],"offset":2,"detail":"` + r.URL.RawQuery + `"}`
	case r.Method == http.MethodPost:
		status, answer = http.StatusCreated, `{"id":"d1"}`
	case !strings.HasPrefix(r.URL.Path, "/v2/deployments/d"):
		status, answer = http.StatusNotFound, `{"detail":"not found"}`
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// asks sends requests in turn ("GET /path key body") and returns the last answer as "status body".
func asks(t *testing.T, handler http.Handler, requests ...string) string {
	t.Helper()
	var w *httptest.ResponseRecorder
	for _, text := range requests {
		parts := strings.SplitN(text+"   ", " ", 4)
		r := httptest.NewRequestWithContext(t.Context(), parts[0], "/v2/deployments"+parts[1], strings.NewReader(strings.TrimSpace(parts[3])))
		if parts[2] != "" {
			r.Header.Set("X-Api-Key", parts[2])
		}
		w = httptest.NewRecorder()
		handler.ServeHTTP(w, r)
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", w.Code, w.Body.String()))
}

func TestRows(t *testing.T) {
	d := document(t)
	const list = `200 {"resources":[{"id":"r2","status":"DEPLOYED"},{"id":"r1","status":"BUILDING"}],"offset":2,"detail":%q}`
	for _, c := range []struct {
		when, do []string
		requests string
		want     string
	}{
		{[]string{"list-revisions", "query.limit > 20"}, []string{"query.limit = 20"}, "GET /d1/revisions?limit=50 k", fmt.Sprintf(list, "limit=20")},
		{[]string{"list-revisions"}, []string{"query.limit ?= 5"}, "GET /d1/revisions k", fmt.Sprintf(list, "limit=5")},
		{[]string{"list-revisions"}, []string{"drop query.limit", "add query.offset 1"}, "GET /d1/revisions?limit=5&offset=1 k", fmt.Sprintf(list, "offset=2")},
		{[]string{"list-revisions", `query.status has ","`}, []string{`up-to query.status ","`}, "GET /d1/revisions?status=A,B k", fmt.Sprintf(list, "status=A")},
		{[]string{"list-revisions"}, []string{"drop answer.detail", "drop answer.resources", "answer.offset = <path.deployment_id>"}, "GET /d1/revisions k", `200 {"offset":"d1"}`},
		{[]string{"list-revisions"}, []string{"only answer resources", "each.[status=DEPLOYED].status = UNKNOWN"}, "GET /d1/revisions k",
			`200 {"resources":[{"id":"r2","status":"UNKNOWN"},{"id":"r1","status":"BUILDING"}]}`},
		{[]string{"list-revisions"}, []string{"only answer resources", "answer.resources.1-.id = <its.status>", "reverse answer.resources"}, "GET /d1/revisions k",
			`200 {"resources":[{"id":"BUILDING","status":"BUILDING"},{"id":"r2","status":"DEPLOYED"}]}`},
		{[]string{"get-deployment", "status = 404"}, []string{"status = 200", "answer = {}"}, "GET /x k", `200 {}`},
		{[]string{"get-deployment", "status = 404"}, []string{"plain No <answer.detail|thing>"}, "GET /x k", `404 No not found`},
		{[]string{"get-deployment", "caller anonymous", "status = 401"}, []string{"as owner", "only answer id"}, "GET /d1 k|GET /d1", `200 {"id":"d1"}`},
		{[]string{"get-deployment", "caller anonymous", "status = 401"}, []string{"as owner"}, "GET /d2 k|GET /d1", `401 {"detail":"no key"}`},
		{[]string{"get-deployment", "nth 2"}, []string{"refuse 500 Broken"}, "GET /d1 k|GET /d2 k|GET /d1 k", `500 {"detail":"Broken"}`},
		{[]string{"get-deployment", "after update-deployment"}, []string{"refuse 500 Broken"}, "PATCH /d1 k {}|GET /d1 k", `500 {"detail":"Broken"}`},
		{[]string{"get-deployment", "not known deployment_id"}, []string{"refuse 410 Gone"}, "GET /d1 k", `410 {"detail":"Gone"}`},
		{[]string{"update-deployment", "request.source is list"}, []string{"unserved", "refuse 400 <deployment.latest_revision_id>"}, `PATCH /d1 k {"source":[]}`, `400 {"detail":"r2"}`},
		{[]string{"update-deployment"}, []string{"drop request.source", "only answer source_config"}, `PATCH /d1 k {"source":"a","b":1}`, `200 {"source_config":{"sent":"{\"b\":1}"}}`},
		{[]string{"get-deployment"}, []string{"common.id ?= <answer.id>", "answer = <common.id>"}, "GET /d1 k|GET /d2 k", `200 "d1"`},
		{[]string{"get-deployment"}, []string{"only answer id", "foreign answer.id"}, "GET /d1 k|GET /d2 k", `200 {"id":"d1"}`},
		{[]string{"get-deployment"}, []string{"foreign path.deployment_id", "only answer id"}, "GET /d1 k|GET /d2 k", `200 {"id":"d1"}`},
	} {
		row, err := New(d, "row", c.when, c.do)
		require.NoError(t, err, c.do)
		count := &Count{}
		assert.Equal(t, c.want, asks(t, row.Around(http.HandlerFunc(server), count), strings.Split(c.requests, "|")...), "%s %s", c.when, c.do)
		want := 0
		if !strings.HasPrefix(c.want, "401") {
			want = 1
		}
		assert.GreaterOrEqual(t, int(count.Exchanges()), want, "%s %s", c.when, c.do)
	}
}

// TestMemory shows what a row with several changes keeps between requests.
func TestMemory(t *testing.T) {
	rows, err := Load(document(t), "rows.yaml", []byte(`
- fault: source-can-be-changed
  breaks: an update changes source
  fails: CP-UPDATE-5
  changes:
    - when: [update-deployment, request.source is text]
      do: [kept.source = <request.source>, drop request.source]
    - when: [get-deployment, kept.source is present]
      do: answer = <kept.source>
`))
	require.NoError(t, err)
	handler := rows[0].Around(http.HandlerFunc(server), &Count{})
	assert.Equal(t, `200 "git"`, asks(t, handler, `PATCH /d1 k {"source":"git"}`, "GET /d1 k"))
	assert.Contains(t, asks(t, handler, "GET /d2 k"), `"id":"d2"`)
}

func TestMistakes(t *testing.T) {
	d := document(t)
	for text, want := range map[string]string{
		"- {fault: a, when: [list-revisions], do: [explode query.limit]}":          `rows.yaml:1: a: do explode query.limit: unknown change "explode"`,
		"- {fault: a, when: list-revision, do: drop query.limit}":                  `rows.yaml:1: a: no document has an operation "list-revision"`,
		"\n- {fault: a, when: list-revisions, do: drop query.limits}":              `rows.yaml:2: a: do drop query.limits: query.limits is no place of list-revisions`,
		"- {fault: a, when: [get-revision, answer.stats = X], do: drop answer.id}": `rows.yaml:1: a: when answer.stats = X: answer.stats is no place of get-revision`,
		"- {fault: a, when: [all, caller king], do: hang}":                         `rows.yaml:1: a: when caller king: unknown caller "king"`,
		"- {fault: a, when: [all, status is loud], do: hang}":                      `rows.yaml:1: a: when status is loud: unknown comparison "is"`,
		"- {fault: a, when: [all, nth x], do: hang}":                               `rows.yaml:1: a: when nth x: "x" is no count`,
		"- {fault: a, do: hang}":                                                   `rows.yaml:1: a: it does not say when: the first is an operation, or "all"`,
		"- {fault: a, when: all}":                                                  `rows.yaml:1: a does nothing`,
		"- {fault: a, wen: all, do: hang}":                                         `rows.yaml:1: `,
		"- {fault: a, when: all, do: refuse maybe}":                                `rows.yaml:1: a: do refuse maybe: "maybe" is no status`,
		"- {fault: a, when: list-revisions, do: [drop planet.x]}":                  `rows.yaml:1: a: do drop planet.x: "planet.x" is no place: it begins with none of `,
	} {
		_, err := Load(d, "rows.yaml", []byte(text))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want)
	}
}

func TestAnother(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{`true`, `false`}, {`7`, `8`}, {`"DEPLOYED"`, `"DEPLOYEA"`}, {`"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:01Z"`}, {`"a1"`, `"a2"`}, {`""`, `"x"`},
		{`[1,2]`, `[1]`}, {`[]`, `[]`}, {`{"a":1}`, `{}`}, {`null`, `null`},
	} {
		value, ok := decoded([]byte(c.value))
		require.True(t, ok)
		assert.JSONEq(t, c.want, string(encoded(another(value))), c.value)
	}
}

// TestRecalls applies each verb with a memory to two objects in turn.
func TestRecalls(t *testing.T) {
	for name, want := range map[string][]string{
		"sometimes": {`{"v":1}`, `{"v":5}`, `{"v":2}`, `{"v":3}`},
		"foreign":   {`{"v":1}`, `{"v":1}`, `{"v":5}`, `{"v":5}`},
		"stale":     {`{"v":1}`, `{"v":5}`, `{"v":1}`, `{"v":1}`},
		"late":      {`{"v":1}`, `{"v":5}`, `{"v":1}`, `{"v":2}`},
	} {
		seen := newMemory().pastOf("1")
		for i, step := range []struct{ owner, body string }{{"a", `{"v":1}`}, {"b", `{"v":5}`}, {"a", `{"v":2}`}, {"a", `{"v":2}`}} {
			value, _ := decoded([]byte(step.body))
			for _, s := range slots(value, place{"v"}, step.owner) {
				recalls[name](seen, s)
			}
			assert.JSONEq(t, want[i], string(encoded(value)), "%s, answer %d", name, i+1)
		}
	}
}
