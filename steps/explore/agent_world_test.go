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

// TestIntruder checks which requirement a foreign message in the state of thread 1 violates. Threads 1 and 2 belong to
// the first user, and thread 3 to the second.
func TestIntruder(t *testing.T) {
	t.Parallel()
	threads := map[int]*thread{1: {owner: first}, 2: {owner: first}, 3: {owner: second}}
	for name, c := range map[string]struct {
		by   Operation
		gone []int
		want string
	}{
		"a run that was rolled back":    {Operation{Caller: first, Verb: start, Object: 1}, []int{7}, "AS-ROLLBACK-3"},
		"a run without credentials":     {Operation{Caller: nobody, Verb: start, Object: 1}, nil, "AS-AUTH-4"},
		"a run of another user":         {Operation{Caller: second, Verb: start, Object: 1}, nil, "AS-AUTHZ-2"},
		"a run of an unknown assistant": {Operation{Caller: first, Verb: startUnknown, Object: 1}, nil, "AS-RUN-6"},
		"a refused run of the user":     {Operation{Caller: first, Verb: rollBack, Object: 1}, nil, "AS-STATE-2"},
		"another thread of the user":    {Operation{Caller: first, Verb: start, Object: 2}, nil, "AS-STATE-2"},
		"a thread of another user":      {Operation{Caller: second, Verb: start, Object: 3}, nil, "AS-INVARIANT-4"},
	} {
		s := &agentSession{threads: threads, runs: map[int]*startedRun{7: {by: c.by}}}
		assert.Equal(t, c.want, s.intruder(world{gone: c.gone}, 1, 7), name)
	}
}
