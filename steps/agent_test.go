package steps

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// stateOf makes the answer to a look at a state with the messages: kind and content in turn. A content that begins
// with "[" is a list of parts.
func stateOf(t *testing.T, messages ...string) *client.Answer {
	t.Helper()
	list := []map[string]any{}
	for i := 0; i < len(messages); i += 2 {
		var content any = messages[i+1]
		if messages[i+1] != "" && messages[i+1][0] == '[' {
			content = json.RawMessage(messages[i+1])
		}
		list = append(list, map[string]any{"type": messages[i], "content": content})
	}
	body, err := json.Marshal(map[string]any{"values": map[string]any{"messages": list}})
	require.NoError(t, err)
	return &client.Answer{Status: http.StatusOK, Body: body}
}

func runOf(o order, inputs ...string) *graphRun { return &graphRun{order: o, inputs: inputs} }

func TestWrongHeader(t *testing.T) {
	token := config.User{Name: "ada", Token: "secret"}
	basic := config.User{Name: "ada", Headers: map[string]string{"authorization": "Basic abcd"}}
	keyed := config.User{Name: "ada", Headers: map[string]string{"x-user-key": "abcd", "X-Org": "7"}}
	for name, c := range map[string]struct {
		user config.User
		kind string
		want http.Header
	}{
		"nobody":               {token, noCredentials, http.Header{}},
		"unknown token":        {token, anUnknownToken, http.Header{"Authorization": {"Bearer " + wrongToken}}},
		"empty token":          {token, anEmptyToken, http.Header{"Authorization": {"Bearer "}}},
		"another scheme":       {token, anotherScheme, http.Header{"Authorization": {"Basic secret"}}},
		"basic, unknown":       {basic, anUnknownToken, http.Header{"Authorization": {"Basic " + wrongToken}}},
		"basic, other scheme":  {basic, anotherScheme, http.Header{"Authorization": {"Bearer abcd"}}},
		"keys, unknown":        {keyed, anUnknownToken, http.Header{"X-User-Key": {wrongToken}, "X-Org": {wrongToken}}},
		"keys, empty":          {keyed, anEmptyToken, http.Header{"X-User-Key": {""}, "X-Org": {""}}},
		"keys, another scheme": {keyed, anotherScheme, http.Header{"Authorization": {"Basic " + wrongToken}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, wrongHeader(c.user, c.kind))
		})
	}
	assert.Equal(t, http.Header{"Authorization": {"Bearer secret"}}, userHeader(token))
}

func TestMessagesOf(t *testing.T) {
	state := stateOf(t, human, "hello", ai, `[{"type":"text","text":"good "},"day",{"type":"image"}]`)
	assert.Equal(t, []message{{human, "hello"}, {ai, "good day"}}, messagesOf(state))
	for _, body := range []string{"", "no JSON", "[]", "{}", `{"values":{}}`, `{"values":null}`, `{"values":{"messages":null}}`, `{"values":{"messages":7}}`} {
		assert.NotPanics(t, func() { messagesOf(&client.Answer{Body: []byte(body)}) }, body)
	}
	role := &client.Answer{Body: []byte(`{"values":{"messages":[{"role":"user","content":"x"}]}}`)}
	assert.Equal(t, []message{{"", "x"}}, messagesOf(role))
}

func TestHoldsOnly(t *testing.T) {
	a, b := runOf(order{}, "one."), runOf(order{words: "tool"}, "before", "two.")
	for name, c := range map[string]struct {
		state *client.Answer
		runs  []*graphRun
		holds bool
	}{
		"one run":          {stateOf(t, human, "one.", ai, "you said one."), []*graphRun{a}, true},
		"other kinds":      {stateOf(t, "", "one.", "", "you said one."), []*graphRun{a}, true},
		"two runs":         {stateOf(t, human, "one.", ai, "x", human, "before", human, "two.", tool, "y", ai, "z"), []*graphRun{a, b}, true},
		"wrong order":      {stateOf(t, human, "before", human, "two.", tool, "y", ai, "z", human, "one.", ai, "x"), []*graphRun{a, b}, false},
		"no answer":        {stateOf(t, human, "one."), []*graphRun{a}, false},
		"nothing":          {stateOf(t), []*graphRun{a}, false},
		"a foreign answer": {stateOf(t, ai, "left over", human, "one.", ai, "x"), []*graphRun{a}, false},
		"more at the end":  {stateOf(t, human, "one.", ai, "x", ai, "late"), []*graphRun{a}, false},
		"a foreign run":    {stateOf(t, human, "else", ai, "x", human, "one.", ai, "x"), []*graphRun{a}, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := holdsOnly(c.state, c.runs...)
			assert.Equal(t, c.holds, err == nil, "%v", err)
		})
	}
}

func TestCompleteIn(t *testing.T) {
	plain, written := runOf(order{}, "one."), runOf(order{written: true}, "one.")
	assert.False(t, plain.begunIn(stateOf(t, human, "one.")))
	assert.True(t, plain.completeIn(stateOf(t, human, "one.", ai, "x")))
	assert.False(t, plain.completeIn(stateOf(t, human, "one1.", ai, "x")))
	first := stateOf(t, human, "one.", ai, "working on one.")
	assert.True(t, written.begunIn(first))
	assert.False(t, written.completeIn(first))
	assert.Error(t, holdsAnswered(first, written))
	assert.NoError(t, holdsAnswered(first, plain))
}

func TestTells(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"object":          {`{"identity":"ada","role":"x"}`, true},
		"pretty":          {"{\n  \"identity\" : \"ada\"\n}", true},
		"within words":    {"You are:\n```json\n{\"identity\": \"ada\"}\n```", true},
		"deeper":          {`{"user":{"fields":[{"identity":"ada"}]}}`, true},
		"another":         {`{"identity":"ada2"}`, false},
		"in other fields": {`{"identity":"bob","friend":"ada"}`, false},
		"no JSON":         {"identity is ada", true},
		"nothing":         {"", false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, tells(c.text, "identity", "ada")) })
	}
	deep := "{" + strings.Repeat("[", 8<<20) + "}"
	assert.False(t, tells(deep, "identity", "ada"), "a hostile depth is not followed")
	assert.False(t, tells(deep[:1<<15]+"}", "identity", "ada"))
	assert.True(t, tells(`{"level":3}`, "level", "3"), "a custom field may be a number")
}

func TestSaysText(t *testing.T) {
	for body, want := range map[string]bool{
		"go away":                        true,
		"please go away!":                true,
		`{"detail":"go\u0020away"}`:      true,
		`{"error":{"why":["go\taway"]}}`: false,
		`["x",{"y":"go\u0020away"}]`:     true,
		`{"detail":null}`:                false,
		"":                               false,
	} {
		assert.Equal(t, want, saysText(&client.Answer{Body: []byte(body)}, "go away"), body)
	}
}

func TestHold(t *testing.T) {
	p := &pace{}
	assert.Equal(t, minHold, p.hold(0))
	assert.Equal(t, 4*minHold, p.hold(2))
	p.answers.add(80 * time.Millisecond)
	assert.Equal(t, 960*time.Millisecond, p.hold(0), "many times what an answer takes")
	assert.Equal(t, 240*time.Millisecond, p.slack())
	for range 32 {
		p.answers.add(time.Millisecond)
	}
	assert.Equal(t, minHold, p.hold(0), "slowness of long ago is forgotten")
	p.turnarounds.add(time.Second)
	assert.Equal(t, 3*time.Second, p.hold(0))
	assert.Equal(t, maxHold, p.hold(2))
}

func TestRollbackVerdicts(t *testing.T) {
	start := time.Now()
	answered := func(after time.Duration) *client.Answer {
		return &client.Answer{Status: 200, Sent: start.Add(after), Took: time.Millisecond}
	}
	prior := &progress{graphRun: &graphRun{order: order{hold: time.Second}, begun: start}, until: start.Add(time.Second)}
	for name, c := range map[string]struct {
		id              string
		post, done      time.Duration
		complete        bool
		settled, usable bool
	}{
		"in time":        {"r", 100 * time.Millisecond, 200 * time.Millisecond, true, true, true},
		"accepted late":  {"r", 1100 * time.Millisecond, 1200 * time.Millisecond, true, false, false},
		"completed late": {"r", 100 * time.Millisecond, 1200 * time.Millisecond, true, false, false},
		"never":          {"r", 100 * time.Millisecond, 1200 * time.Millisecond, false, true, false},
		"refused":        {"", 100 * time.Millisecond, 0, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			next := &graphRun{id: c.id, answer: answered(c.post), inputs: []string{"x"}, complete: c.complete}
			rb := &rollback{prior: prior, next: next, state: answered(c.done), done: start.Add(c.done)}
			assert.Equal(t, c.settled, rb.settled())
			assert.Equal(t, c.usable, rb.usable() == nil)
		})
	}
}

func TestFilterBody(t *testing.T) {
	assert.Equal(t, map[string]any{"limit": 1000, "offset": 2000}, (*filter)(nil).body(2000))
	f := &filter{metadata: map[string]any{}, ids: []any{"a"}}
	assert.Equal(t, map[string]any{"limit": 1000, "offset": 0, "metadata": map[string]any{}, "ids": []any{"a"}}, f.body(0))
}

func TestRowsOf(t *testing.T) {
	list := &client.Answer{Status: 200, Body: []byte(`[{"thread_id":"a"},{"thread_id":"b"}]`)}
	assert.True(t, holds(rowsOf(list), "b"))
	assert.False(t, holds(rowsOf(list), "c"))
	assert.Nil(t, rowsOf(&client.Answer{Status: 404, Body: []byte(`[]`)}))
	assert.Nil(t, rowsOf(&client.Answer{Status: 200, Body: []byte(`{"threads":[]}`)}))
	assert.True(t, listing{rows: []gjson.Result{gjson.Parse(`{"metadata":{"agentconform":"m"}}`)}}.marked("m"))
}

func TestThreadPaths(t *testing.T) {
	assert.Equal(t, "/threads/a%2Fb%3Fc/runs/d%20e/join", joinPath("a/b?c", "d e"))
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"values":{"messages":[{"type":"ai","content":["x",{"text":1}]}]}}`))
	f.Add([]byte(`{"values":[{"messages":{}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := &client.Answer{Status: 200, Body: body}
		g := runOf(order{written: true}, "x")
		_ = holdsOnly(a, g)
		_ = g.completeIn(a)
		_ = tells(string(body), "identity", "x")
		_ = saysText(a, "x")
	})
}
