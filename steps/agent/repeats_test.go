package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
)

const greeting = "Hello! How can I help you?"

func human(text string) messages.Message { return messages.Message{Kind: messages.Human, Text: text} }

func ai(text string) messages.Message { return messages.Message{Kind: messages.AI, Text: text} }

// stateOf is a state with the messages.
func stateOf(t *testing.T, all ...messages.Message) *exchange.Response {
	t.Helper()
	shown := []any{}
	for _, m := range all {
		shown = append(shown, map[string]any{"type": m.Kind, "content": m.Text, "id": m.ID})
	}
	body, err := json.Marshal(map[string]any{"values": map[string]any{"messages": shown}})
	require.NoError(t, err)
	return &exchange.Response{Status: 200, Body: body}
}

func TestAnotherGraph(t *testing.T) {
	t.Parallel()
	const first, second = "agentconform-4f1-word-1.", "agentconform-4f1-word-2."
	greeted := []messages.Message{human(first), ai(greeting)}
	for name, c := range map[string]struct {
		first, second []messages.Message
		is            bool
	}{
		"greeting":                   {greeted, []messages.Message{human(second), ai(greeting)}, true},
		"two greetings":              {greeted, []messages.Message{human(second), ai("Good day."), ai("What is it?")}, true},
		"greeting with a tool":       {greeted, []messages.Message{human(second), {Kind: messages.Tool, Text: second}, ai(greeting)}, true},
		"words of the input":         {greeted, []messages.Message{human(second), ai("I am an agent, in a word.")}, true},
		"one greeting only":          {greeted, []messages.Message{human(second), ai(second)}, false},
		"the input with a prefix":    {greeted, []messages.Message{human(second), ai("You said: " + second)}, false},
		"a part of the input":        {greeted, []messages.Message{human(second), ai("You said: agentcon")}, false},
		"the input in capitals":      {greeted, []messages.Message{human(second), ai("AGENTCONFORM-4F1-WORD-2.")}, false},
		"the input of the first run": {greeted, []messages.Message{human(second), ai(first)}, false},
		"greeting after an answer":   {greeted, []messages.Message{human(second), ai(second), ai(greeting)}, false},
		"no input":                   {greeted, []messages.Message{ai(greeting)}, false},
		"another input":              {greeted, []messages.Message{human(second + " "), ai(greeting)}, false},
		"input of another kind":      {greeted, []messages.Message{ai(second), ai(greeting)}, false},
		"input after the answer":     {greeted, []messages.Message{ai(greeting), human(second)}, false},
		"no ai message":              {greeted, []messages.Message{human(second)}, false},
		"ai message without a kind":  {greeted, []messages.Message{human(second), {Text: greeting}}, false},
		"ai message without a text":  {greeted, []messages.Message{human(second), ai(" ")}, false},
		"tool in place of ai":        {greeted, []messages.Message{human(second), {Kind: messages.Tool, Text: greeting}}, false},
		"no messages":                {greeted, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &GraphRun{Inputs: []string{first}, Final: stateOf(t, c.first...)}
			b := &GraphRun{Inputs: []string{second}, Final: stateOf(t, c.second...)}
			why := otherGraph(a, b)
			assert.Equal(t, c.is, why != "", why)
			assert.Equal(t, why != "", otherGraph(b, a) != "")
			if c.is {
				assert.Contains(t, why, "set assistant_id to its name")
				assert.Contains(t, why, greeting)
			}
			assert.Empty(t, otherGraph(a), "one run")
			assert.Empty(t, otherGraph(a, &GraphRun{Inputs: []string{second}}), "a run that was not awaited")
		})
	}
}
