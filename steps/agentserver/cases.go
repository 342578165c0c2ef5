package agentserver

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// byRule holds the sentences whose cases are derived by rule: each class of text, and each class of wrong id at
// each place.
type byRule struct {
	*World
	tried []wrongID
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
	r.When(`the user (retrieves|joins) the run by each wrong run id and under each wrong thread id`, w.callsByWrongIDs)
	r.When(`the user reads the state of each wrong thread id`, w.readsStateOfWrongIDs)
	r.When(`a further run of the user on the thread completes`, w.furtherRun)
	r.When(`the user starts a run under each wrong thread id`, w.startsUnderWrongIDs)
	r.When(`the user starts a long run, and joins it twice at the same time`, w.joinsTwice)
	r.Then(`each of these requests is answered with an HTTP error status`, w.eachIsError)
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
	return w.runWith(ctx, "forty messages", before)
}

// runWithOddText sends what a server may refuse: what it takes it keeps.
func (w *byRule) runWithOddText(ctx context.Context, which string) error {
	odd := map[string]string{"an empty message": "", "a message of 32 KiB": strings.Repeat("0123456789abcde ", 2048)}[which]
	if err := w.runWith(ctx, which, []string{odd}); err != nil {
		return err
	}
	if !w.current.Complete {
		return outcome.Inapplicable(which, "a run with %s does not complete: %s", which, outcome.Seen(w.scene.Answer))
	}
	return nil
}

// runWith runs the graph with messages that a target may refuse: section 8 shows no limits.
func (w *byRule) runWith(ctx context.Context, what string, before []string) error {
	if err := w.aThread(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	g, err := w.server.Post(ctx, w.owner(), w.thread, agent.Order{Before: before})
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	if g.ID == "" && g.Answer.Refused() {
		return outcome.Inapplicable(what, "the target refuses %s: %s", what, outcome.Seen(g.Answer))
	}
	if err := g.Accepted(); err != nil {
		return outcome.AsPrecondition(err)
	}
	w.current = g
	w.scene.Answer, err = w.server.Await(ctx, g)
	return outcome.AsPrecondition(err)
}

// nearID is a UUID that differs from the id in its middle, "" where the id is no UUID: what looks like another id
// may exist there.
func nearID(id string) string {
	u, err := uuid.Parse(id)
	if err != nil {
		return ""
	}
	u[7] ^= 0x15
	return u.String()
}

// wrongIDs are ids that do not exist in the place of the id, though something like them may: each with its class. The other id is one of
// another kind that exists.
func wrongIDs(id, other, kind string) [][2]string {
	all := [][2]string{{"a text that is no UUID", "agentconform-" + target.UnknownID()}}
	if near := nearID(id); near != "" {
		all = append(all, [2]string{"the id with another digit", near})
	}
	if uuid.Validate(other) == nil && !strings.EqualFold(id, other) {
		all = append(all, [2]string{"the id of the " + kind, other})
	}
	return all
}

// callsByWrongIDs retrieves or joins the run with one wrong id in its path.
func (w *byRule) callsByWrongIDs(ctx context.Context, how string) error {
	call := w.server.GetRun
	if how == "joins" {
		call = w.joinWrong
	}
	try := func(name string, g *agent.GraphRun) error {
		return w.try(name, func() (*client.Answer, error) { return call(ctx, w.owner(), g) })
	}
	g := w.current
	for _, id := range wrongIDs(g.ID, g.Thread.ID, "thread") {
		if err := try("run id: "+id[0], &agent.GraphRun{ID: id[1], Thread: g.Thread}); err != nil {
			return err
		}
	}
	for _, id := range wrongIDs(g.Thread.ID, g.ID, "run") {
		if err := try("thread id: "+id[0], &agent.GraphRun{ID: g.ID, Thread: &agent.Thread{ID: id[1]}}); err != nil {
			return err
		}
	}
	return nil
}

func (w *byRule) readsStateOfWrongIDs(ctx context.Context) error {
	for _, id := range wrongIDs(w.thread.ID, w.current.ID, "run") {
		err := w.try("thread id: "+id[0], func() (*client.Answer, error) {
			return w.server.State(ctx, w.owner(), &agent.Thread{ID: id[1]})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// try calls with a wrong id.
func (w *byRule) try(name string, call func() (*client.Answer, error)) error {
	a, err := call()
	if err == nil {
		w.tried = append(w.tried, wrongID{name, a})
	}
	return err
}

// startsUnderWrongIDs starts nothing under an id that may be a thread's: its state is asked for first.
func (w *byRule) startsUnderWrongIDs(ctx context.Context) error {
	for _, id := range wrongIDs(w.thread.ID, w.current.ID, "run") {
		t := &agent.Thread{ID: id[1], Owner: w.owner()}
		state, err := w.server.State(ctx, w.owner(), t)
		if err != nil {
			return err
		}
		if state.Status < http.StatusBadRequest {
			continue
		}
		g, err := w.server.TryPost(ctx, w.owner(), t, agent.Order{})
		if err != nil {
			return err
		}
		w.tried = append(w.tried, wrongID{"thread id: " + id[0], g.Answer})
	}
	return nil
}

func (w *byRule) eachIsError() error {
	var wrong []*outcome.Outcome
	for _, t := range w.tried {
		if t.answer.Status < http.StatusBadRequest {
			wrong = append(wrong, outcome.Violated(t.answer, "a status of 400 or above for the "+t.name, "%s", outcome.Seen(t.answer)).
				SameAs("the request is answered with an HTTP error status"))
		}
	}
	return outcome.First(wrong)
}

// joinsTwice waits for both joins. One that is not answered is judged, else the one that is answered first.
func (w *byRule) joinsTwice(ctx context.Context) error {
	runs := &runs{World: w.World}
	if err := runs.startLong(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	g := w.current
	var joins []*agent.Joining
	for range 2 {
		j := w.server.JoinNow(ctx, g)
		w.scene.AtEnd(j.Leave)
		joins = append(joins, j)
		if err := client.Sleep(ctx, w.agents.Slack()/4); err != nil { // the second comes while the first waits
			return err
		}
	}
	for _, j := range joins {
		if err := j.OrUntil(ctx, g.Answered().Add(g.Order.Hold+w.agents.Patience())); err != nil {
			return err
		}
		if w.joined = j; !j.Over() {
			return runs.waitBesideJoin(ctx)
		}
	}
	if joins[0].Ended.Before(joins[1].Ended) {
		w.joined = joins[0]
	}
	if !joins[1].Sent().Before(g.NotOverBefore()) {
		return outcome.Inconclusive("the target was too slow to join a run twice while it was in progress")
	}
	return nil
}

// furtherRun is one after others: whether a thread takes more than one is no MUST.
func (w *byRule) furtherRun(ctx context.Context) error {
	err := w.nextRunCompletes(ctx)
	if outcome.Is(err, reports.Failed) {
		return outcome.Inapplicable("further runs of a thread", "the target takes no further run of the thread: %v", err)
	}
	return err
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
