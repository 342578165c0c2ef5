package agentserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/client"
)

func TestReportsField(t *testing.T) {
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
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, reportsField(c.text, "identity", "ada")) })
	}
	deep := "{" + strings.Repeat("[", 8<<20) + "}"
	assert.False(t, reportsField(deep, "identity", "ada"), "a hostile depth is not followed")
	assert.False(t, reportsField(deep[:1<<15]+"}", "identity", "ada"))
	assert.True(t, reportsField(`{"level":3}`, "level", "3"), "a custom field may be a number")
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
		assert.Equal(t, want, containsText(&client.Answer{Body: []byte(body)}, "go away"), body)
	}
}

func FuzzTexts(f *testing.F) {
	f.Add([]byte(`said: {"user":[{"identity":"x"}]}`))
	f.Fuzz(func(_ *testing.T, body []byte) {
		_ = reportsField(string(body), "identity", "x")
		_ = containsText(&client.Answer{Status: 200, Body: body}, "x")
	})
}
