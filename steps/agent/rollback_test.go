package agent

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/messages"
)

func TestMessagesThatAreLeft(t *testing.T) {
	t.Parallel()
	const prior, next, last = "wait-after-write=400 word-1.", "word-2.", "word-3."
	const working = "One moment."
	withID := func(m messages.Message, id string) messages.Message {
		m.ID = id
		return m
	}
	const id, otherID = "01a2241e-2943-7848", "01a2241e-27be-7811"
	for name, c := range map[string]struct {
		shown []messages.Message
		state []messages.Message
		left  string // its text, or ""
	}{
		"nothing": {[]messages.Message{ai(working)}, []messages.Message{human(next), ai(next)}, ""},
		"the input": {
			[]messages.Message{ai(working)}, []messages.Message{human(prior), human(next), ai(next)}, prior},
		"a message before the input": {
			[]messages.Message{ai(working)}, []messages.Message{ai(working), human(next), ai(next)}, working},
		"a message after the input": {
			[]messages.Message{ai(working)}, []messages.Message{human(next), ai(working), ai(next)}, working},
		"a message at the end": {
			[]messages.Message{ai(working)}, []messages.Message{human(next), ai(next), ai(working)}, working},
		"equal answers": {
			[]messages.Message{ai(greeting)}, []messages.Message{human(next), ai(greeting)}, ""},
		"equal answers of two later runs": {
			[]messages.Message{ai(greeting)}, []messages.Message{human(next), ai(greeting), human(last), ai(greeting)}, ""},
		"equal answers, one too many": {
			[]messages.Message{ai(greeting)}, []messages.Message{human(next), ai(greeting), ai(greeting)}, greeting},
		"equal answers, one before the input": {
			[]messages.Message{ai(greeting)}, []messages.Message{ai(greeting), human(next), ai(greeting)}, greeting},
		"an equal answer with another id": {
			[]messages.Message{withID(ai(greeting), id)}, []messages.Message{human(next), withID(ai(greeting), otherID)}, ""},
		"an equal answer with the same id": {
			[]messages.Message{withID(ai(greeting), id)}, []messages.Message{human(next), withID(ai(greeting), id)}, greeting},
		"equal answers with ids that are positions": {
			[]messages.Message{withID(ai(greeting), "1")}, []messages.Message{human(next), withID(ai(greeting), "1")}, ""},
		"equal answers with one id for all messages": {
			[]messages.Message{withID(ai(greeting), id)}, []messages.Message{withID(human(next), id), withID(ai(greeting), id)}, ""},
		"a message with the input in place of the answer": {
			[]messages.Message{ai("Working on it: " + prior)}, []messages.Message{human(next), ai("Working on it: " + prior)}, "Working on it: " + prior},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &Progress{GraphRun: &GraphRun{Inputs: []string{prior}}}
			p.Shown = stateOf(t, append([]messages.Message{human(prior)}, c.shown...)...)
			err := p.LeftIn(stateOf(t, c.state...), &GraphRun{Inputs: []string{next}}, &GraphRun{Inputs: []string{last}})
			if c.left == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, c.left)
			}
		})
	}
}
