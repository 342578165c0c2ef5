package agentserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
)

// defineStates registers the sentences about the messages of a thread (section 2).
func (w *World) defineStates(r *common.Definitions) {
	r.When(`the user reads the state of the thread`, w.userReadsState)
	r.When(`the user reads the state after the join`, w.readsStateAfterJoin)
	r.When(`a run of the user (?:with|that) (.+?) has completed(, or was refused with 4xx)?`, w.runWith)
	r.When(`a further run of the user on the thread completes`, w.furtherRun)
	r.Then(`the state has a non-empty array "values.messages"`, w.stateHasMessages)
	r.Then(`each message has a "type" and a "content"`, w.messagesHaveForm)
	r.Then(`the messages of the state have the types "([a-z, ]+)"`, w.stateHoldsKinds)
	r.Then(`the human messages are the input, in order`, w.humanIsInput)
	r.Then(`the last message repeats the last message of the input`, w.answerRepeats)
	r.Then(`the state holds the run's input and its answer`, w.stateHoldsRun)
	r.Then(`the state holds the messages of both runs, in order`, func() error {
		return agent.HoldsOnly(w.scene.Answer, w.kept...)
	})
	r.Then(`the state holds the messages of the user's runs only`, w.stateHoldsKept)
}

// furtherRun starts a run after others. A run that is refused is judged by AS-RUN-1. The state must contain the messages
// of a run that is accepted, if a second run on a thread adds to the messages of the first.
func (w *World) furtherRun(ctx context.Context) error {
	err := common.Try(func() { w.nextRun(ctx, agent.Order{}) })
	if outcome.Is(err, reports.Failed) {
		return outcome.Inapplicable("further runs of a thread", "the server accepts no further run of the thread: %v", err)
	}
	if err != nil || w.current.Complete() {
		return err
	}
	adds, err := w.server.RunsAdd(ctx)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	if !adds {
		return outcome.Inapplicable("messages of earlier runs", "a second run on a thread does not add to the state (AS-STATE-3)")
	}
	return agent.HoldsAnswered(w.scene.Answer, w.current)
}

// orders are runs of the graph, as the sentences name them: with strings that a target may change when it stores and
// returns them, and with messages before the one that steers.
var orders = map[string]agent.Order{
	"a string with accented letters":  {Words: "Zo\u00eb, na\u00efve, caf\u00e9, \u00df"},
	"a string with combining accents": {Words: "Zoe\u0308, nai\u0308ve, cafe\u0301"},
	"a string in other scripts": {Words: "\u65e5\u672c\u8a9e, \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac, " +
		"\u05e2\u05d1\u05e8\u05d9\u05ea"},
	"a string with emoji":          {Words: "\U0001f44d\U0001f3fd \U0001f469\u200d\U0001f4bb \U0001f1ea\U0001f1fa"},
	"a string of several lines":    {Words: "One  line,\n\n   and\tanother\n"},
	"a string of 3,000 characters": {Words: strings.Repeat("Every good boy does fine. ", 116)[:2999] + "."},
	"calls a tool":                 {Words: agent.ToolCall},
	"an empty message":             {Before: []string{""}},
	"a message of 32 KiB":          {Before: []string{strings.Repeat("0123456789abcde ", 2048)}},
}

// textClasses are texts that a server may change when it escapes, trims, normalises, cuts, merges or interprets
// them. Two equal ones follow each other.
var textClasses = []struct{ name, text string }{
	{"markup", `<b>bold</b> & "double" 'single' &amp; <!-- -->`},
	{"template", "{{ name }} {0} ${HOME} $1 %s %d 100% #{x}"},
	{"backslashes", `C:\new\table \u0041 \\ \"`},
	{"JSON", `{"role": "user", "content": [1, null, true]}`},
	{"the word null", "null"},
	{"a number with leading zeros", "00123"},
	{"blanks at both ends", "  two blanks, and two  "},
	{"a line feed at the end", "the end\n"},
	{"carriage returns", "one\r\ntwo\rthree"},
	{"blanks and tabs within", "a  b\t\tc"},
	{"capital letters", "MiXeD CaSe"},
	{"no-break and zero-width blanks", "a\u00a0b\u200bc\u2009d"},
	{"composed and decomposed letters", "\u00e9 e\u0301 \ufb01 \u212b"},
	{"writing from right to left", "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 abc"},
	{"characters beyond 16 bits", "\U0001d4b3 \U0001f9d1\u200d\U0001f680 \U00020bb7"},
	{"an address", "https://example.com/a%20b?c=d&e=%2F#f"},
	{"a path", "../../etc/passwd; rm -rf /"},
	{"SQL", `'); DROP TABLE threads; --`},
	{"4 KiB", strings.Repeat("0123456789abcde ", 255) + "0123456789abcdef"},
	{"equal messages in a row", "again"},
	{"equal messages in a row", "again"},
}

// manyMessages is how many messages the run has at least that has one of each class.
const manyMessages = 40

// runWith runs the graph on a new thread. Section 8 shows no limits: a run of many messages may be refused, and one
// that may be refused need not complete.
func (w *World) runWith(ctx context.Context, what, orRefused string) error {
	o := orders[what]
	switch what {
	case "three messages":
		o.Before = []string{w.target.Name("first"), w.target.Name("second")}
	case "a message of each class of text":
		for _, c := range textClasses {
			o.Before = append(o.Before, c.text)
		}
		for len(o.Before) < manyMessages {
			o.Before = append(o.Before, "message "+strconv.Itoa(len(o.Before)+1))
		}
	}
	w.onNewThread(ctx)
	common.Requires(w.server.Understood(ctx))
	common.Needs(func() { w.post(ctx, o) })
	mayBeRefused := orRefused != "" || len(o.Before) >= manyMessages
	if g := w.current; mayBeRefused && g.ID == "" && g.Answer.IsRefused() {
		return outcome.Inapplicable(what, "the target refuses %s: %s", what, outcome.Seen(g.Answer))
	}
	common.Requires(w.current.Accepted())
	w.scene.Answer = common.Given(w.server.Await(ctx, w.current))
	if orRefused != "" && !w.current.Complete() {
		return outcome.Inapplicable(what, "a run with %s does not complete: %s", what, outcome.Seen(w.scene.Answer))
	}
	return nil
}

func (w *World) stateHasMessages() error {
	return judge.HasMessages(w.scene.Answer)
}

// messagesHaveForm accepts a string or an array of parts as content.
func (w *World) messagesHaveForm() error {
	for i, m := range w.scene.Answer.Get("values.messages").Array() {
		wrong := func(expected, field string) error {
			shown, at := outcome.Shown(m.Get(field)), fmt.Sprintf("/values/messages/%d/%s", i, field)
			return outcome.Violated(w.scene.Answer, expected, "%s in\n%s", shown, m.Raw).At(at)
		}
		if kind := m.Get("type"); kind.Type != gjson.String || kind.Str == "" {
			return wrong("a message with a non-empty string type", "type")
		}
		if content := m.Get("content"); content.Type != gjson.String && !content.IsArray() {
			return wrong("a message with a string or array content", "content")
		}
	}
	return nil
}

// formIsKept says why the messages cannot be judged: their form is another requirement's concern.
func (w *World) formIsKept() error {
	return outcome.AsPrecondition(cmp.Or(w.stateHasMessages(), w.messagesHaveForm()))
}

func (w *World) stateHoldsKinds(kinds string) error {
	all := messages.Of(w.scene.Answer)
	common.Check(w.formIsKept())
	var found []string
	for _, m := range all {
		found = append(found, m.Kind)
	}
	if strings.Join(found, ", ") != kinds {
		return outcome.Violated(w.scene.Answer, "messages of the types "+kinds, "%s", messages.Shown(all)).
			At("/values/messages").Hinting("correct the messages of the state, or " + graphHint)
	}
	return nil
}

// humanIsInput tells of the first message that is not as it was sent, with its class.
func (w *World) humanIsInput() error {
	common.Check(w.formIsKept())
	var humans []string
	for _, m := range messages.Of(w.scene.Answer) {
		if m.Kind == messages.Human {
			humans = append(humans, m.Text)
		}
	}
	inputs := w.current.Inputs
	expected, actual := fmt.Sprintf("%d human messages", len(inputs)), strconv.Itoa(len(humans))
	for i := range min(len(inputs), len(humans)) {
		if inputs[i] == humans[i] {
			continue
		}
		class := ""
		if i < len(textClasses) && len(inputs) > len(textClasses) {
			class = " (" + textClasses[i].name + ")"
		}
		expected, actual = fmt.Sprintf("message %d%s: %q", i+1, class, inputs[i]), strconv.Quote(humans[i])
		break
	}
	if slices.Equal(humans, inputs) {
		return nil
	}
	return outcome.Violated(w.scene.Answer, expected, "%s", actual).At("/values/messages").
		Comparing(w.scene.Answer, w.current.Answer)
}

func (w *World) answerRepeats() error {
	all := messages.Of(w.scene.Answer)
	if last := all[len(all)-1]; !strings.Contains(last.Text, w.current.Text()) {
		expected := "an answer that repeats " + strconv.Quote(w.current.Text())
		return outcome.Violated(w.scene.Answer, expected, "%q", last.Text).At("/values/messages").Hinting(graphHint)
	}
	return nil
}

// stateHoldsRun is blocked where there is no run, and where plain runs leave no input and answer either.
func (w *World) stateHoldsRun(ctx context.Context) error {
	common.Requires(w.current.Accepted())
	return outcome.Unless(ctx, agent.HoldsAnswered(w.scene.Answer, w.current), w.server.PlainRunsWork)
}

// stateHoldsKept judges the state after the last of the user's runs. Where a second run does not add to the first
// (AS-STATE-3 is only a SHOULD), what the state says of earlier runs shows nothing; what it must not say, and that
// each run has completed, still do.
func (w *World) stateHoldsKept(ctx context.Context) error {
	wrong := agent.HoldsOnly(w.scene.Answer, w.kept...)
	if wrong == nil {
		return nil
	}
	adds := common.Given(w.server.RunsAdd(ctx))
	incomplete := slices.ContainsFunc(w.kept, func(g *agent.GraphRun) bool { return !g.Complete() })
	tellsForeign := slices.ContainsFunc(messages.Of(w.scene.Answer), func(m messages.Message) bool {
		return w.foreign != "" && strings.Contains(m.Text, w.foreign)
	})
	if o, is := errors.AsType[*outcome.Outcome](wrong); is && tellsForeign {
		o.Violations[0].Kind = outcome.Leak
	}
	if adds || incomplete || tellsForeign {
		return wrong
	}
	return nil
}
