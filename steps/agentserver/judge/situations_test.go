package judge

import (
	"net/http"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func situationRows() []judgetest.Row {
	first, second := run("one"), run("two")
	both := stateOf(human("one"), ai("said one"), human("two"), ai("said two"))
	swapped := stateOf(human("two"), ai("said two"), human("one"), ai("said one"))
	between := stateOf(human("one"), ai("said one"), human("failed"), human("two"), ai("said two"))
	twice := stateOf(human("one"), ai("said one"), human("one"), ai("said one"))
	system := messages.Message{Kind: "system", Text: "Be kind."}
	refused := judgetest.Response(http.StatusNotFound, `{"values":{"messages":[{"type":"human","content":"one"}]}}`)
	removed := run("wait=100 the prior run")
	removed.ID = "00000000-0000-4000-8000-000000000001"
	join := judgetest.Response(http.StatusOK, `{"__error__":"run `+removed.ID+` not found"}`)
	join.Request.Path = "/threads/t/runs/" + removed.ID + "/join"
	shows := func(status int, body string) error {
		return ShowNothingOf([]*exchange.Response{judgetest.Response(status, body)}, []Run{first, removed}, []Run{second})
	}
	same := run(removed.Text())
	withSame := []*exchange.Response{judgetest.Response(http.StatusOK, `{"x":"`+removed.Text()+`"}`)}
	return []judgetest.Row{
		{Name: "a state that ends with the run", Got: StateEndsWith(both, second)},
		{Name: "a state with a failed run before the last one", Got: StateEndsWith(between, second)},
		{Name: "a state that ends with a run of two messages", Got: StateEndsWith(both, run("said one", "two"))},
		violation("a state that lacks the first of two messages", outcome.MissingItem, StateEndsWith(both, run("before", "two"))),
		violation("a state that ends with another run", outcome.WrongOrder, StateEndsWith(both, first)),
		violation("a state without the last run", outcome.MissingItem, StateEndsWith(stateOf(human("one"), ai("x")), second)),

		{Name: "a state that has grown", Got: KeepsTypes(stateOf(human("one"), ai("said one")), both)},
		{Name: "a state with other messages", Got: KeepsTypes(stateOf(human("one"), ai("other")), both)},
		violation("a message of another type than before", outcome.WrongValue, KeepsTypes(stateOf(human("one"), human("said one")), both)),

		{Name: "runs in their order", Got: HoldsInOrder(both, first, second)},
		{Name: "a failed run between others", Got: HoldsInOrder(between, first, second)},
		violation("runs in another order", outcome.WrongOrder, HoldsInOrder(swapped, first, second)),
		violation("a run without its answer", outcome.MissingItem, HoldsInOrder(stateOf(human("one")), first)),
		violation("a run that is missing", outcome.MissingItem, HoldsInOrder(stateOf(human("two"), ai("x")), first, second)),

		{Name: "an input once", Got: HoldsInputOnce(both, first)},
		violation("an input twice", outcome.NotRemoved, HoldsInputOnce(twice, first)),
		{Name: "a completed run once after a rollback", Got: RepeatsNoInput(both, first)},
		{Name: "a completed run that is missing after a rollback", Got: RepeatsNoInput(stateOf(), first)},
		violation("a completed run twice after a rollback", outcome.WrongValue, RepeatsNoInput(twice, first)),
		{Name: "a run that has completed once", Got: RepeatsNoCompletedInput(both, first)},
		violation("a run that has completed twice", outcome.WrongValue, RepeatsNoCompletedInput(twice, first)),
		{Name: "a failed run once", Got: RepeatsNoFailedInput(both, first)},
		violation("a failed run twice", outcome.WrongValue, RepeatsNoFailedInput(twice, first)),

		{Name: "a new thread without messages", Got: HoldsNoMessages(stateOf())},
		{Name: "a new thread with a system message", Got: HoldsNoMessages(stateOf(system))},
		{Name: "a new thread whose state is refused", Got: HoldsNoMessages(refused)},
		violation("a new thread with a message", outcome.ExtraItem, HoldsNoMessages(stateOf(human("one")))),
		violation("a new thread with two messages", outcome.ExtraItem, HoldsNoMessages(stateOf(system, ai("one")))),

		{Name: "a response with another run", Got: shows(http.StatusOK, `{"run_id":"00000000-0000-4000-8000-000000000002"}`)},
		{Name: "a refusal that names the run", Got: shows(http.StatusNotFound, `{"detail":"`+removed.ID+`"}`)},
		{Name: "a short id", Got: shows(http.StatusOK, `{"run_id":"r1"}`)},
		{Name: "the id of a removed run", Kind: outcome.NotRemoved, Got: shows(http.StatusOK, `[{"run_id":"`+removed.ID+`"}]`)},
		{Name: "the id of a removed run in the response to its join", Got: ShowNothingOf([]*exchange.Response{join}, []Run{removed}, nil)},
		{Name: "the text of a removed run", Kind: outcome.NotRemoved, Got: shows(http.StatusOK, `{"x":["`+removed.Text()+`"]}`)},
		{Name: "the text of a removed run and of its new run", Got: ShowNothingOf(withSame, []Run{removed}, []Run{same})},

		{Name: "a human message for each input", Got: HasAllHumans(stateOf(human("a?b"), human("two"), ai("x")), run("a\x00b", "two"))},
		violation("a human message too few", outcome.MissingItem, HasAllHumans(stateOf(human("two"), ai("x")), run("a", "two"))),
	}
}
