package agentserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// defineRuns registers the sentences about runs (sections 4 and 7).
func (w *World) defineRuns(r *common.Definitions) {
	r.Given(`a completed run`, w.aCompletedRun)
	r.Given(`a completed run on a new thread`, w.afterPlainRuns(w.anOwnCompletedRun))
	r.Given(`a run in progress`, w.aRunInProgress)
	r.Given(`a run whose graph raises an error`, w.aFailingRun)
	r.Given(`the user was refused a run with rollback of an unknown assistant_id on it`, w.wasRefusedUnknownGraph)
	r.When(`the user starts a run`, func(ctx context.Context) error {
		return w.post(ctx, agent.Order{})
	})
	r.When(`the user starts a long run`, w.userStartsLong)
	r.When(`the user starts a run on an unknown thread`, func(ctx context.Context) {
		w.tryRun(ctx, w.owner(), &agent.Thread{ID: target.UnknownID(), Owner: w.owner()}, agent.Order{})
	})
	r.When(`the user starts a run under each wrong thread id`, w.startsUnderWrongIDs)
	r.When(`the user tries to start a run of (an unknown assistant_id|the assistant_id with one more character)`, w.userStartsUnknownGraph)
	r.When(`the user tries to start a run with (.+)`, w.userStartsWithMistake)
	r.When(`the user's next run on the thread completes`, w.nextRunCompletes)
	r.When(`the user retrieves (the run|an unknown run of the thread|the run under (?:an unknown|the other) thread)`, w.userRetrieves)
	r.When(`the user (retrieves|joins) the run by each wrong run id and under each wrong thread id`, w.callsByWrongIDs)
	r.When(`the user reads the state of each wrong thread id`, w.readsStateOfWrongIDs)
	// it is blocked where the run is refused because the server does not know the assistant.
	r.Then(`the answer holds a "run_id"`, func(ctx context.Context) error {
		return outcome.Unless(ctx, w.answerHoldsID("run_id"), w.server.KnowsAssistant)
	})
	r.Then(`the answer comes before the end of the run`, w.acceptedInTime)
	r.Then(`the answer has the "run_id" of that run`, w.answerIsRun)
	r.Then(`the request is answered with an HTTP error status`, func() error { return wantsError(w.scene.Answer) })
	r.Then(`each of these requests is answered with an HTTP error status`, w.eachIsError)
}

func (w *World) aCompletedRun(ctx context.Context) error {
	g := common.Must(w.server.CompletedRun(ctx))
	w.speakOf(g)
	return w.server.Understood(ctx)
}

// anOwnCompletedRun is on a thread that this scenario alone uses. Its messages are going to be compared, so plain
// runs have to leave theirs.
func (w *World) anOwnCompletedRun(ctx context.Context) error {
	w.aThread(ctx)
	common.Check(w.nextRunCompletes(ctx))
	return agent.HoldsOnly(w.scene.Answer, w.current)
}

func (w *World) aFailingRun(ctx context.Context) {
	w.aThread(ctx)
	w.current = common.Must(w.server.Start(ctx, w.thread, agent.Order{Words: agent.Fail, Waits: true}))
}

// post starts a run of the user on the thread. Whether it was accepted is for a later sentence to judge.
func (w *World) post(ctx context.Context, o agent.Order) error {
	g, err := w.server.Post(ctx, w.owner(), w.thread, o)
	if err == nil {
		w.current, w.scene.Answer = g, g.Answer
	}
	return err
}

// tryRun starts a run of a caller who may be refused.
func (w *World) tryRun(ctx context.Context, who target.Caller, t *agent.Thread, o agent.Order) {
	theirs := *t // whatever becomes of it, the owner's count of runs is not changed
	g := common.Must(w.server.TryPost(ctx, who, &theirs, o))
	w.scene.Answer, w.foreign = g.Answer, g.Text()
}

// userStartsLong tries again with more time where the answer came so late that the run may have been over.
func (w *World) userStartsLong(ctx context.Context) error {
	for range agent.Attempts {
		common.Check(w.startLong(ctx))
		if w.current.Answered().Before(w.current.NotOverBefore()) {
			return nil
		}
		w.wanted = agent.Longer(w.current.Order.Hold, w.current.Answer.Took)
	}
	return nil
}

func (w *World) startLong(ctx context.Context) error {
	w.onNewThread(ctx)
	if err := w.post(ctx, agent.Order{Waits: true, Hold: w.wanted}); err != nil {
		return err
	}
	return outcome.AsPrecondition(w.current.Accepted())
}

// startRaw sends the body as it is for a run on the thread.
func (w *World) startRaw(ctx context.Context, body any, wrong bool) {
	request := w.target.ToAgent(w.server.Base, w.owner(), http.MethodPost, agent.RunsPath(w.thread.ID), body)
	request.Wrong = wrong
	w.scene.Answer = common.Must(w.target.Client.Do(ctx, request))
}

// unknownAssistant is a name that no graph has.
func unknownAssistant() string { return "agentconform-" + target.UnknownID() }

func (w *World) userStartsUnknownGraph(ctx context.Context, which string) {
	w.foreign = w.agents.Text(agent.Order{})
	id := unknownAssistant()
	if which != "an unknown assistant_id" {
		id = w.target.Config.AssistantID + "x"
	}
	w.startRaw(ctx, map[string]any{"assistant_id": id, "input": agent.Input([]string{w.foreign})}, false)
}

// wasRefusedUnknownGraph needs the refusal, and that the run in progress was not over before it.
func (w *World) wasRefusedUnknownGraph(ctx context.Context) error {
	return w.wasRefused(ctx, w.owner(), agent.Order{Strategy: agent.RollbackStrategy, Assistant: unknownAssistant()})
}

func (w *World) userStartsWithMistake(ctx context.Context, mistake string) error {
	body := map[string]any{"assistant_id": w.target.Config.AssistantID, "input": agent.Input([]string{w.target.Name("word")})}
	var sent any = body
	switch mistake {
	case "a body that is not valid JSON":
		sent = []byte(`{"assistant_id": `)
	case "an array in place of the object":
		sent = []any{body}
	case "no assistant_id":
		delete(body, "assistant_id")
	case "a number as assistant_id":
		body["assistant_id"] = 42
	case "an empty assistant_id":
		body["assistant_id"] = ""
	case "null in place of the object":
		sent = []byte("null")
	case "no body":
		sent = []byte{}
	case "a number as multitask_strategy":
		body["multitask_strategy"] = 42
	case "a number as input":
		body["input"] = 42
	case "an unknown multitask_strategy":
		body["multitask_strategy"] = "agentconform-unknown"
	default:
		return errors.New("no mistake is called " + mistake)
	}
	w.startRaw(ctx, sent, true)
	return nil
}

func (w *World) userRetrieves(ctx context.Context, which string) {
	w.scene.Answer = common.Must(w.server.GetRun(ctx, w.owner(), w.runNamed(which)))
}

// runNamed is a run as the sentences name it: the current one, one that does not exist, or the current one under a
// thread that is not its own.
func (w *World) runNamed(which string) *agent.GraphRun {
	unknown := target.UnknownID()
	switch which {
	case "an unknown run of the thread":
		return &agent.GraphRun{ID: unknown, Thread: w.thread}
	case "the run under an unknown thread":
		return &agent.GraphRun{ID: w.current.ID, Thread: &agent.Thread{ID: unknown}}
	case "the run under the other thread":
		return &agent.GraphRun{ID: w.current.ID, Thread: w.threads[0]}
	}
	return w.current
}

// wrongID is an id that does not exist in its place, though something like it may, with its class.
type wrongID struct{ class, id string }

// wrongIDs are a text, the id with another digit in its middle, and the id of something of another kind. Ids that are
// no UUIDs give no near one: what looks like it may exist.
func wrongIDs(id, other, kind string) []wrongID {
	all := []wrongID{{"a text that is no UUID", "agentconform-" + target.UnknownID()}}
	if u, err := uuid.Parse(id); err == nil {
		u[7] ^= 0x15
		all = append(all, wrongID{"the id with another digit", u.String()})
	}
	if uuid.Validate(other) == nil && !strings.EqualFold(id, other) {
		all = append(all, wrongID{"the id of the " + kind, other})
	}
	return all
}

// callsByWrongIDs retrieves or joins the run with one wrong id in its path.
func (w *World) callsByWrongIDs(ctx context.Context, how string) {
	g, call := w.current, w.server.GetRun
	if how == "joins" {
		call = w.server.JoinCompleted
	}
	try := func(class, thread, run string) {
		a := common.Must(call(ctx, w.owner(), &agent.GraphRun{ID: run, Thread: &agent.Thread{ID: thread}}))
		w.wrong = append(w.wrong, namedAnswer{class, a})
	}
	for _, wrong := range wrongIDs(g.ID, g.Thread.ID, "thread") {
		try("run id: "+wrong.class, g.Thread.ID, wrong.id)
	}
	for _, wrong := range wrongIDs(g.Thread.ID, g.ID, "run") {
		try("thread id: "+wrong.class, wrong.id, g.ID)
	}
}

func (w *World) readsStateOfWrongIDs(ctx context.Context) {
	for _, wrong := range wrongIDs(w.thread.ID, w.current.ID, "run") {
		a := common.Must(w.server.State(ctx, w.owner(), &agent.Thread{ID: wrong.id}))
		w.wrong = append(w.wrong, namedAnswer{"thread id: " + wrong.class, a})
	}
}

// startsUnderWrongIDs starts nothing under an id that may be a thread's: its state is asked for first.
func (w *World) startsUnderWrongIDs(ctx context.Context) {
	for _, wrong := range wrongIDs(w.thread.ID, w.current.ID, "run") {
		t := &agent.Thread{ID: wrong.id, Owner: w.owner()}
		if common.Must(w.server.State(ctx, w.owner(), t)).Status >= http.StatusBadRequest {
			w.tryRun(ctx, w.owner(), t, agent.Order{})
			w.wrong = append(w.wrong, namedAnswer{"thread id: " + wrong.class, w.scene.Answer})
		}
	}
}

func (w *World) eachIsError() error {
	if len(w.wrong) == 0 {
		return outcome.Inapplicable("ids that do not exist", "the target serves each wrong id: what looks like another one may exist")
	}
	var wrong []*outcome.Outcome
	for _, t := range w.wrong {
		if t.answer.Status < http.StatusBadRequest {
			wrong = append(wrong, outcome.Violated(t.answer, "a status of 400 or above for the "+t.name, "%s", outcome.Seen(t.answer)).
				SameAs("the request is answered with an HTTP error status"))
		}
	}
	return outcome.First(wrong)
}

func (w *World) acceptedInTime() error {
	g := w.current
	if g.Answered().Before(g.NotOverBefore()) {
		return nil
	}
	return outcome.Violated(g.Answer, "an answer while the run is in progress", "an answer after %s, for a run of %s",
		g.Answer.Took.Round(time.Millisecond), g.Order.Hold)
}

func (w *World) answerIsRun() error {
	a := w.scene.Answer
	common.Check(validIsServed(a))
	if id := a.Get("run_id"); !a.OK() || id.String() != w.current.ID {
		return outcome.Violated(a, "the run "+w.current.ID, "%s", outcome.Seen(a)).At("/run_id").Comparing(a, w.current.Answer)
	}
	return nil
}
