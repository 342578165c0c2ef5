package agentserver

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// byRule holds the sentences whose cases are derived by rule: each class of text, and each class of wrong id at each place.
type byRule struct {
	*World
	tried []wrongID
	joins []*agent.Joining
}

// wrongID is a request with an id that does not exist in its place, and how it was answered.
type wrongID struct {
	name   string
	answer *client.Answer
}

func (w *byRule) define(r *common.Definitions) {
	r.Given(`the user was refused a run with rollback of an unknown assistant_id on it`, w.wasRefusedUnknownGraph)
	r.When(`a run of the user with a message of each class of text has completed`, w.runWithEachText)
	r.When(`a run of the user with (an empty message|a message of 32 KiB) has completed, or was refused with 4xx`, w.runWithOddText)
	r.When(`the user retrieves the run by each wrong run id and under each wrong thread id`, w.retrievesByWrongIDs)
	r.When(`the user starts a run under each wrong thread id`, w.startsUnderWrongIDs)
	r.When(`the user starts a long run, and joins it twice at the same time`, w.joinsTwice)
	r.Then(`each human message is the one of the input`, w.eachIsInput)
	r.Then(`each of these requests is answered with an HTTP error status`, w.eachIsError)
	r.Then(`neither join returns before the end of the run`, w.neitherEarly)
}

// textClasses are texts that a server may change when it escapes, trims, normalises, cuts, merges or interprets them. Two equal ones follow each
// other.
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

// manyMessages is how many messages the run has at least.
const manyMessages = 40

func (w *byRule) runWithEachText(ctx context.Context) error {
	var before []string
	for _, c := range textClasses {
		before = append(before, c.text)
	}
	for i := len(before); i < manyMessages; i++ {
		before = append(before, "message "+strconv.Itoa(i+1))
	}
	return (&states{World: w.World}).runOnNewThread(ctx, agent.Order{Before: before})
}

// runWithOddText sends what a server may refuse: what it takes it keeps.
func (w *byRule) runWithOddText(ctx context.Context, which string) error {
	odd := map[string]string{"an empty message": "", "a message of 32 KiB": strings.Repeat("0123456789abcde ", 2048)}[which]
	if err := w.aThread(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	g, err := w.server.Post(ctx, w.owner(), w.thread, agent.Order{Before: []string{odd}})
	if err != nil {
		return err
	}
	if g.ID == "" && g.Answer.Refused() {
		return outcome.Inapplicable(which, "the target refuses %s: %s", which, outcome.Seen(g.Answer))
	}
	if err := g.Accepted(); err != nil {
		return outcome.AsPrecondition(err)
	}
	w.current = g
	w.scene.Answer, err = w.server.Await(ctx, g)
	return outcome.AsPrecondition(err)
}

// eachIsInput tells of the first message that is not as it was sent, with its class.
func (w *byRule) eachIsInput() error {
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

func (w *byRule) differs(expected, actual string) error {
	return outcome.Violated(w.scene.Answer, expected, "%s", actual).At("/values/messages").Comparing(w.scene.Answer, w.current.Answer)
}

// wrongIDs are ids that do not exist in the place of the id, though something like them does: each with its class. The other id is one of another
// kind that exists.
func wrongIDs(id, other, kind string) [][2]string {
	end := "0"
	if strings.HasSuffix(id, end) {
		end = "1"
	}
	all := [][2]string{{"the id with another last character", id[:len(id)-1] + end}, {"the id of the " + kind, other}, {"no UUID", "not-a-uuid"}}
	if block, _, ok := strings.Cut(id, "-"); ok {
		_, rest, _ := strings.Cut(target.UnknownID(), "-")
		all = append(all, [2]string{"the first block of the id, and another rest", block + "-" + rest})
	}
	return all
}

func (w *byRule) retrievesByWrongIDs(ctx context.Context) error {
	g := w.current
	for _, id := range wrongIDs(g.ID, g.Thread.ID, "thread") {
		if err := w.try(ctx, "run id: "+id[0], &agent.GraphRun{ID: id[1], Thread: g.Thread}); err != nil {
			return err
		}
	}
	for _, id := range wrongIDs(g.Thread.ID, g.ID, "run") {
		if err := w.try(ctx, "thread id: "+id[0], &agent.GraphRun{ID: g.ID, Thread: &agent.Thread{ID: id[1]}}); err != nil {
			return err
		}
	}
	return nil
}

func (w *byRule) try(ctx context.Context, name string, g *agent.GraphRun) error {
	a, err := w.server.GetRun(ctx, w.owner(), g)
	if err == nil {
		w.tried = append(w.tried, wrongID{name, a})
	}
	return err
}

func (w *byRule) startsUnderWrongIDs(ctx context.Context) error {
	for _, id := range wrongIDs(w.thread.ID, w.current.ID, "run") {
		g, err := w.server.TryPost(ctx, w.owner(), &agent.Thread{ID: id[1], Owner: w.owner()}, agent.Order{})
		if err != nil {
			return err
		}
		w.tried = append(w.tried, wrongID{"thread id: " + id[0], g.Answer})
	}
	return nil
}

func (w *byRule) eachIsError() error {
	var wrong *outcome.Outcome
	for _, t := range w.tried {
		switch {
		case t.answer.Status >= 400:
		case wrong != nil:
			wrong.Violations[0].Count++
		default:
			wrong = outcome.Violated(t.answer, "a status of 400 or above for the "+t.name, "%s", outcome.Seen(t.answer))
		}
	}
	if wrong == nil {
		return nil
	}
	return wrong
}

// joinsTwice waits for both joins, as long as the run and its answers may take.
func (w *byRule) joinsTwice(ctx context.Context) error {
	starter := &runs{World: w.World}
	if err := starter.startLong(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	g := w.current
	for range 2 {
		j := w.server.JoinNow(ctx, g)
		w.scene.AtEnd(j.Leave)
		w.joins = append(w.joins, j)
	}
	for _, j := range w.joins {
		if err := j.OrUntil(ctx, g.Answered().Add(g.Order.Hold+w.agents.Patience())); err != nil {
			return err
		}
	}
	return nil
}

func (w *byRule) neitherEarly() error {
	for _, j := range w.joins {
		if !j.Over() || j.Answer == nil {
			return outcome.Inconclusive("a join was not answered, so it cannot be judged whether it was answered early")
		}
		w.joined = j
		if err := joined(j.Answer); err != nil {
			return err
		}
		if err := (&runs{World: w.World}).joinNotEarly(); err != nil {
			return err
		}
	}
	return nil
}

// wasRefusedUnknownGraph needs the refusal, and that the run in progress was not over before it.
func (w *byRule) wasRefusedUnknownGraph(ctx context.Context) error {
	unknown := agent.Order{Strategy: agent.RollbackStrategy, Assistant: "agentconform-" + target.UnknownID()}
	return (&callers{World: w.World}).wasRefused(ctx, func(ctx context.Context) error {
		theirs := *w.thread
		g, err := w.server.TryPost(ctx, w.owner(), &theirs, unknown)
		if err == nil {
			w.scene.Answer, w.foreign = g.Answer, g.Text()
		}
		return err
	})
}
