package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/messages"
)

// TestWithout removes the messages of run 1, whatever their text.
func TestWithout(t *testing.T) {
	t.Parallel()
	const open, kept = "word-1.", "word-2."
	human := func(text string) messages.Message { return messages.Message{Kind: messages.Human, Text: text} }
	ai := func(text string) messages.Message { return messages.Message{Kind: messages.AI, Text: text} }
	s := &agentSession{runs: map[int]*startedRun{}}
	for i, text := range map[int]string{1: open, 2: kept} {
		s.runs[i] = &startedRun{GraphRun: &agent.GraphRun{Inputs: []string{text}}}
	}
	for name, c := range map[string]struct{ state, rest []messages.Message }{
		"answers that repeat": {
			[]messages.Message{human(open), ai(open), human(kept), ai(kept)}, []messages.Message{human(kept), ai(kept)}},
		"equal answers": {
			[]messages.Message{human(open), ai("Hello"), human(kept), ai("Hello")}, []messages.Message{human(kept), ai("Hello")}},
		"equal answers, one too many": {
			[]messages.Message{human(open), ai("Hello"), human(kept), ai("Hello"), ai("Hello")},
			[]messages.Message{human(kept), ai("Hello"), ai("Hello")}},
		"an answer without its input": {
			[]messages.Message{ai("Hello"), human(kept), ai("Hello")}, []messages.Message{ai("Hello"), human(kept), ai("Hello")}},
		"no answer": {
			[]messages.Message{human(open), human(kept), ai("Hello")}, []messages.Message{human(kept), ai("Hello")}},
		"answers in another order": {
			[]messages.Message{human(kept), human(open), ai(kept), ai(open)}, []messages.Message{human(kept), ai(kept)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.rest, s.without(c.state, []int{1}))
		})
	}
}
