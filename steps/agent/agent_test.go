package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/messages/messagestest"
)

func runOf(o Order, inputs ...string) *GraphRun { return &GraphRun{Order: o, Inputs: inputs} }

func TestHoldsOnly(t *testing.T) {
	a, b := runOf(Order{}, "one."), runOf(Order{Words: "tool"}, "before", "two.")
	for name, c := range map[string]struct {
		state *client.Answer
		runs  []*GraphRun
		holds bool
	}{
		"one run":          {messagestest.State(t, messages.Human, "one.", messages.AI, "you said one."), []*GraphRun{a}, true},
		"other kinds":      {messagestest.State(t, "", "one.", "", "you said one."), []*GraphRun{a}, true},
		"two runs":         {messagestest.State(t, messages.Human, "one.", messages.AI, "x", messages.Human, "before", messages.Human, "two.", messages.Tool, "y", messages.AI, "z"), []*GraphRun{a, b}, true},
		"wrong order":      {messagestest.State(t, messages.Human, "before", messages.Human, "two.", messages.Tool, "y", messages.AI, "z", messages.Human, "one.", messages.AI, "x"), []*GraphRun{a, b}, false},
		"no answer":        {messagestest.State(t, messages.Human, "one."), []*GraphRun{a}, false},
		"nothing":          {messagestest.State(t), []*GraphRun{a}, false},
		"a foreign answer": {messagestest.State(t, messages.AI, "left over", messages.Human, "one.", messages.AI, "x"), []*GraphRun{a}, false},
		"more at the end":  {messagestest.State(t, messages.Human, "one.", messages.AI, "x", messages.AI, "late"), []*GraphRun{a}, false},
		"a foreign run":    {messagestest.State(t, messages.Human, "else", messages.AI, "x", messages.Human, "one.", messages.AI, "x"), []*GraphRun{a}, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := HoldsOnly(c.state, c.runs...)
			assert.Equal(t, c.holds, err == nil, "%v", err)
		})
	}
}

func TestCompleteIn(t *testing.T) {
	plain, written := runOf(Order{}, "one."), runOf(Order{written: true}, "one.")
	assert.False(t, plain.begunIn(messagestest.State(t, messages.Human, "one.")))
	assert.True(t, plain.CompleteIn(messagestest.State(t, messages.Human, "one.", messages.AI, "x")))
	assert.False(t, plain.CompleteIn(messagestest.State(t, messages.Human, "one1.", messages.AI, "x")))
	first := messagestest.State(t, messages.Human, "one.", messages.AI, "working on one.")
	assert.True(t, written.begunIn(first))
	assert.False(t, written.CompleteIn(first))
	assert.Error(t, HoldsAnswered(first, written))
	assert.NoError(t, HoldsAnswered(first, plain))
}

func TestThreadPaths(t *testing.T) {
	assert.Equal(t, "/threads/a%2Fb%3Fc/runs/d%20e/join", joinPath("a/b?c", "d e"))
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"values":{"messages":[{"type":"ai","content":["x",{"text":1}]}]}}`))
	f.Add([]byte(`{"values":[{"messages":{}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a := &client.Answer{Status: 200, Body: body}
		g := runOf(Order{written: true}, "x")
		_ = HoldsOnly(a, g)
		_ = g.CompleteIn(a)
		_ = messages.ReportsField(string(body), "identity", "x")
		_ = messages.ContainsText(a, "x")
	})
}
