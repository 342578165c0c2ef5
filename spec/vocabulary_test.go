package spec

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vendor has a word for names of every kind, on both halves.
var vendor = map[string]string{
	"git_host": "kilnhub", "graph_config_path": "kiln_config", "source": "origin", "status": "state", "resources": "items", "offset": "position",
	"limit": "page_size", "DEPLOYED": "LIVE", "id": "uid", "source_revision_config": "built_from", "detail": "flaws", "type": "kind",
	"thread_id": "conversation", "values": "data", "messages": "entries", "content": "text", "human": "person", "rollback": "discard",
	"multitask_strategy": "on_conflict", "role": "sender",
}

func vocabulary(t testing.TB, words map[string]string) *Vocabulary {
	t.Helper()
	v, misuses := NewVocabulary(words)
	require.Empty(t, misuses)
	return v
}

const onePath = "/v2/deployments/0b5e9a52-1111-4222-8333-123456789abc"

// TestUserTextIsNeverTranslated: a text that equals a name is a name only where the documents have one.
func TestUserTextIsNeverTranslated(t *testing.T) {
	v := vocabulary(t, vendor)
	for name, c := range map[string]struct {
		side               Side
		method, path, body string
		want               string
	}{
		"a branch": {ControlPlane, "POST", "/v2/deployments",
			`{"name":"git_host","source":"git_host","source_config":{"repo_url":"git_host","status":"DEPLOYED"},"source_revision_config":{"repo_ref":"git_host","graph_config_path":"source"},"secrets":[{"name":"source","value":"git_host","id":"status"}]}`,
			`{"name":"git_host","origin":"kilnhub","source_config":{"repo_url":"git_host","status":"DEPLOYED"},"built_from":{"repo_ref":"git_host","kiln_config":"source"},"secrets":[{"name":"source","value":"git_host","id":"status"}]}`},
		"a message": {AgentServer, "POST", "/threads/t/runs",
			`{"assistant_id":"rollback","input":{"messages":[{"role":"human","content":"rollback"}],"status":"human"},"multitask_strategy":"rollback","metadata":{"source":"git_host","content":"human"}}`,
			`{"assistant_id":"rollback","input":{"entries":[{"sender":"human","text":"rollback"}],"status":"human"},"on_conflict":"discard","metadata":{"source":"git_host","content":"human"}}`},
		"metadata to search for": {AgentServer, "POST", "/threads/search",
			`{"metadata":{"status":"human","thread_id":1},"ids":["thread_id"],"limit":1}`,
			`{"metadata":{"status":"human","thread_id":1},"ids":["thread_id"],"page_size":1}`},
		"an operation of nobody":    {ControlPlane, "POST", "/v1/other", `{"source":"git_host"}`, `{"source":"git_host"}`},
		"the side without the name": {AgentServer, "POST", "/threads", `{"source":"git_host"}`, `{"source":"git_host"}`},
		"what a client may not set": {ControlPlane, "PATCH", onePath, `{"status":"DEPLOYED","source":"git_host","labels":{"status":"DEPLOYED"}}`, `{"state":"LIVE","origin":"kilnhub","labels":{"status":"DEPLOYED"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			_, wire, _ := v.Request(c.side, c.method, c.path, "", []byte(c.body))
			assert.Equal(t, c.want, string(wire))
		})
	}
	for name, c := range map[string]struct {
		side       Side
		path       string
		status     int
		body, want string
	}{
		"a detail":     {ControlPlane, onePath + "/revisions", 404, `{"flaws":"source","detail":"git_host"}`, `{"detail":"source","unmapped detail":"git_host"}`},
		"a message":    {AgentServer, "/threads/t/state", 200, `{"data":{"entries":[{"kind":"person","text":"person","name":"person"}],"kind":"person"}}`, `{"values":{"messages":[{"type":"human","content":"person","name":"person"}],"kind":"person"}}`},
		"content":      {AgentServer, "/threads/t/state", 200, `{"data":{"entries":[{"kind":"ai","text":[{"kind":"text","text":"person"}]}]}}`, `{"values":{"messages":[{"type":"ai","content":[{"kind":"text","text":"person"}]}]}}`},
		"a branch":     {ControlPlane, onePath, 200, `{"uid":"x","origin":"kilnhub","built_from":{"repo_ref":"kilnhub"},"labels":["kilnhub"]}`, `{"id":"x","source":"git_host","source_revision_config":{"repo_ref":"kilnhub"},"labels":["kilnhub"]}`},
		"no join":      {AgentServer, "/threads/t/runs/r/join", 200, `{"data":{"kind":"person"}}`, `{"data":{"kind":"person"}}`},
		"the old name": {ControlPlane, onePath, 200, `{"source":"git_host","origin":"git_host"}`, `{"unmapped source":"git_host","source":"unmapped git_host"}`},
	} {
		t.Run("answer with "+name, func(t *testing.T) {
			body, _ := v.Answer(c.side, "GET", c.path, c.status, []byte(c.body))
			assert.Equal(t, c.want, string(body))
		})
	}
}

func TestOnlyNamesAreReplaced(t *testing.T) {
	v := vocabulary(t, vendor)
	list := onePath + "/revisions"
	for name, c := range map[string]struct{ body, want string }{
		"numbers as they are":   {`{"items":[],"position":1.50e+02,"n":12345678901234567890.0}`, `{"resources":[],"offset":1.50e+02,"n":12345678901234567890.0}`},
		"space as it is":        {"\r\n { \"items\" : [ ] ,\t\"position\":0 }\n", "\r\n { \"resources\" : [ ] ,\t\"offset\":0 }\n"},
		"duplicate keys":        {`{"items":[],"items":[],"position":0}`, `{"resources":[],"resources":[],"offset":0}`},
		"an escaped key":        {`{"\u0069tems":[],"po\u0073ition":0,"\u00e9":"\/"}`, `{"resources":[],"offset":0,"\u00e9":"\/"}`},
		"nested arrays":         {`{"items":[[{"state":"LIVE"}],{"state":"LIVE"}]}`, `{"resources":[[{"state":"LIVE"}],{"status":"DEPLOYED"}]}`},
		"values of other kinds": {`{"items":{"state":1},"position":{"items":[]}}`, `{"resources":{"state":1},"offset":{"items":[]}}`},
		"no JSON":               {`{"items":[],`, `{"items":[],`},
		"trailing bytes":        {`{"items":[]} x`, `{"items":[]} x`},
		"nothing":               {``, ``},
		"a scalar":              {`"items"`, `"items"`},
		"an array":              {`[{"items":[]}]`, `[{"items":[]}]`},
		"nothing to replace":    {`{"other":[]}`, `{"other":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := v.Answer(ControlPlane, "GET", list, 200, []byte(c.body))
			assert.Equal(t, c.want, string(got))
		})
	}
	deep := []byte(`{"items":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`)
	got, _ := v.Answer(ControlPlane, "GET", list, 200, deep)
	assert.True(t, strings.HasPrefix(string(got), `{"resources":[[`))
}

func TestQueriesAreTranslated(t *testing.T) {
	v := vocabulary(t, vendor)
	for query, want := range map[string]string{
		"":                                "",
		"limit=20&offset=0":               "page_size=20&position=0",
		"status=DEPLOYED,QUEUED":          "state=LIVE,QUEUED",
		"status=QUEUED%2CDEPLOYED":        "state=QUEUED%2CLIVE",
		"status=deployed":                 "state=deployed",
		"status=DEPLOYED%20":              "state=DEPLOYED%20",
		"limit=status&remote_reconciled=": "page_size=status&remote_reconciled=",
		"name=DEPLOYED&%zz=limit&limit":   "name=DEPLOYED&%zz=limit&page_size",
		"limit=1&limit=2":                 "page_size=1&page_size=2",
	} {
		got, _, _ := v.Request(ControlPlane, "GET", onePath+"/revisions", query, nil)
		assert.Equal(t, want, got)
	}
	got, _, traces := v.Request(ControlPlane, "GET", onePath, "limit=1", nil)
	assert.Equal(t, "limit=1", got, "an operation without the parameter")
	assert.Empty(t, traces.Used)
}

// TestTheWireIsJudgedAsTheInterfaceIs spells each row of the oracle's table in the vendor's words: what is wrong stays the same,
// at the place with the vendor's names. Judging the translated copy gives the same again.
func TestTheWireIsJudgedAsTheInterfaceIs(t *testing.T) {
	v := vocabulary(t, vendor)
	wire, err := NewIn(v)
	require.NoError(t, err)
	replaced := 0
	for _, row := range rows() {
		x := row.x
		if d := v.of(x.Side, x.Method, x.Path); d != nil {
			var traces Traces
			first := len(firstValue(x.Body))
			x.Body = append(slices.Clone(rewritten(x.Body[:first], d.answer(x.Status), true, &traces)), x.Body[first:]...)
			replaced += len(traces.Used)
		}
		var want, got []string
		for _, w := range shared.JudgeResponse(row.x) {
			want = append(want, v.Pointer(x.Side, x.Method, x.Path, x.Status, w.Pointer)+" "+w.Keyword)
		}
		for _, g := range wire.JudgeResponse(x) {
			got = append(got, g.Pointer+" "+g.Keyword)
		}
		slices.Sort(want)
		slices.Sort(got)
		assert.Equal(t, want, got, row.name)
		if back, _ := v.Answer(x.Side, x.Method, x.Path, x.Status, x.Body); json.Valid(x.Body) && !strings.Contains(string(row.x.Body), `\u`) {
			assert.Equal(t, string(row.x.Body), string(back), row.name)
		}
	}
	assert.Greater(t, replaced, 200)
}

// firstValue is the JSON value with which a text begins.
func firstValue(text []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var value json.RawMessage
	_ = decoder.Decode(&value)
	return text[:decoder.InputOffset()]
}

func TestTheWireIsJudgedInItsOwnWords(t *testing.T) {
	v := vocabulary(t, vendor)
	wire, err := NewIn(v)
	require.NoError(t, err)
	body := func(text string) Exchange { return answer("GET", onePath+"/revisions", 200, text) }
	judge := func(x Exchange) (all []string) {
		for _, g := range wire.JudgeResponse(x) {
			all = append(all, g.Pointer+" "+g.Keyword+": "+g.Expected+" "+strings.Join(v.Concerned(g), ","))
		}
		return all
	}
	good := strings.NewReplacer(`"id"`, `"uid"`, `"status"`, `"state"`, `"DEPLOYED"`, `"LIVE"`, `"source"`, `"origin"`, `"git_host"`, `"kilnhub"`, `"source_revision_config"`, `"built_from"`).Replace(revision("", ""))
	page := func(r string) Exchange { return body(`{"items":[` + r + `],"position":0}`) }
	assert.Empty(t, judge(page(good)))
	assert.Equal(t, []string{`/items/0/origin required: the field "origin" source`}, judge(page(strings.Replace(good, `"origin"`, `"source"`, 1))))
	assert.Equal(t, []string{`/items/0/origin enum: "kilnhub", "external_container" or "internal_container" git_host`}, judge(page(strings.Replace(good, `"kilnhub"`, `"git_host"`, 1))))
	assert.Equal(t, []string{`/items required: the field "items" resources`}, judge(body(`{"resources":[],"position":0}`)))
	assert.Equal(t, []string{`/items/0/uid duplicate-key: each key once in an object `}, judge(page(strings.Replace(good, `{`, `{"uid":"1","uid":"2",`, 1)))[:1])
	assert.Equal(t, []string{` trailing: nothing after the JSON value `}, judge(body(`{"items":[],"position":0} x`)))
	assert.Equal(t, []string{` json: JSON `}, judge(body(`{"items":[`)))
	assert.Equal(t, []string{`/position type: integer `}, judge(body(`{"items":[],"position":"0"}`)))
}

func TestTraces(t *testing.T) {
	v := vocabulary(t, map[string]string{"source": "origin", "git_host": "kilnhub", "graph_config_path": "kiln_config", "internal_container": "bundle"})
	sorted := func(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), " ") }
	_, _, sent := v.Request(ControlPlane, "POST", "/v2/deployments", "", []byte(`{"source":"git_host","source_revision_config":{"graph_config_path":"x"}}`))
	assert.Equal(t, "git_host graph_config_path source", sorted(sent.Used))
	assert.Equal(t, "source", sorted(sent.Required))
	revisionPath := onePath + "/revisions/0b5e9a52-1111-4222-8333-123456789abd"
	for body, want := range map[string][5]string{ // used, unchanged, missing, absent, replaced
		`{"origin":"kilnhub","source_revision_config":{"kiln_config":null}}`: {"git_host graph_config_path source"},
		`{"source":"git_host","source_revision_config":{}}`:                  {"", "source", "source", "graph_config_path", ""},
		`{"origin":"git_host"}`: {"source", "git_host", "", "", ""},
		`{"origin":"githost"}`:  {"source", "", "", "", "git_host internal_container"},
		`{"origin":7}`:          {"source", "", "", "", ""},
	} {
		_, got := v.Answer(ControlPlane, "GET", revisionPath, 200, []byte(body))
		assert.Equal(t, want, [5]string{sorted(got.Used), sorted(got.Unchanged), sorted(got.Missing), sorted(got.Absent), sorted(got.Replaced)}, body)
	}
	assert.Equal(t, "git_host internal_container", strings.Join(slices.Sorted(slices.Values(v.Rivals("git_host"))), " "))
	assert.True(t, v.InAnswers("source"))
}

func TestMisusesOfAVocabulary(t *testing.T) {
	for name, c := range map[string]struct {
		words map[string]string
		says  []string // name and a part of problem or remedy
	}{
		"an unknown name":          {map[string]string{"sorce": "origin"}, []string{"sorce", "is not a field"}},
		"the wrong way round":      {map[string]string{"kilnhub": "git_host"}, []string{"kilnhub", "here git_host: kilnhub"}},
		"an empty name":            {map[string]string{"source": ""}, []string{"source", "is empty"}},
		"two fields, one name":     {map[string]string{"source": "origin", "status": "origin"}, []string{"s", `is "origin", and so is`}},
		"the name of another":      {map[string]string{"source": "status"}, []string{"source", `is "status", and so is "status"`}},
		"the value of another":     {map[string]string{"git_host": "external_container"}, []string{"git_host", "external_container"}},
		"a path is not translated": {map[string]string{"deployment_id": "x"}, []string{"deployment_id", "is not a field"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, misuses := NewVocabulary(c.words)
			require.NotEmpty(t, misuses)
			assert.Contains(t, misuses[0].Name, c.says[0])
			assert.Contains(t, misuses[0].Problem+"; "+misuses[0].Remedy, c.says[1])
		})
	}
	for name, words := range map[string]map[string]string{
		"neutral names that never occur": {"graph_auth_user": "kiln_user", "graph_config_file": "kiln.json"},
		"names that change places":       {"source": "status", "status": "source"},
		"one name in two objects":        {"thread_id": "key", "run_id": "key"},
		"a name that stays":              {"source": "source"},
		"parameters":                     {"limit": "size", "remote_reconciled": "mine"},
		"values of strings":              {"rollback": "discard", "human": "person"},
		"a number":                       {"source": "1"},
	} {
		_, misuses := NewVocabulary(words)
		assert.Empty(t, misuses, name)
	}
	swap := vocabulary(t, map[string]string{"source": "status", "status": "source"})
	got, _ := swap.Answer(ControlPlane, "GET", onePath+"/revisions", 200, []byte(`{"resources":[{"status":"git_host","source":"DEPLOYED"}]}`))
	assert.Equal(t, `{"resources":[{"source":"git_host","status":"DEPLOYED"}]}`, string(got))
}

// TestNeutralNames are those that the introduction of the interface gives neutral words.
func TestNeutralNames(t *testing.T) {
	v := vocabulary(t, map[string]string{"source": "origin"})
	introduction, _, _ := strings.Cut(interfaceText, "\n## ")
	_, listed, found := strings.Cut(introduction, "are given neutral words:")
	require.True(t, found)
	for name := range v.neutral {
		assert.Contains(t, listed, name)
	}
	for i, quoted := range strings.Split(listed, "`") {
		if i%2 == 1 {
			assert.True(t, v.neutral[strings.Trim(quoted, "<>")], quoted)
		}
	}
	for _, w := range vocabulary(t, map[string]string{"git_host": "a", "source": "b", "limit": "c", "DEPLOYED": "d", "graph_auth_user": "e"}).Words() {
		assert.Equal(t, map[string]Word{
			"git_host": {"git_host", "a", ValueWord, true, true}, "source": {"source", "b", FieldWord, false, true},
			"limit": {"limit", "c", FieldWord, false, true}, "DEPLOYED": {"DEPLOYED", "d", ValueWord, false, true},
			"graph_auth_user": {"graph_auth_user", "e", "", true, false},
		}[w.Name], w)
	}
}

func TestNoVocabularyTouchesNothing(t *testing.T) {
	for _, v := range []*Vocabulary{nil, vocabulary(t, nil), vocabulary(t, map[string]string{"source": "source"})} {
		body := []byte(`{"source":"git_host"}`)
		query, got, _ := v.Request(ControlPlane, "POST", "/v2/deployments", "limit=1", body)
		assert.Equal(t, "limit=1", query)
		assert.Same(t, &body[0], &got[0])
		got, _ = v.Answer(ControlPlane, "GET", onePath, 200, body)
		assert.Same(t, &body[0], &got[0])
		assert.Equal(t, "source", v.OnWire("source"))
		assert.Equal(t, "/source", v.Pointer(ControlPlane, "GET", onePath, 200, "/source"))
		assert.True(t, v.Empty())
		assert.Empty(t, v.Concerned(Violation{Operation: "get-deployment", Status: 200, Pointer: "/source", Keyword: "required"}))
	}
}

// FuzzVocabulary: a translated text is the same text but for names, and what is spelt as the target does reads back as it was.
func FuzzVocabulary(f *testing.F) {
	for _, row := range rows() {
		f.Add(row.x.Body)
	}
	f.Add([]byte(strings.Repeat("[", 5000)))
	f.Add([]byte(`{"resources":[{"status":"LIVE","source":{"id":[]}},1e999,"\ud800",null]}`))
	v := vocabulary(f, vendor)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, d := range v.operations {
			for _, s := range d.answers {
				var traces Traces
				wire := rewritten(body, s, true, &traces)
				if !json.Valid(body) {
					require.Equal(t, body, wire)
					continue
				}
				require.True(t, json.Valid(wire))
				require.Equal(t, strings.Count(string(body), ":"), strings.Count(string(wire), ":"))
				back := rewritten(wire, s, false, &traces)
				require.True(t, json.Valid(back))
				if !strings.Contains(string(body), `\`) && !slices.ContainsFunc(slices.Collect(maps.Values(vendor)), func(as string) bool { return strings.Contains(string(body), as) }) {
					require.Equal(t, string(body), string(back))
				}
			}
		}
	})
}

// TestLargeBodiesAreTranslatedInTime compares with reading the same text.
func TestLargeBodiesAreTranslatedInTime(t *testing.T) {
	v := vocabulary(t, vendor)
	row := `{"kind":"person","text":"` + strings.Repeat("x", 100) + `","n":[1,2,{"a":"b"}]},`
	body := []byte(`{"data":{"entries":[` + strings.TrimSuffix(strings.Repeat(row, 40_000), ",") + `]}}`)
	start := time.Now()
	var value any
	require.NoError(t, json.Unmarshal(body, &value))
	reading := time.Since(start)
	start = time.Now()
	got, _ := v.Answer(AgentServer, "GET", "/threads/t/state", 200, body)
	assert.Less(t, time.Since(start), 3*reading)
	assert.Equal(t, 40_000, strings.Count(string(got), `"type":"human"`))
}
