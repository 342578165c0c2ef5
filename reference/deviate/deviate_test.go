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

// server is a control plane with the deployments d1, d2, and so on. It requires a key. It returns the request body if
// there is one, otherwise the ID and the query.
func server(w http.ResponseWriter, r *http.Request) {
	sent, _ := io.ReadAll(r.Body)
	id, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/deployments/"), "/")
	status, answer := http.StatusOK, fmt.Sprintf(`{"id":%q}`, id)
	switch {
	case r.Header.Get("X-Api-Key") == "":
		status, answer = http.StatusUnauthorized, `{"detail":"no key"}`
	case r.Method == http.MethodPost:
		status, answer = http.StatusCreated, `{"id":"d1"}`
	case !strings.HasPrefix(id, "d"), strings.HasSuffix(r.URL.Path, "/"):
		status, answer = http.StatusNotFound, `{"detail":"not found"}`
	case len(sent) > 0:
		answer = string(sent)
	case r.URL.RawQuery != "":
		answer = fmt.Sprintf(`{"id":%q,"detail":%q}`, id, r.URL.RawQuery)
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// responses sends requests ("GET /path key body|...") in order. It returns the status, unless it is 200, and the body of
// each response.
func responses(t *testing.T, handler http.Handler, requests string) string {
	var all []string
	for text := range strings.SplitSeq(requests, "|") {
		parts := strings.SplitN(text+"   ", " ", 4)
		r := httptest.NewRequestWithContext(t.Context(), parts[0], "/v2/deployments"+parts[1], strings.NewReader(strings.TrimSpace(parts[3])))
		if parts[2] != "" {
			r.Header.Set("X-Api-Key", parts[2])
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		all = append(all, strings.TrimPrefix(fmt.Sprintf("%d ", w.Code), "200 ")+w.Body.String())
	}
	return strings.Join(all, "|")
}

func rowOf(text string) ([]*Row, error) {
	return Load("rows.yaml", []byte("\n- {fault: a, breaks: b, fails: C, "+text+"}"))
}

func TestVerbs(t *testing.T) {
	for _, c := range []struct{ do, sent, want string }{
		{`another answer.resources.*`, `{"resources":[true,7,"DEPLOYED","2026-01-02T03:04:05Z","a1","",[1,2],[],{"a":1},null]}`,
			`{"resources":[false,8,"DEPLOYEA","2026-01-02T03:04:01Z","a2","x",[1],[],{},null]}`},
		{`null answer.detail`, `{"detail":"a"}`, `{"detail":null}`},
		{`text answer.offset`, `{"offset":7}`, `{"offset":"7"}`},
		{`number answer.offset`, `{"offset":"7.0"}`, `{"offset":7.0}`},
		{`add answer.offset -1`, `{"offset":7}`, `{"offset":6}`},
		{`first answer.resources 2`, `{"resources":[1,2,3]}`, `{"resources":[1,2]}`},
		{`append answer.resources <answer.id>`, `{"id":"d","resources":[1]}`, `{"id":"d","resources":[1,"d"]}`},
		{`prepend answer.resources 2 of <answer.id|0>`, `{"resources":[1]}`, `{"resources":["0","0",1]}`},
		{`prepend answer.resources 0`, `{"resources":[1]}`, `{"resources":[0,1]}`},
		{`older answer.resources 1h`, `{"resources":[{"created_at":"2020-01-02T03:04:05Z"},{"created_at":"9999-01-02T03:04:05Z"}]}`,
			`{"resources":[{"created_at":"2020-01-02T03:04:05Z"}]}`},
		{`except answer.resources id b`, `{"resources":[{"id":"a"},{"id":"b"}]}`, `{"resources":[{"id":"a"}]}`},
		{`reverse answer.resources`, `{"resources":[1,2,3]}`, `{"resources":[3,2,1]}`},
		{`upper answer.detail`, `{"detail":"aB"}`, `{"detail":"AB"}`},
		{`lower answer.detail`, `{"detail":"aB"}`, `{"detail":"ab"}`},
		{`without answer.detail a`, `{"detail":"banana"}`, `{"detail":"bnn"}`},
		{`trim answer.detail /`, `{"detail":" a/ "}`, `{"detail":"a"}`},
		{`'up-to answer.detail ","'`, `{"detail":"a,b,c"}`, `{"detail":"a"}`},
		{`'behind-last answer.detail ","'`, `{"detail":"a,b,c"}`, `{"detail":"c"}`},
		{`replace answer.detail a the o`, `{"detail":"banana"}`, `{"detail":"bthe onana"}`},
		{`shift answer.updated_at 1h`, `{"updated_at":"2026-01-02T03:04:05Z"}`, `{"updated_at":"2026-01-02T04:04:05Z"}`},
		{`only answer id offset`, `{"id":1,"detail":2}`, `{"id":1}`},
		{`rename answer id name`, `{"id":1}`, `{"name":1}`},
		{`upper answer.detail`, `{"detail":null}`, `{"detail":null}`},
	} {

		rows, err := rowOf(`when: update-deployment, do: ` + c.do)
		require.NoError(t, err, c.do)
		got := responses(t, rows[0].Around(http.HandlerFunc(server), &Count{}), "PATCH /d1 k "+c.sent)
		assert.JSONEq(t, c.want, got, c.do)
	}
}

// TestRows covers conditions, places, the memory, and flags.
func TestRows(t *testing.T) {
	for _, c := range []struct{ row, requests, want string }{
		{`when: [list-revisions, query.limit > 20], do: query.limit = 20`, "GET /d1/revisions?limit=50 k",
			`{"id":"d1","detail":"limit=20"}`},
		{`when: list-revisions, do: query.limit ?= 5`, "GET /d1/revisions k", `{"id":"d1","detail":"limit=5"}`},
		{`when: list-revisions, do: [drop query.limit, add query.offset 1]`, "GET /d1/revisions?limit=5&offset=1 k",
			`{"id":"d1","detail":"offset=2"}`},
		{`when: list-revisions, do: [drop answer.detail, 'answer.id = 2 of <query.limit|7>']`, "GET /d1/revisions k",
			`{"id":["7","7"]}`},
		{`when: get-deployment, do: [new answer.ours = "no <answer.id|thing>", only answer ours]`, "GET /d1 k",
			`{"ours":"no d1"}`},
		{`when: update-deployment, do: 'each.[status=UP].id = <its.status> <was>'`, `PATCH /d1 k {"resources":[{"id":1,"status":"UP"},{"id":2}]}`,
			`{"resources":[{"id":"UP 1","status":"UP"},{"id":2}]}`},
		{`when: update-deployment, do: [answer.resources.1- = 0, 'answer.resources.[=a] = b', answer.resources.-1 = c]`,
			`PATCH /d1 k {"resources":["a",2,3,4]}`, `{"resources":["b",0,0,"c"]}`},
		{`when: [get-deployment, status = 404], do: [status = 200, 'answer = {}']`, "GET /x k", `{}`},
		{`when: [get-deployment, status = 404], do: 'body = No <answer.detail|thing>'`, "GET /x k", `404 No not found`},
		{`when: [get-deployment, caller anonymous, status = 401], do: [as owner, only answer id]`, "GET /d1 k|GET /d1",
			`{"id":"d1"}|{"id":"d1"}`},
		{`when: [get-deployment, caller without-credentials, status = 401], do: as owner`, "GET /d2 k|GET /d1",
			`{"id":"d2"}|401 {"detail":"no key"}`},
		{`when: [get-deployment, nth 2], do: refuse 500 Broken`, "GET /d1 k|GET /d2 k|GET /d1 k",
			`{"id":"d1"}|{"id":"d2"}|500 {"detail":"Broken"}`},
		{`when: [get-deployment, every 2 of all], do: drop answer.id`, "GET /d1 k|GET /d2 k|GET /d1 k",
			`{"id":"d1"}|{}|{"id":"d1"}`},
		{`when: [get-deployment, after update-deployment], do: refuse 500 Broken`, "GET /d1 k|PATCH /d1 k 1|GET /d1 k",
			`{"id":"d1"}|1|500 {"detail":"Broken"}`},
		{`when: [get-deployment, within 1h of update-deployment], do: drop answer.id`, "PATCH /d1 k 1|GET /d1 k", `1|{}`},
		{`when: [get-deployment, within 1ns of update-deployment], do: drop answer.id`, "PATCH /d1 k 1|GET /d1 k",
			`1|{"id":"d1"}`},
		{`when: [unknown-path-of-control-plane, path ends /], do: trim path /`, "GET /d1/ k", `{"id":"d1"}`},
		{`when: [every control-plane, path = /v2/deployments/d1/x], do: refuse 410 Gone`, "GET /d1/x k",
			`410 {"detail":"Gone"}`},
		{`when: [update-deployment, count answer.resources > 1], do: drop answer.id`,
			`PATCH /d1 k {"id":1,"resources":[1,2]}`, `{"resources":[1,2]}`},
		{`when: [get-deployment, not known deployment_id], do: refuse 410 Gone`, "GET /d1 k|PATCH /d2 k 1|GET /d2 k",
			`410 {"detail":"Gone"}|1|{"id":"d2"}`},
		{`when: [update-deployment, request.source is list], do: [unserved, 'refuse 400 <deployment.id>']`,
			`PATCH /d1 k {"source":[]}`, `400 {"detail":"d1"}`},
		{`when: [update-deployment, sent is filled, request is absent], do: refuse 500 No`,
			`PATCH /d1 k null|PATCH /d1 k {} x`, `null|500 {"detail":"No"}`},
		{`when: update-deployment, do: [drop request.source, beside]`, `PATCH /d1 k {"source":"a"}`, `{"source":"a"}`},
		{`when: get-deployment, do: [common.id ?= <answer.id>, answer = <common.id>]`, "GET /d1 k|GET /d2 k", `"d1"|"d1"`},
		{`changes: [{when: [update-deployment, request.source is text], do: [kept.source = <request.source>, drop request.source]},
			{when: [get-deployment, kept.source is present], do: answer = <kept.source>}]`,
			`PATCH /d1 k {"source":"git"}|GET /d1 k|GET /d2 k`, `{}|"git"|{"id":"d2"}`},
		{`when: get-deployment, do: foreign path.deployment_id`, "GET /d1 k|GET /d2 k", `{"id":"d1"}|{"id":"d1"}`},
		{`when: update-deployment, do: foreign request.source`, `PATCH /d1 k {"source":"a"}|PATCH /d1 k {"source":"b"}`,
			`{"source":"a"}|{"source":"a"}`},
		{`when: update-deployment, do: foreign answer.source`, `PATCH /d1 k {"source":1}|PATCH /d2 k {"source":5}|PATCH /d1 k {"source":2}`,
			`{"source":1}|{"source":1}|{"source":5}`},
		{`when: update-deployment, do: stale answer.source`, `PATCH /d1 k {"source":1}|PATCH /d2 k {"source":5}|PATCH /d1 k {"source":2}|PATCH /d1 k {"source":2}`,
			`{"source":1}|{"source":5}|{"source":1}|{"source":1}`},
		{`when: update-deployment, do: late answer.source`, `PATCH /d1 k {"source":1}|PATCH /d2 k {"source":5}|PATCH /d1 k {"source":2}|PATCH /d1 k {"source":2}`,
			`{"source":1}|{"source":5}|{"source":1}|{"source":2}`},
	} {
		rows, err := rowOf(c.row)
		require.NoError(t, err, c.row)
		count := &Count{}
		assert.Equal(t, c.want, responses(t, rows[0].Around(http.HandlerFunc(server), count), c.requests), c.row)
		changed := c.want != responses(t, http.HandlerFunc(server), c.requests) || strings.Contains(c.row, "beside")
		assert.Equal(t, changed, count.Load() > 0, c.row)
	}
}

func TestInvalidRows(t *testing.T) {
	for text, want := range map[string]string{
		`when: [list-revisions], do: [explode query.limit]`:          `do explode query.limit: unknown change "explode"`,
		`when: all or list-revision, do: hang`:                       `no document has an operation "list-revision"`,
		`when: list-revisions, do: drop query.limits`:                `do drop query.limits: query.limits: the documents have no such place in list-revisions`,
		`when: list-revisions, do: query.limts = 1`:                  `do query.limts = 1: query.limts: the documents have no such place in list-revisions`,
		`when: list-revisions, do: query.limit = <deployment.nam>`:   `deployment.nam: the documents have no such place in list-revisions`,
		`when: [get-revision, answer.stats = X], do: drop answer.id`: `when answer.stats = X: answer.stats: the documents have no such place in get-revision`,
		`when: [all, caller king], do: hang`:                         `when caller king: unknown caller "king"`,
		`when: [all, known limit], do: hang`:                         `when known limit: path.limit: the documents have no such place`,
		`when: [all, status is loud], do: hang`:                      `when status is loud: unknown kind "loud"`,
		`when: [all, status like 4], do: hang`:                       `when status like 4: unknown comparison "like"`,
		`when: [all, nth x], do: hang`:                               `when nth x: invalid count "x"`,
		`do: hang`:                                                   `a: set either when and do, or changes`,
		`when: all`:                                                  `a: do is missing`,
		`when: all, changes: [{when: all, do: hang}]`:                `a: set either when and do, or changes`,
		`wen: all, do: hang`:                                         ``,
		`when: all, place: x, do: hang`:                              `a: remove differs and place`,
		`when: all, do: refuse 40 x`:                                 `do refuse 40 x: invalid status "40"`,
		`when: all, do: beside me`:                                   `do beside me: unknown change "beside"`,
		`when: list-revisions, do: add query.limit`:                  `do add query.limit: add: the argument is missing`,
		`when: list-revisions, do: [drop planet.x]`:                  `do drop planet.x: invalid place "planet.x": it must start with one of `,
		`when: list-revisions, do: "answer = {a: 1"`:                 `do answer = {a: 1: invalid value "{a: 1": `,
		`when: get-deployment, do: drop deployment.id`:               `do drop deployment.id: deployment.id cannot be changed`,
		`when: get-deployment, do: kept = 1`:                         `do kept = 1: invalid place kept`,
		`when: get-deployment, do: header.x-api-key = 1`:             `do header.x-api-key = 1: header x-api-key: write the canonical name X-Api-Key`,
	} {
		_, err := rowOf(text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), "rows.yaml:2: ")
		assert.Contains(t, err.Error(), want)
	}
	_, err := Load("rows.yaml", []byte("- {fault: a, equivalent: b, when: all, do: hang}"))
	require.EqualError(t, err, "rows.yaml:1: set either fault or equivalent")
}
