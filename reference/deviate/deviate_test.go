package deviate

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
		{[]string{"get-deployment", "status = 404"}, []string{"body = No <answer.detail|thing>"}, "GET /x k", `404 No not found`},
		{[]string{"get-deployment", "caller anonymous", "status = 401"}, []string{"as owner", "only answer id"}, "GET /d1 k|GET /d1", `200 {"id":"d1"}`},
		{[]string{"get-deployment", "caller anonymous", "status = 401"}, []string{"as owner"}, "GET /d2 k|GET /d1", `401 {"detail":"no key"}`},
		{[]string{"get-deployment", "nth 2"}, []string{"refuse 500 Broken"}, "GET /d1 k|GET /d2 k|GET /d1 k", `500 {"detail":"Broken"}`},
		{[]string{"get-deployment", "after update-deployment"}, []string{"refuse 500 Broken"}, "PATCH /d1 k {}|GET /d1 k", `500 {"detail":"Broken"}`},
		{[]string{"get-deployment", "within 1h of update-deployment"}, []string{"refuse 500 Broken"}, "PATCH /d1 k {}|GET /d1 k", `500 {"detail":"Broken"}`},
		{[]string{"get-deployment", "within 1ns of update-deployment"}, []string{"refuse 500 Broken"}, "PATCH /d1 k {}|GET /d1 k",
			`200 {"id":"d1","status":"DEPLOYED","latest_revision_id":"r2","source_config":{"sent":""}}`},
		{[]string{"get-deployment"}, []string{`answer.id = "2026-01-02T03:04:05Z"`, "shift answer.id 1h", "only answer id"}, "GET /d1 k", `200 {"id":"2026-01-02T04:04:05Z"}`},
		{[]string{"unknown-path-of-control-plane", "path ends /"}, []string{"trim path /"}, "GET /d1/ k",
			`200 {"id":"d1","status":"DEPLOYED","latest_revision_id":"r2","source_config":{"sent":""}}`},
		{[]string{"every control-plane", "path = /v2/deployments/d1/x"}, []string{"refuse 410 Gone"}, "GET /d1/x k", `410 {"detail":"Gone"}`},
		{[]string{"list-revisions", "count answer.resources > 1"}, []string{"answer = 2 of <query.limit|7>"}, "GET /d1/revisions k", `200 ["7","7"]`},
		{[]string{"get-deployment", "not known deployment_id"}, []string{"refuse 410 Gone"}, "GET /d1 k", `410 {"detail":"Gone"}`},
		{[]string{"update-deployment", "request.source is list"}, []string{"unserved", "refuse 400 <deployment.latest_revision_id>"}, `PATCH /d1 k {"source":[]}`, `400 {"detail":"r2"}`},
		{[]string{"update-deployment"}, []string{"drop request.source", "only answer source_config"}, `PATCH /d1 k {"source":"a","b":1}`, `200 {"source_config":{"sent":"{\"b\":1}"}}`},
		{[]string{"get-deployment"}, []string{"common.id ?= <answer.id>", "answer = <common.id>"}, "GET /d1 k|GET /d2 k", `200 "d1"`},
		{[]string{"get-deployment"}, []string{"only answer id", "foreign answer.id"}, "GET /d1 k|GET /d2 k", `200 {"id":"d1"}`},
		{[]string{"update-deployment"}, []string{"foreign request.source", "only answer source_config"}, `PATCH /d1 k {"source":"a"}|PATCH /d1 k {"source":"b"}`,
			`200 {"source_config":{"sent":"{\"source\":\"a\"}"}}`},
		{[]string{"update-deployment", "sent is filled", "request is absent"}, []string{"refuse 500 Broken"}, `PATCH /d1 k null`, `200 {"id":"d1","status":"DEPLOYED","latest_revision_id":"r2","source_config":{"sent":"null"}}`},
		{[]string{"update-deployment", "sent is filled", "request is absent"}, []string{"refuse 500 Broken"}, `PATCH /d1 k {} x`, `500 {"detail":"Broken"}`},
		{[]string{"get-deployment"}, []string{"stale answer.updated_at", "late answer.updated_at", "only answer id updated_at"}, "GET /d1 k|GET /d1 k", `200 {"id":"d1"}`},
		{[]string{"get-deployment"}, []string{"foreign path.deployment_id", "only answer id"}, "GET /d1 k|GET /d2 k", `200 {"id":"d1"}`},
	} {
		row, err := New("row", c.when, c.do)
		require.NoError(t, err, c.do)
		count := &Count{}
		assert.Equal(t, c.want, asks(t, row.Around(http.HandlerFunc(server), count), strings.Split(c.requests, "|")...), "%s %s", c.when, c.do)
		changed := c.want != asks(t, http.HandlerFunc(server), strings.Split(c.requests, "|")...)
		assert.Equal(t, changed, count.Load() > 0, "%s %s", c.when, c.do)
	}
}

// TestMemory shows what a row with several changes keeps between requests.
func TestMemory(t *testing.T) {
	rows, err := Load("rows.yaml", []byte(`
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
	for text, want := range map[string]string{
		`when: [list-revisions], do: [explode query.limit]`:          `do explode query.limit: unknown change "explode"`,
		`when: list-revision, do: drop query.limit`:                  `no document has an operation "list-revision"`,
		`when: all or list-revision, do: hang`:                       `no document has an operation "list-revision"`,
		`when: list-revisions, do: drop query.limits`:                `do drop query.limits: query.limits is no place of list-revisions`,
		`when: list-revisions, do: query.limts = 1`:                  `do query.limts = 1: query.limts is no place of list-revisions`,
		`when: list-revisions, do: query.limit = <deployment.nam>`:   `deployment.nam is no place of list-revisions`,
		`when: [get-revision, answer.stats = X], do: drop answer.id`: `when answer.stats = X: answer.stats is no place of get-revision`,
		`when: [all, caller king], do: hang`:                         `when caller king: unknown caller "king"`,
		`when: [all, known limit], do: hang`:                         `when known limit: path.limit is no place`,
		`when: [all, status is loud], do: hang`:                      `when status is loud: unknown kind "loud"`,
		`when: [all, status like 4], do: hang`:                       `when status like 4: unknown comparison "like"`,
		`when: [all, nth x], do: hang`:                               `when nth x: "x" is no count`,
		`do: hang`:                                                   `a: it has when and do, or changes`,
		`when: all`:                                                  `a: it does nothing`,
		`when: all, changes: [{when: all, do: hang}]`:                `a: it has when and do, or changes`,
		`wen: all, do: hang`:                                         ``,
		`when: all, place: x, do: hang`:                              `a: a fault has breaks and fails, and none of differs and place`,
		`when: all, do: refuse 40 x`:                                 `do refuse 40 x: "40" is no status`,
		`when: all, do: beside me`:                                   `do beside me: unknown change "beside"`,
		`when: all, do: as admin`:                                    `do as admin: unknown change "as"`,
		`when: list-revisions, do: add query.limit`:                  `do add query.limit: add: an argument is missing, or too much`,
		`when: list-revisions, do: [drop planet.x]`:                  `do drop planet.x: "planet.x" is no place: it begins with none of `,
		`when: list-revisions, do: "answer = {a: 1"`:                 `do answer = {a: 1: "{a: 1" is no value: `,
		`when: get-deployment, do: drop deployment.id`:               `do drop deployment.id: deployment.id cannot be changed`,
		`when: get-deployment, do: kept = 1`:                         `do kept = 1: kept: a name is missing, or too much`,
		`when: get-deployment, do: header.x-api-key = 1`:             `do header.x-api-key = 1: the name of the header is written X-Api-Key`,
	} {
		_, err := Load("rows.yaml", []byte("\n- {fault: a, breaks: b, fails: C, "+text+"}"))
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), "rows.yaml:2: ")
		assert.Contains(t, err.Error(), want)
	}
	_, err := Load("rows.yaml", []byte("- {fault: a, equivalent: b, when: all, do: hang}"))
	require.EqualError(t, err, "rows.yaml:1: a row has a name, in fault or equivalent")
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
		"foreign": {"1", "1", "5", "5"},
		"stale":   {"1", "5", "1", "1"},
		"late":    {"1", "5", "1", "2"},
	} {
		seen := newMemory()
		for i, step := range []struct{ owner, value string }{{"a", "1"}, {"b", "5"}, {"a", "2"}, {"a", "2"}} {
			shown, found := seen.recall(name, "1", step.owner, step.value)
			if !found {
				shown = step.value
			}
			assert.Equal(t, want[i], shown, "%s, answer %d", name, i+1)
		}
	}
}

// TestWordsAreListed wants the documentation to have every word of a row, since nobody finds another.
func TestWordsAreListed(t *testing.T) {
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	listed := strings.FieldsFunc(string(text), func(r rune) bool { return !unicode.IsLower(r) && r != '-' && !strings.ContainsRune("=!<>", r) })
	for _, words := range [][]string{
		roots, slices.Collect(maps.Keys(verbs)), slices.Collect(maps.Keys(recalls)), slices.Collect(maps.Keys(kinds)),
		slices.Collect(maps.Keys(comparisons)), slices.Collect(maps.Keys(callers)),
	} {
		for _, word := range words {
			assert.Contains(t, listed, word)
		}
	}
}
