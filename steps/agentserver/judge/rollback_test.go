package judge

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/outcome/judgetest"
)

func rollbackRows() []judgetest.Row {
	gone, found := judgetest.Response(404, `{}`), judgetest.Response(200, `{"run_id":"r1"}`)
	prior := Prior{Run: run("one"), Until: start.Add(10 * time.Second)}
	next := run("two")
	prompt := func(ended time.Duration, all ...messages.Message) error {
		final := stateOf(all...)
		final.Sent = start.Add(ended)
		return NewRunIsPrompt(final, next, prior)
	}
	retrieved := func(id string, a *exchange.Response) Retrieved {
		r := Retrieved{Run: run("x"), Response: a}
		r.ID = id
		return r
	}
	one := func(inTurn bool, answers ...*exchange.Response) error {
		var all []Retrieved
		for i, a := range answers {
			all = append(all, retrieved(string(rune('a'+i)), a))
		}
		return OneRunRemains(all, inTurn)
	}
	overdue := Join{Over: true, Unanswered: true, Exchange: 7}
	return []judgetest.Row{
		{Name: "the prior run is gone", Got: NoneRetrievable(gone, judgetest.Response(400, `{}`))},
		{Name: "the prior run is found", Got: NoneRetrievable(found), Kind: outcome.NotRemoved, Actual: "200"},
		{Name: "the prior run has status 399", Got: NoneRetrievable(judgetest.Response(399, `{}`)), Kind: outcome.NotRemoved},
		{Name: "the run in front is found", Got: NoneRetrievable(gone, found),
			Kind: outcome.NotRemoved, Class: "the run in front of it"},

		{Name: "the run with rollback has an id", Got: RollbackIsAccepted(found, "r1")},
		{Name: "the run with rollback is refused", Got: RollbackIsAccepted(judgetest.Response(409, `{}`), ""), Kind: outcome.Refused},
		{Name: "the new run completes", Got: NewRunCompletes(stateOf(human("two"), ai("x")), next)},
		{Name: "the new run does not complete", Got: NewRunCompletes(stateOf(human("two")), next), Kind: outcome.NotFinished},
		{Name: "a run does not start", Got: NotStarted(found), Kind: outcome.NotFinished},
		{Name: "the new run is prompt", Got: prompt(9*time.Second, human("two"), ai("x"))},
		{Name: "the new run waits for the prior one", Got: prompt(10*time.Second, human("two"), ai("x")),
			Kind: outcome.NotFinished, Actual: "completed after 10s"},
		{Name: "the new run is not complete", Got: prompt(9*time.Second, human("two")), Kind: outcome.NotFinished},

		{Name: "an earlier run is found", Got: RunStays(found, next)},
		{Name: "an earlier run is gone", Got: RunStays(gone, next), Kind: outcome.Changed},
		{Name: "an earlier run fails with 499", Got: RunStays(judgetest.Response(499, `{}`), next), Kind: outcome.Changed},
		{Name: "an earlier run fails with 500", Got: RunStays(judgetest.Response(500, `{}`), next), Kind: outcome.ServerError},

		{Name: "the last run remains", Got: one(true, gone, gone, found)},
		{Name: "one of the runs remains", Got: one(false, gone, found, gone)},
		{Name: "another than the last run remains", Got: one(true, gone, found, gone),
			Kind: outcome.NotRemoved, Actual: "run b"},
		{Name: "two runs remain", Got: one(true, gone, found, found), Kind: outcome.NotRemoved, Actual: "2 of 3"},
		{Name: "no run remains", Got: one(false, gone, gone), Kind: outcome.MissingItem, Actual: "0 of 2 runs"},

		{Name: "the join on the prior run returns", Got: PriorJoinReturns(Join{Over: true}, next, time.Second)},
		{Name: "the join on the prior run does not return", Got: PriorJoinReturns(overdue, next, time.Second),
			Kind: outcome.NoResponse, Actual: "no response"},
	}
}

const (
	priorInput, nextInput, lastInput = "wait-after-write=400 word-1.", "word-2.", "word-3."
	working                          = "One moment."
	greeting                         = "Hello! How can I help you?"
	priorID, otherID                 = "01a2241e-2943-7848", "01a2241e-27be-7811"
)

func remainsRows() []judgetest.Row {
	next, last := run(nextInput), run(lastInput)
	prior := func(shown ...messages.Message) Prior {
		p := Prior{Run: run(priorInput)}
		if len(shown) > 0 {
			p.Shown = stateOf(append([]messages.Message{human(priorInput)}, shown...)...)
		}
		return p
	}
	remains := func(p Prior, all ...messages.Message) error { return NoneRemains(stateOf(all...), p, next, last) }
	repeats := ai("Working on it: " + priorInput)
	left := func(name, text string, got error) judgetest.Row {
		row := violation(name, outcome.NotRemoved, got)
		row.Actual = text
		return row
	}
	onlyNew := func(p Prior, all ...messages.Message) error { return HoldsNewRunOnly(stateOf(all...), p, next) }
	remaining := func(all ...messages.Message) error {
		return HoldsRemainingOnly(stateOf(all...), []Run{next}, []Run{prior().Run})
	}
	return []judgetest.Row{
		{Name: "the messages of the remaining run", Got: remaining(human(nextInput), ai(nextInput))},
		violation("a message of a run that was replaced", outcome.NotRemoved,
			remaining(ai("Working on it: "+priorInput), human(nextInput), ai(nextInput))),
		violation("a message of no run of several", outcome.ExtraItem, remaining(ai("x"), human(nextInput), ai(nextInput))),

		{Name: "nothing remains", Got: remains(prior(ai(working)), human(nextInput), ai(nextInput))},
		{Name: "nothing was shown", Got: remains(prior(), ai(working), human(nextInput), ai(nextInput))},
		left("the input remains", priorInput, remains(prior(ai(working)), human(priorInput), human(nextInput), ai(nextInput))),
		left("a message before the input", working, remains(prior(ai(working)), ai(working), human(nextInput), ai(nextInput))),
		left("a message after the input", working, remains(prior(ai(working)), human(nextInput), ai(working), ai(nextInput))),
		left("a message at the end", working, remains(prior(ai(working)), human(nextInput), ai(nextInput), ai(working))),
		{Name: "equal answers", Got: remains(prior(ai(greeting)), human(nextInput), ai(greeting))},
		{Name: "equal answers of two later runs",
			Got: remains(prior(ai(greeting)), human(nextInput), ai(greeting), human(lastInput), ai(greeting))},
		left("equal answers, one too many", greeting, remains(prior(ai(greeting)), human(nextInput), ai(greeting), ai(greeting))),
		left("an equal message before the input", greeting,
			remains(prior(ai(greeting)), ai(greeting), human(nextInput), ai(greeting))),
		{Name: "an equal answer with another id",
			Got: remains(prior(withID(ai(greeting), priorID)), human(nextInput), withID(ai(greeting), otherID))},
		left("an equal answer with the same id", greeting,
			remains(prior(withID(ai(greeting), priorID)), human(nextInput), withID(ai(greeting), priorID))),
		{Name: "equal answers with ids that are positions",
			Got: remains(prior(withID(ai(greeting), "1")), human(nextInput), withID(ai(greeting), "1"))},
		{Name: "equal answers with one id for all messages",
			Got: remains(prior(withID(ai(greeting), priorID)), withID(human(nextInput), priorID), withID(ai(greeting), priorID))},
		left("a message with the input in place of the answer", "Working on it: "+priorInput,
			remains(prior(repeats), human(nextInput), repeats)),

		{Name: "the messages of the new run", Got: onlyNew(prior(ai(working)), human(nextInput), ai(nextInput))},
		violation("a message of the prior run", outcome.NotRemoved,
			onlyNew(prior(ai(working)), human(priorInput), ai(working), human(nextInput), ai(nextInput))),
		left("a message of the run before a pending run", "of the run before the pending run", onlyNew(
			Prior{Run: run(priorInput), Ahead: []Run{run(lastInput)}}, human(lastInput), human(nextInput), ai(nextInput))),
		violation("a message of neither run", outcome.ExtraItem,
			onlyNew(prior(ai(working)), ai("x"), human(nextInput), ai(nextInput))),
		violation("the new run lacks its answer", outcome.MissingItem, onlyNew(prior(ai(working)), human(nextInput))),
	}
}

func TestWriters(t *testing.T) {
	one, two := run("one"), run("two")
	two.Outputs = 2
	all := []messages.Message{human("one"), ai("x"), ai("one"), human("two"), ai("one"), ai("y"), ai("z"), ai("w")}
	assert.Equal(t, []int{NoWriter, NoWriter, 0, NoWriter, NoWriter, 1, 1, NoWriter}, Writers(all, []Run{one, two}))
	assert.Equal(t, []int{NoWriter, NoWriter}, Writers([]messages.Message{ai("one"), ai("x")}, []Run{two}))
}

// TestPriorJoinIsShown checks that the evidence is the join that does not return.
func TestPriorJoinIsShown(t *testing.T) {
	next := Run{Created: judgetest.Response(200, `{"run_id":"r2"}`)}
	o, _ := errors.AsType[*outcome.Outcome](PriorJoinReturns(Join{Unanswered: true, Exchange: 7}, next, time.Second))
	assert.Equal(t, 7, o.Violations[0].Exchange)
	assert.NotNil(t, o.Violations[0].Check)
	assert.Contains(t, o.Violations[0].Hint, "raise timeouts.run")
}
