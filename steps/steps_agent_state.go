package steps

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// defineState holds the sentences about the messages of a thread (section 2).
func (w *World) defineState(b *book) {
	b.when(`the user reads the state of the thread`, w.userReadsState)
	b.when(`a run of the user with (one message|three messages|a text .+) has completed`, w.runWithMessages)
	b.when(`a run of the user that calls a tool has completed`, w.runWithTool)
	b.then(`the state has a list of messages`, w.stateHasMessages)
	b.then(`each message has a type and a content`, w.messagesHaveForm)
	b.then(`the state holds the messages "([a-z, ]+)"`, w.stateHoldsKinds)
	b.then(`the human messages are the input, in its order`, w.humanIsInput)
	b.then(`the last message repeats the last one of the input`, w.answerRepeats)
	b.then(`the state holds the run's input and its answer`, w.stateHoldsRun)
	b.then(`the state holds both runs, one after the other`, w.stateHoldsBoth)
	b.then(`the thread holds the user's runs only`, w.threadHoldsKept)
}

func (w *World) userReadsState(ctx context.Context) error {
	a, err := w.agent.state(ctx, w.run.owner(), w.thread)
	if err == nil {
		w.answer = a
		w.looks = append(w.looks, look{state: a})
	}
	return err
}

func (w *World) runWithMessages(ctx context.Context, number string) error {
	o := order{words: texts[number]}
	if number == "three messages" {
		o.before = []string{w.run.name("first"), w.run.name("second")}
	}
	return w.runOnNewThread(ctx, o)
}

// texts are what a target may change on its way into its store and back: content is what was sent.
var texts = map[string]string{
	"a text with accented letters":              "Zo\u00eb, na\u00efve, caf\u00e9, \u00df",
	"a text with accents as marks of their own": "Zoe\u0308, nai\u0308ve, cafe\u0301",
	"a text in other scripts":                   "\u65e5\u672c\u8a9e, \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac, \u05e2\u05d1\u05e8\u05d9\u05ea",
	"a text with emoji":                         "\U0001f44d\U0001f3fd \U0001f469\u200d\U0001f4bb \U0001f1ea\U0001f1fa",
	"a text of several lines":                   "One  line,\n\n   and\tanother\n",
	"a text of 3,000 characters":                strings.Repeat("Every good boy does fine. ", 116)[:2999] + ".",
}

func (w *World) runWithTool(ctx context.Context) error {
	return w.runOnNewThread(ctx, order{words: tool})
}

func (w *World) runOnNewThread(ctx context.Context, o order) error {
	if err := w.aThread(ctx); err != nil {
		return asPrecondition(err)
	}
	return asPrecondition(w.nextRun(ctx, o))
}

func (w *World) stateHasMessages() error {
	if list := w.answer.Get("values.messages"); !w.answer.OK() || !list.IsArray() || len(list.Array()) == 0 {
		return violated(w.answer, "a state with a list of messages", "%s", seen(w.answer)).at("/values/messages")
	}
	return nil
}

// messagesHaveForm takes a text or a list of parts as content.
func (w *World) messagesHaveForm() error {
	for i, m := range w.answer.Get("values.messages").Array() {
		at := fmt.Sprintf("/values/messages/%d", i)
		if kind := m.Get("type"); kind.Type != gjson.String || kind.Str == "" {
			return violated(w.answer, "a message with a type", "%s", shown(m)).at(at + "/type")
		}
		if content := m.Get("content"); content.Type != gjson.String && !content.IsArray() {
			return violated(w.answer, "a message with a content", "%s", shown(m)).at(at + "/content")
		}
	}
	return nil
}

// formIsKept says why the messages cannot be judged: their form is another requirement's concern.
func (w *World) formIsKept() error {
	wrong := w.stateHasMessages()
	if wrong == nil {
		wrong = w.messagesHaveForm()
	}
	return asPrecondition(wrong)
}

func (w *World) stateHoldsKinds(kinds string) error {
	all := messagesOf(w.answer)
	if err := w.formIsKept(); err != nil {
		return err
	}
	var found []string
	for _, m := range all {
		found = append(found, m.kind)
	}
	if strings.Join(found, ", ") != kinds {
		return violated(w.answer, "messages of the kinds "+kinds, "%s", shownMessages(all)).at("/values/messages")
	}
	return nil
}

func (w *World) humanIsInput() error {
	var found []string
	for _, m := range messagesOf(w.answer) {
		if m.kind == human {
			found = append(found, m.text)
		}
	}
	if !slices.Equal(found, w.current.inputs) {
		return violated(w.answer, "the human messages "+quoted(shortened(w.current.inputs)), "%s", quoted(shortened(found))).at("/values/messages")
	}
	return nil
}

// shortened leaves of long texts the beginning, and how long they are.
func shortened(all []string) []string {
	short := slices.Clone(all)
	for i, text := range short {
		if runes := []rune(text); len(runes) > 200 {
			short[i] = fmt.Sprintf("%s... (%d characters)", string(runes[:60]), len(runes))
		}
	}
	return short
}

func (w *World) answerRepeats() error {
	all := messagesOf(w.answer)
	if last := all[len(all)-1]; !strings.Contains(last.text, w.current.text()) {
		return violated(w.answer, "an answer that repeats "+quoted(shortened([]string{w.current.text()})), "%s", quoted(shortened([]string{last.text}))).at("/values/messages").
			hinting("the graph has to keep the contract of the conformance graph")
	}
	return nil
}

// stateHoldsRun is blocked where there is no run, and where plain runs leave no input and answer either.
func (w *World) stateHoldsRun(ctx context.Context) error {
	if err := w.current.accepted(); err != nil {
		return asPrecondition(err)
	}
	return unless(ctx, holdsAnswered(w.answer, w.current), w.agent.plainRunsWork)
}

func (w *World) stateHoldsBoth(ctx context.Context) error {
	return unless(ctx, holdsOnly(w.answer, w.kept...), w.agent.plainRunsWork)
}

// threadHoldsKept judges the state after the last of the user's runs. Where a second run does not add to the first
// (AS-STATE-3, which binds nobody), what the state says of earlier runs shows nothing; what it must not say, and that
// each run has completed, still do.
func (w *World) threadHoldsKept(ctx context.Context) error {
	wrong := holdsOnly(w.answer, w.kept...)
	if wrong == nil {
		return nil
	}
	if err := w.agent.plainRunsWork(ctx); err != nil {
		return err
	}
	adds, err := w.agent.runsAdd(ctx)
	if err != nil {
		return asPrecondition(err)
	}
	incomplete := slices.ContainsFunc(w.kept, func(g *graphRun) bool { return !g.complete })
	if adds || incomplete || w.foreign != "" && mentions(messagesOf(w.answer), w.foreign) {
		return wrong
	}
	return nil
}

// mentions tells whether one of the messages holds the text.
func mentions(all []message, text string) bool {
	return slices.ContainsFunc(all, func(m message) bool { return strings.Contains(m.text, text) })
}
