package agentserver

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// states has the responses to reads of the state during a run.
type states struct {
	*World
	during []*exchange.Response
}

// define registers the steps about the messages of a thread (section 2).
func (w *states) define(r *common.Definitions) {
	r.When(`the user reads the state of the thread`, w.userReadsState)
	r.When(`the user reads the state during the run`, w.readStateDuringRun)
	r.When(`the user reads the state again and again during a second run`, w.readStatesDuringSecondRun)
	r.When(`a run of the user (?:with|that) (.+?) has completed(, or was refused with 4xx)?`, w.runWith)
	r.When(`a further run of the user on the thread( that calls a tool)? completes`, w.furtherRun)
	r.Then(`the state has a non-empty array "values.messages"`, func() error { return judge.HasMessages(w.scene.Response) })
	r.Then(`the GET of the state returns 2xx`, func() error { return judge.StateIsServed(w.scene.Response) })
	r.Then(`each message has a "type" and a "content"`, func() error { return judge.HaveForm(w.scene.Response) })
	r.Then(`the (last )?messages of the state have the types "([a-z, ]+)"`, w.stateHoldsKinds)
	r.Then(`the human messages are the input, in order`, w.humanIsInput)
	r.Then(`the state has a human message for each message of the input`, func(ctx context.Context) error {
		if err := w.requireForm(ctx); err != nil {
			return err
		}
		return judge.HasAllHumans(w.scene.Response, w.current.Value())
	})
	r.Then(`the last message repeats the last message of the input`, func(ctx context.Context) error {
		return outcome.Unless(ctx, judge.LastRepeats(w.scene.Response, w.current.Value()), w.repeatsInput(w.current))
	})
	r.Then(`each of these states shows one of both runs`, func() error {
		return judge.EachShows(w.during, w.kept[0].Value(), w.current.Value())
	})
	r.Then(`the state holds the run's input and its ai message`, w.stateHoldsRun)
	r.Then(`the state holds the messages of both runs, in order`, func() error {
		return agent.HoldsOnly(w.scene.Response, w.kept...)
	})
	r.Then(`the state holds the messages of the user's runs only`, w.stateHoldsKept)
}

// furtherRun starts another run on the thread. AS-RUN-1 judges a run that is refused. The state must contain the messages
// of the run if it is accepted and if runs at this server keep the messages of earlier ones.
func (w *states) furtherRun(ctx context.Context, callsTool string) error {
	var o agent.Order
	if callsTool != "" {
		o.Words = agent.ToolCall
	}
	err := w.nextRun(ctx, o)
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
	if callsTool != "" { // a later step judges its messages
		return nil
	}
	return agent.HoldsAnswered(w.scene.Response, w.current)
}

// readStateDuringRun reads the state while the run is in progress. A read within patience may show the thread without the
// run, so a refused read is repeated until patience has passed.
func (w *states) readStateDuringRun(ctx context.Context) error {
	return w.win(ctx, "the run ended before the state was read", func(ctx context.Context) (bool, error) {
		settled := w.current.Responded().Add(w.target.Config.Patience)
		state, _, err := w.server.ReadState(ctx, w.thread, settled, (*exchange.Response).OK)
		if err != nil {
			return false, err
		}
		w.scene.Response = state
		return state.Ended().Before(w.prior.Until()), nil
	})
}

// readStatesDuringSecondRun starts a second run on the thread. It waits until reads must show the first run, and then
// reads the state until the hold of the second run has passed.
func (w *states) readStatesDuringSecondRun(ctx context.Context) error {
	first := w.current
	if err := client.Sleep(ctx, time.Until(first.Final.Ended().Add(w.target.Config.Patience))); err != nil {
		return err
	}
	second, err := w.server.Start(ctx, w.thread, agent.Order{Waits: true})
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	w.current, w.during = second, nil
	_, _, err = w.server.ReadState(ctx, w.thread, second.NotOverBefore(), func(a *exchange.Response) bool {
		w.during = append(w.during, a)
		return false
	})
	return err
}

// orders has the orders of the runs that steps name. Their texts are such that a target may change them when it stores
// and returns them. Some have messages before the one with the words.
var orders = map[string]agent.Order{
	"a string with accented letters":  {Words: "Zo\u00eb, na\u00efve, caf\u00e9, \u00df"},
	"a string with combining accents": {Words: "Zoe\u0308, nai\u0308ve, cafe\u0301"},
	"a string in other scripts": {Words: "\u65e5\u672c\u8a9e, \u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac, " +
		"\u05e2\u05d1\u05e8\u05d9\u05ea"},
	"a string with emoji":          {Words: "\U0001f44d\U0001f3fd \U0001f469\u200d\U0001f4bb \U0001f1ea\U0001f1fa"},
	"a string of several lines":    {Words: "One  line,\n\n   and\tanother\n"},
	"a string of 3,000 characters": {Words: strings.Repeat("Every good boy does fine. ", 116)[:2999] + "."},
	"calls a tool":                 {Words: agent.ToolCall},
	"writes a message early":       agent.WritingEarly(),
	"takes longer":                 {Waits: true, Hold: longerHold}, // some servers consider it lost and start it again
	"an empty message":             {Before: []string{""}},
	"the character U+0000":         {Before: []string{"before\x00after"}},
	"the character U+FFFE":         {Before: []string{"before\ufffeafter"}},
	"a message of 32 KiB":          {Before: []string{strings.Repeat("0123456789abcde ", 2048)}},
	"a message of 80 KiB":          {Before: []string{strings.Repeat("0123456789abcde ", 5120)}}, // more than 2^16-1 bytes
}

// textClasses are texts that a server may change when it escapes, trims, normalizes, cuts, merges or interprets them. Two
// consecutive ones are equal.
var textClasses = []struct{ name, text string }{
	{"markup", `<b>bold</b> & "double" 'single' &amp; <!-- -->`},
	{"template", "{{ name }} {0} ${HOME} $1 %s %d 100% #{x}"},
	{"backslashes", `C:\new\table \u0041 \\ \"`},
	{"JSON", `{"role": "user", "content": [1, null, true]}`},
	{"the word null", "null"},
	{"the word true", "true"},
	{"a number with leading zeros", "00123"},
	{"a number with an exponent", "1.50e3"},
	{"a time", "2026-02-03T04:05:06+00:00"},
	{"a byte order mark", "\ufeffmark"},
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
	{"words that frameworks reserve", "__interrupt__ __error__ __root__ __start__"},
	{"an e-mail address", "Ada <ada@example.com>"},
	{"two dollar signs", "$$ and $&"},
	{"4 KiB in letters of three bytes", strings.Repeat("\u9577\u3044\u6587\u3002", 341)}, // a reader of packets may split a letter
	{"4 KiB", strings.Repeat("0123456789abcde ", 255) + "0123456789abcdef"},
	{"equal messages in a row", "again"},
	{"equal messages in a row", "again"},
}

// manyMessages is the number of messages of the run that has a message of each class of text.
const manyMessages = 40

// runWith runs the graph on a new thread. Section 8 defines no limits, so a server may refuse a run with many or long
// messages, and such a run need not complete. A server may also refuse unusual characters, but a run with them must not
// fail.
func (w *states) runWith(ctx context.Context, what, orRefused string) error {
	o := w.orderWith(what)
	if err := w.onNewThread(ctx); err != nil {
		return err
	}
	if err := w.server.Understood(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	if err := w.post(ctx, o); err != nil {
		return outcome.AsPrecondition(err)
	}
	mayBeRefused := orRefused != "" || len(o.Before) >= manyMessages
	if g := w.current; mayBeRefused && g.ID == "" && g.Response.IsRefused() {
		return outcome.Inapplicable(what, "the target refuses %s: %s", what, outcome.Seen(g.Response))
	}
	if err := w.current.Accepted(); err != nil {
		return outcome.AsPrecondition(err)
	}
	state, err := w.server.Await(ctx, w.current)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	w.scene.Response = state
	if mayFail := orRefused != "" && !strings.HasPrefix(what, "the character "); mayFail && !w.current.Complete() {
		return outcome.Inapplicable(what, "a run with %s does not complete: %s", what, outcome.Seen(state))
	}
	return nil
}

// orderWith returns the order of the run that a step names.
func (w *states) orderWith(what string) agent.Order {
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
	return o
}

// requireForm blocks if the messages of the state cannot be compared, because other requirements judge their form. If a
// state has no messages, it fails if the state of a plain run has some.
func (w *states) requireForm(ctx context.Context) error {
	err := judge.HasMessages(w.scene.Response)
	if err == nil {
		return outcome.AsPrecondition(judge.HaveForm(w.scene.Response))
	}
	plain, plainErr := w.server.SharedCompletedRun(ctx)
	if plainErr == nil && judge.HasMessages(plain.Final) == nil {
		return err
	}
	return outcome.AsPrecondition(err)
}

func (w *states) stateHoldsKinds(ctx context.Context, last, kinds string) error {
	if err := w.requireForm(ctx); err != nil {
		return err
	}
	if last != "" {
		return judge.EndsWithKinds(w.scene.Response, kinds)
	}
	return judge.HoldsKinds(w.scene.Response, kinds)
}

func (w *states) humanIsInput(ctx context.Context) error {
	if err := w.requireForm(ctx); err != nil {
		return err
	}
	var classes []string
	if len(w.current.Inputs) > len(textClasses) {
		for _, c := range textClasses {
			classes = append(classes, c.name)
		}
	}
	return judge.HumansAreInput(w.scene.Response, w.current.Value(), classes...)
}

// repeatsInput returns a check that blocks if the graph ignores its input, because that explains a wrong answer.
func (w *World) repeatsInput(g *agent.GraphRun) func(ctx context.Context) error {
	return func(ctx context.Context) error { return w.server.RepeatsInput(ctx, g) }
}

// stateHoldsRun judges that the state has the input of the run and its ai message. It blocks if there is no run, or if
// plain runs do not write these messages.
func (w *states) stateHoldsRun(ctx context.Context) error {
	if err := w.current.Accepted(); err != nil {
		return outcome.AsPrecondition(err)
	}
	return outcome.Unless(ctx, agent.HoldsAnswered(w.scene.Response, w.current), w.server.PlainRunsWork)
}

// stateHoldsKept judges the state after the last run of the user.
func (w *states) stateHoldsKept(ctx context.Context) error {
	if agent.HoldsOnly(w.scene.Response, w.kept...) == nil {
		return nil
	}
	adds, err := w.server.RunsAdd(ctx)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	isIncomplete := func(g *agent.GraphRun) bool { return !g.Complete() }
	kept := judge.Kept{Foreign: w.refusedText, Add: adds, Complete: !slices.ContainsFunc(w.kept, isIncomplete)}
	return judge.HoldsKept(w.scene.Response, kept, agent.Values(w.kept)...)
}
