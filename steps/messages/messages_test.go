package messages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/messages/messagestest"
)

func TestMessagesOf(t *testing.T) {
	state := messagestest.State(t, Human, "hello", AI, `[{"type":"text","text":"good "},"day",{"type":"image"}]`)
	assert.Equal(t, []Message{{Human, "hello"}, {AI, "good day"}}, Of(state))
	for _, body := range []string{"", "no JSON", "[]", "{}", `{"values":{}}`, `{"values":null}`, `{"values":{"messages":null}}`, `{"values":{"messages":7}}`} {
		assert.NotPanics(t, func() { Of(&client.Answer{Body: []byte(body)}) }, body)
	}
	role := &client.Answer{Body: []byte(`{"values":{"messages":[{"role":"user","content":"x"}]}}`)}
	assert.Equal(t, []Message{{"", "x"}}, Of(role))
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
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, ReportsField(c.text, "identity", "ada")) })
	}
	deep := "{" + strings.Repeat("[", 8<<20) + "}"
	assert.False(t, ReportsField(deep, "identity", "ada"), "a hostile depth is not followed")
	assert.False(t, ReportsField(deep[:1<<15]+"}", "identity", "ada"))
	assert.True(t, ReportsField(`{"level":3}`, "level", "3"), "a custom field may be a number")
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
		assert.Equal(t, want, ContainsText(&client.Answer{Body: []byte(body)}, "go away"), body)
	}
}
