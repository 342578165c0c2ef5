package judge

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

// violation returns a row for a violation at the messages of a state.
func violation(name string, kind outcome.Kind, got error) judgetest.Row {
	return judgetest.Row{Name: name, Got: got, Kind: kind, Pointer: atMessages}
}

func stateRows() []judgetest.Row {
	has := func(status int, body string) error { return HasMessages(judgetest.Response(status, body)) }
	form := func(message string) error {
		return HaveForm(judgetest.Response(200, `{"values":{"messages":[{"type":"human","content":"x"},`+message+`]}}`))
	}
	at := func(field string, row judgetest.Row) judgetest.Row {
		row.Pointer = "/values/messages/1/" + field
		return row
	}
	served := func(status int) error { return StateIsServed(judgetest.Response(status, `{}`)) }
	two := stateOf(human("one"), ai("two"))
	return []judgetest.Row{
		{Name: "a state with a message", Got: has(200, `{"values":{"messages":[{"type":"human"}]}}`)},
		violation("a state with an empty array of messages", outcome.Missing, has(200, `{"values":{"messages":[]}}`)),
		violation("a state whose messages are an object", outcome.Missing, has(200, `{"values":{"messages":{"a":1}}}`)),
		violation("a state without values", outcome.Missing, has(200, `{}`)),
		violation("a refused state with messages", outcome.Missing, has(404, `{"values":{"messages":[{"type":"human"}]}}`)),

		{Name: "the state is served during a run", Got: served(200)},
		{Name: "the state is not found during a run", Got: served(404), Kind: outcome.Refused},
		{Name: "the state crashes during a run", Got: served(500), Kind: outcome.ServerError},
		{Name: "the state is refused to the user", Got: served(403), Verdict: reports.Blocked},

		{Name: "a text as content", Got: form(`{"type":"ai","content":""}`)},
		{Name: "parts as content", Got: form(`{"type":"ai","content":[]}`)},
		at("type", violation("a message without a type", outcome.Missing, form(`{"content":"x"}`))),
		at("type", violation("a number as type", outcome.WrongForm, form(`{"type":1,"content":"x"}`))),
		at("type", violation("an empty type", outcome.WrongForm, form(`{"type":"","content":"x"}`))),
		at("content", violation("a message without a content", outcome.Missing, form(`{"type":"ai"}`))),
		at("content", violation("an object as content", outcome.WrongForm, form(`{"type":"ai","content":{}}`))),

		{Name: "the types human and ai", Got: HoldsKinds(two, "human, ai")},
		violation("another type of the last message", outcome.WrongValue, HoldsKinds(two, "human, tool")),
		violation("the types in another order", outcome.WrongOrder, HoldsKinds(two, "ai, human")),
		{Name: "the types of the last message", Got: EndsWithKinds(two, "ai")},
		violation("another type of the only last message", outcome.WrongValue, EndsWithKinds(two, "tool")),
		violation("one message too few", outcome.MissingItem, HoldsKinds(two, "human, ai, ai")),
		violation("one message too many", outcome.ExtraItem, HoldsKinds(two, "human")),
	}
}

func runStateRows() []judgetest.Row {
	classified := func(name, class string, kind outcome.Kind, got error) judgetest.Row {
		row := violation(name, kind, got)
		row.Class = class
		return row
	}
	one, two := run("one"), run("two", "three")
	written := run("one")
	written.Outputs = 2
	first, second := stateOf(human("one"), ai("You said: one")), stateOf(human("two"))
	shows := func(states ...*exchange.Response) error { return EachShows(states, one, run("two")) }
	return []judgetest.Row{
		{Name: "states of the first run, of both, and of the second", Got: shows(first, stateOf(human("one"), ai("one"), human("two")), second)},
		{Name: "a state that is refused", Got: shows(judgetest.Response(404, `{}`), first)},
		{Name: "only refused states", Got: shows(judgetest.Response(404, `{}`)), Verdict: reports.Skipped},
		violation("a state without messages", outcome.MissingItem, shows(first, stateOf(), second)),
		violation("a state with messages of another run", outcome.MissingItem, shows(stateOf(human("other"), ai("other")))),

		{Name: "human messages are the input", Got: HumansAreInput(stateOf(human("two"), ai("x"), human("three")), two)},
		violation("the last human message is missing", outcome.MissingItem, HumansAreInput(stateOf(human("two"), ai("three")), two)),
		violation("a human message too many", outcome.ExtraItem, HumansAreInput(stateOf(human("one"), human("x")), one)),
		violation("a human message was changed", outcome.WrongValue, HumansAreInput(stateOf(human("two"), human("x")), two)),
		violation("a human message was normalized", outcome.WrongValue, HumansAreInput(stateOf(human("e\u0301")), run("\u00e9"))),
		classified("a human message of a class was changed", "emoji", outcome.WrongValue,
			HumansAreInput(stateOf(human("two"), human("x")), two, "markup", "emoji")),
		violation("a human message after the last class was changed", outcome.WrongValue,
			HumansAreInput(stateOf(human("two"), human("x")), two, "markup")),

		{Name: "the last message repeats the input", Got: LastRepeats(stateOf(human("one"), ai("You said: one")), one)},
		violation("an earlier message repeats the input", outcome.WrongValue, LastRepeats(stateOf(human("one"), ai("x")), one)),
		violation("no message repeats the input", outcome.WrongValue, LastRepeats(stateOf(), one)),

		{Name: "the input and its answer", Got: HoldsAnswered(stateOf(human("zero"), human("one"), ai("x"), ai("y")), one)},
		violation("the input without an answer", outcome.MissingItem, HoldsAnswered(stateOf(ai("x"), human("one")), one)),
		violation("the input without its second answer", outcome.MissingItem, HoldsAnswered(stateOf(human("one"), ai("x")), written)),
		violation("only one of two messages of the run", outcome.MissingItem, HoldsOnly(stateOf(human("one"), ai("x")), written)),
		violation("an answer without the input", outcome.MissingItem, HoldsAnswered(stateOf(human("zero"), ai("x")), one)),

		{Name: "the messages of one run", Got: HoldsOnly(stateOf(human("one"), ai("x")), one)},
		{Name: "the messages of two runs", Got: HoldsOnly(stateOf(human("one"), ai("x"), human("two"), human("three"), ai("y")), one, two)},
		{Name: "no message of no run", Got: HoldsOnly(stateOf())},
		violation("a message of no run", outcome.ExtraItem, HoldsOnly(stateOf(ai("x")))),
		violation("a message in front of the run", outcome.ExtraItem, HoldsOnly(stateOf(ai("x"), human("one"), ai("y")), one)),
		violation("a message after the run", outcome.ExtraItem, HoldsOnly(stateOf(human("one"), ai("y"), ai("x")), one)),
		violation("a message between two runs", outcome.ExtraItem,
			HoldsOnly(stateOf(human("one"), ai("x"), ai("x"), human("two"), human("three"), ai("y")), one, two)),
		violation("the input is missing", outcome.MissingItem, HoldsOnly(stateOf(ai("x")), one)),
		violation("the answer is missing", outcome.MissingItem, HoldsOnly(stateOf(human("one")), one)),
		violation("the first answer is missing", outcome.MissingItem,
			HoldsOnly(stateOf(human("one"), human("two"), human("three"), ai("y")), one, two)),
		violation("the second run is missing", outcome.MissingItem, HoldsOnly(stateOf(human("one"), ai("x")), one, two)),
		violation("all messages are missing", outcome.MissingItem, HoldsOnly(stateOf(), one, two)),
	}
}

func keptRows() []judgetest.Row {
	one := run("one")
	kept := func(k Kept, all ...messages.Message) error { return HoldsKept(stateOf(all...), k, one) }
	extra := []messages.Message{ai("x"), human("one"), ai("y")}
	foreign := []messages.Message{human("one"), ai("y"), human("foreign")}
	return []judgetest.Row{
		{Name: "the messages of the user's run", Got: kept(Kept{Foreign: "foreign", Add: true}, human("one"), ai("y"))},
		{Name: "another message, if runs do not add", Got: kept(Kept{Foreign: "foreign", Complete: true}, extra...)},
		{Name: "another message, if no text is foreign", Got: kept(Kept{Complete: true}, extra...)},
		violation("another message, if runs add", outcome.ExtraItem, kept(Kept{Foreign: "foreign", Add: true, Complete: true}, extra...)),
		violation("another message, if a run is not complete", outcome.ExtraItem, kept(Kept{Foreign: "foreign"}, extra...)),
		violation("a foreign message, if runs do not add", outcome.Leak, kept(Kept{Foreign: "foreign", Complete: true}, foreign...)),
		violation("a foreign message, if runs add", outcome.Leak, kept(Kept{Foreign: "foreign", Add: true, Complete: true}, foreign...)),
	}
}

func TestAreOnly(t *testing.T) {
	all := []messages.Message{human("one"), ai("x")}
	assert.True(t, AreOnly(all, run("one")))
	assert.False(t, AreOnly(all, run("two")))
}
