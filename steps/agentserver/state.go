package agentserver

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// states holds the sentences about the messages of a thread (section 2).
type states struct{ *World }

func (w *states) define(r *common.Definitions) {
	r.When(`the user reads the state of the thread`, w.userReadsState)
	r.When(`a run of the user with (one message|three messages|a string .+) has completed`, w.runWithMessages)
	r.When(`a run of the user that calls a tool has completed`, func(ctx context.Context) error {
		return w.runOnNewThread(ctx, agent.Order{Words: messages.Tool})
	})
	r.Then(`the state has a non-empty array "values.messages"`, w.stateHasMessages)
	r.Then(`each message has a "type" and a "content"`, w.messagesHaveForm)
	r.Then(`the messages of the state have the types "([a-z, ]+)"`, w.stateHoldsKinds)
	r.Then(`the human messages are the input, in order`, w.humanIsInput)
	r.Then(`the last message repeats the last message of the input`, w.answerRepeats)
	r.Then(`the state holds the run's input and its answer`, w.stateHoldsRun)
	r.Then(`the state holds the messages of both runs, in order`, func(ctx context.Context) error {
		return outcome.Unless(ctx, agent.HoldsOnly(w.scene.Answer, w.kept...), w.server.PlainRunsWork)
	})
	r.Then(`the state holds the messages of the user's runs only`, w.stateHoldsKept)
}

func (w *states) runWithMessages(ctx context.Context, number string) error {
	o := agent.Order{Words: texts[number]}
	if number == "three messages" {
		o.Before = []string{w.target.Name("first"), w.target.Name("second")}
	}
	return w.runOnNewThread(ctx, o)
}

// texts are strings that a target may change when it stores and returns them.
var texts = map[string]string{
	"a string with accented letters":  "Zo\u00eb, na\u00efve, caf\u00e9, \u00df",
	"a string with combining accents": "Zoe\u0308, nai\u0308ve, cafe\u0301",
	"a string in other scripts":       "\u65e5\u672c\u8a9e, \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac, \u05e2\u05d1\u05e8\u05d9\u05ea",
	"a string with emoji":             "\U0001f44d\U0001f3fd \U0001f469\u200d\U0001f4bb \U0001f1ea\U0001f1fa",
	"a string of several lines":       "One  line,\n\n   and\tanother\n",
	"a string of 3,000 characters":    strings.Repeat("Every good boy does fine. ", 116)[:2999] + ".",
}

func (w *states) runOnNewThread(ctx context.Context, o agent.Order) error {
	if err := w.aThread(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	return outcome.AsPrecondition(w.nextRun(ctx, o))
}

func (w *states) stateHasMessages() error {
	a, list := w.scene.Answer, w.scene.Answer.Get("values.messages")
	isList := a.OK() && list.IsArray() && len(list.Array()) > 0
	return outcome.Want(isList, a, "a non-empty array in values.messages", "/values/messages")
}

// messagesHaveForm accepts a string or an array of parts as content.
func (w *states) messagesHaveForm() error {
	for i, m := range w.scene.Answer.Get("values.messages").Array() {
		at := fmt.Sprintf("/values/messages/%d", i)
		if kind := m.Get("type"); kind.Type != gjson.String || kind.Str == "" {
			return outcome.Violated(w.scene.Answer, "a message with a non-empty string type", "%s in\n%s", outcome.Shown(kind), m.Raw).At(at + "/type")
		}
		if content := m.Get("content"); content.Type != gjson.String && !content.IsArray() {
			return outcome.Violated(w.scene.Answer, "a message with a string or array content", "%s in\n%s", outcome.Shown(content), m.Raw).At(at + "/content")
		}
	}
	return nil
}

// formIsKept says why the messages cannot be judged: their form is another requirement's concern.
func (w *states) formIsKept() error {
	wrong := w.stateHasMessages()
	if wrong == nil {
		wrong = w.messagesHaveForm()
	}
	return outcome.AsPrecondition(wrong)
}

func (w *states) stateHoldsKinds(kinds string) error {
	all := messages.Of(w.scene.Answer)
	if err := w.formIsKept(); err != nil {
		return err
	}
	var found []string
	for _, m := range all {
		found = append(found, m.Kind)
	}
	if strings.Join(found, ", ") != kinds {
		return outcome.Violated(w.scene.Answer, "messages of the types "+kinds, "%s", messages.Shown(all)).At("/values/messages").
			Hinting(orTheGraph("correct the messages of the state"))
	}
	return nil
}

// humanIsInput tells of the first message that is not as it was sent, with its class.
func (w *states) humanIsInput() error {
	if err := w.formIsKept(); err != nil {
		return err
	}
	all := messages.Of(w.scene.Answer)
	humans := slices.DeleteFunc(slices.Clone(all), func(m messages.Message) bool { return m.Kind != messages.Human })
	for i, sent := range w.current.Inputs {
		class := fmt.Sprintf("message %d", i+1)
		if i < len(textClasses) && len(w.current.Inputs) > len(textClasses) {
			class += " (" + textClasses[i].name + ")"
		}
		switch {
		case i >= len(humans):
			return w.differs(fmt.Sprintf("%d human messages", len(w.current.Inputs)), strconv.Itoa(len(humans)))
		case humans[i].Text != sent:
			at := 0
			for at < min(len(sent), len(humans[i].Text)) && sent[at] == humans[i].Text[at] {
				at++
			}
			at = max(at-20, 0)
			return w.differs(fmt.Sprintf("%s, from byte %d on: %.60q", class, at, sent[at:]), fmt.Sprintf("%.60q", humans[i].Text[at:]))
		}
	}
	if len(humans) > len(w.current.Inputs) {
		return w.differs(fmt.Sprintf("%d human messages", len(w.current.Inputs)), strconv.Itoa(len(humans)))
	}
	return nil
}

func (w *states) differs(expected, actual string) error {
	return outcome.Violated(w.scene.Answer, expected, "%s", actual).At("/values/messages").Comparing(w.scene.Answer, w.current.Answer)
}

func (w *states) answerRepeats() error {
	all := messages.Of(w.scene.Answer)
	if last := all[len(all)-1]; !strings.Contains(last.Text, w.current.Text()) {
		return outcome.Violated(w.scene.Answer, "an answer that repeats "+outcome.Quoted([]string{w.current.Text()}), "%s", outcome.Quoted([]string{last.Text})).At("/values/messages").
			Hinting(orTheGraph(""))
	}
	return nil
}

// stateHoldsRun is blocked where there is no run, and where plain runs leave no input and answer either.
func (w *states) stateHoldsRun(ctx context.Context) error {
	if err := w.current.Accepted(); err != nil {
		return outcome.AsPrecondition(err)
	}
	return outcome.Unless(ctx, agent.HoldsAnswered(w.scene.Answer, w.current), w.server.PlainRunsWork)
}

// stateHoldsKept judges the state after the last of the user's runs. Where a second run does not add to the first
// (AS-STATE-3 is only a SHOULD), what the state says of earlier runs shows nothing; what it must not say, and that
// each run has completed, still do.
func (w *states) stateHoldsKept(ctx context.Context) error {
	wrong := agent.HoldsOnly(w.scene.Answer, w.kept...)
	if wrong == nil {
		return nil
	}
	if err := w.server.PlainRunsWork(ctx); err != nil {
		return err
	}
	adds, err := w.server.RunsAdd(ctx)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	incomplete := slices.ContainsFunc(w.kept, func(g *agent.GraphRun) bool { return !g.Complete })
	if adds || incomplete || w.foreign != "" && mentions(messages.Of(w.scene.Answer), w.foreign) {
		return wrong
	}
	return nil
}

// mentions tells whether one of the messages contains the string.
func mentions(all []messages.Message, text string) bool {
	return slices.ContainsFunc(all, func(m messages.Message) bool { return strings.Contains(m.Text, text) })
}
