package messages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/exchange"
)

func TestOf(t *testing.T) {
	state := `{"values":{"messages":[{"type":"human","content":"hello","id":7},
		{"type":"ai","id":"a-1","content":[{"type":"text","text":"good "},"day",{"type":"image"}]}]}}`
	assert.Equal(t, []Message{{Human, "hello", "7"}, {AI, "good day", "a-1"}}, Of(&exchange.Response{Body: []byte(state)}))
	for _, body := range []string{"", "not JSON", "[]", "{}", `{"values":{}}`, `{"values":null}`, `{"values":{"messages":null}}`, `{"values":{"messages":7}}`} {
		assert.NotPanics(t, func() { Of(&exchange.Response{Body: []byte(body)}) }, body)
	}
	first := &exchange.Response{Body: []byte(`{"values":{"messages":[{"type":"system"},{"type":"human"},{"type":"system"}]}}`)}
	assert.Equal(t, []Message{{Kind: Human}, {Kind: system}}, Of(first), "a system message at the start is the server's")
	role := &exchange.Response{Body: []byte(`{"values":{"messages":[{"role":"user","content":"x","id":null}]}}`)}
	assert.Equal(t, []Message{{Text: "x"}}, Of(role))
}

func TestReportsField(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"an object":                 {`{"identity":"ada","role":"x"}`, true},
		"indented":                  {"{\n  \"identity\" : \"ada\"\n}", true},
		"between other words":       {"You are:\n```json\n{\"identity\": \"ada\"}\n```", true},
		"a nested object":           {`{"user":{"fields":[{"identity":"ada"}]}}`, true},
		"another value":             {`{"identity":"ada2"}`, false},
		"the value of other fields": {`{"identity":"bob","friend":"ada"}`, false},
		"not JSON":                  {"identity is ada", true},
		"empty":                     {"", false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, ReportsField(c.text, "identity", "ada")) })
	}
	deep := "{" + strings.Repeat("[", 8<<20) + "}"
	assert.False(t, ReportsField(deep, "identity", "ada"), "a hostile depth is not followed")
	assert.False(t, ReportsField(deep[:1<<15]+"}", "identity", "ada"))
}

func TestReportsFieldsOfEachType(t *testing.T) {
	for _, c := range []struct {
		value       any
		same, other string // JSON that is the value, and JSON that is not
	}{
		{"3", `"3"`, `4`},
		{"3", `3`, `[3]`},
		{3, `3`, `"3"`},
		{3, `3.0`, `4`},
		{9007199254740993, `9007199254740993`, `9007199254740992`},
		{1.5, `15e-1`, `1`},
		{true, `true`, `"true"`},
		{false, `false`, `null`},
		{nil, `null`, `""`},
		{[]any{"a", 1}, `["a",1]`, `[1,"a"]`},
		{[]any{}, `[]`, `{}`},
		{map[string]any{"id": 7, "a.b": nil}, `{"id":7,"more":true}`, `{"id":"7"}`},
		{map[string]any{"a.b": []any{"x"}}, `{"a.b":["x"]}`, `{"a":{"b":["x"]}}`},
	} {
		assert.True(t, ReportsField(`{"user":{"field":`+c.same+`}}`, "field", c.value), "%s is %v", c.same, c.value)
		assert.False(t, ReportsField(`{"user":{"field":`+c.other+`}}`, "field", c.value), "%s is not %v", c.other, c.value)
		assert.Equal(t, c.value == nil, ReportsField(`{"user":{}}`, "field", c.value), "a field that is missing is not %v", c.value)
	}
}

func TestContainsText(t *testing.T) {
	for body, want := range map[string]bool{
		"go away":                        true,
		"please go away!":                true,
		`{"detail":"go\u0020away"}`:      true,
		`{"error":{"why":["go\taway"]}}`: false,
		`["x",{"y":"go\u0020away"}]`:     true,
		`{"detail":null}`:                false,
		"":                               false,
	} {
		assert.Equal(t, want, ContainsText(&exchange.Response{Body: []byte(body)}, "go away"), body)
	}
}
