package agentserver

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// defineRuns registers the sentences about runs (sections 4 and 7).
func (w *World) defineRuns(r *common.Definitions) {
	r.Given(`a completed run`, w.aCompletedRun)
	r.Given(`a completed run on a new thread`, w.anOwnCompletedRun)
	r.Given(`a run in progress( on a new thread| that has started)?`, w.aRunInProgress)
	r.Given(`a run whose graph raises an error`, w.aFailingRun)
	r.Given(`the user was refused a run with rollback and (.+) on it`, w.wasRefusedMistake)
	r.When(`the user starts a run`, func(ctx context.Context) {
		w.post(ctx, agent.Order{})
	})
	r.When(`the user starts a long run`, w.userStartsLong)
	r.When(`the user starts a run on an unknown thread`, func(ctx context.Context) {
		w.tryRun(ctx, w.owner(), &agent.Thread{ID: target.UnknownID(), Owner: w.owner()}, agent.Order{})
	})
	r.When(`the user tries to start (a run of (?:an unknown assistant_id|the assistant_id with one more character))`,
		func(ctx context.Context, name string) { w.tryRun(ctx, w.owner(), w.thread, w.orderOf(name)) })
	r.When(`the user tries to start a run with (.+)`, w.userStartsWithMistake)
	r.When(`the user's next run on the thread(, with rollback,)? completes`, func(ctx context.Context, how string) {
		w.nextRun(ctx, w.orderOf(how))
	})
	r.When(`the user (retrieve)s (the run)`, w.userAsks)
	r.When(`the user (retrieve|join)s (an unknown run .+|the run under (?:an unknown|the other) thread)`, w.userAsks)
	r.When(`the user (retrieve|join)s the run by each (wrong run id(?: and under each wrong thread id)?)`, w.asksByWrongIDs)
	r.When(`the user (retrieve)s the run under each (wrong thread id)`, w.asksByWrongIDs)
	r.When(`the user (read)s the state of each (wrong thread id)`, w.asksByWrongIDs)
	r.When(`the user (start)s a run under each (wrong thread id)`, w.asksByWrongIDs)
	// it is blocked where the run is refused because the server does not know the assistant.
	r.Then(`the answer holds a "run_id"`, func(ctx context.Context) error {
		return outcome.Unless(ctx, w.answerHoldsID("run_id"), w.server.KnowsAssistant)
	})
	r.Then(`the answer comes before the end of the run`, w.acceptedInTime)
	r.Then(`the answer has the "run_id" of that run`, w.answerIsRun)
	r.Then(`(?:the request|each of these requests) is answered with an HTTP error status`, w.eachIsError)
}

func (w *World) aCompletedRun(ctx context.Context) error {
	g := common.Must(w.server.CompletedRun(ctx))
	w.speakOf(g)
	return w.server.Understood(ctx)
}

// anOwnCompletedRun is on a thread that this scenario alone uses. Its messages are going to be compared, so plain
// runs have to leave theirs.
func (w *World) anOwnCompletedRun(ctx context.Context) {
	common.Check(w.server.PlainRunsWork(ctx))
	w.onNewThread(ctx)
	w.nextRun(ctx, agent.Order{})
	common.Check(agent.HoldsOnly(w.scene.Answer, w.current))
}

func (w *World) aFailingRun(ctx context.Context) {
	w.onNewThread(ctx)
	w.current = common.Must(w.server.Start(ctx, w.thread, agent.Order{Words: agent.Fail, Waits: true}))
}

// post starts a run of the user on the thread. Whether it was accepted is for a later sentence to judge.
func (w *World) post(ctx context.Context, o agent.Order) {
	w.current = common.Must(w.server.Post(ctx, w.owner(), w.thread, o))
	w.scene.Answer = w.current.Answer
}

func (w *World) tryRun(ctx context.Context, who target.Caller, t *agent.Thread, o agent.Order) {
	g := common.Must(w.server.TryPost(ctx, who, t, o))
	w.scene.Answer, w.foreign = g.Answer, g.Text()
}

// userStartsLong tries again with more time where the answer came so late that the run may have been over.
func (w *World) userStartsLong(ctx context.Context) {
	w.race(ctx, func(ctx context.Context) bool {
		w.startLong(ctx)
		w.wanted = agent.Longer(w.current.Order.Hold, w.current.Answer.Took)
		return w.current.Answered().Before(w.current.NotOverBefore())
	})
}

func (w *World) startLong(ctx context.Context) {
	w.onNewThread(ctx)
	w.post(ctx, agent.Order{Waits: true, Hold: w.wanted})
	common.Requires(w.current.Accepted())
}

func (w *World) userStartsWithMistake(ctx context.Context, mistake string) {
	w.scene.Answer = common.Must(w.postMistake(ctx, mistake, nil))
}

// postMistake posts a run that contains the named mistake and additional members.
func (w *World) postMistake(ctx context.Context, mistake string, more map[string]any) (*exchange.Response, error) {
	input := agent.Input([]string{w.target.Name("word")})
	whole := map[string]any{"assistant_id": w.target.Config.AssistantID, "input": input}
	maps.Copy(whole, more)
	with := func(key string, value any) any { return plane.Changed(whole, map[string]any{key: value}) }
	sent, known := map[string]any{
		"a body that is not valid JSON":   []byte(`{"assistant_id": `),
		"an array in place of the object": []any{whole},
		"null in place of the object":     []byte("null"),
		"no body":                         []byte{},
		"an unknown assistant_id":         with("assistant_id", "agentconform-"+target.UnknownID()),
		"no assistant_id":                 with("assistant_id", nil),
		"a number as assistant_id":        with("assistant_id", 42),
		"an empty assistant_id":           with("assistant_id", ""),
		"a number as multitask_strategy":  with("multitask_strategy", 42),
		"an unknown multitask_strategy":   with("multitask_strategy", "agentconform-unknown"),
		"a number as input":               with("input", 42),
	}[mistake]
	if !known {
		return nil, errors.New("no mistake is called " + mistake)
	}
	request := w.target.ToAgent(w.server.Base, w.owner(), http.MethodPost, agent.RunsPath(w.thread.ID), sent)
	request.Wrong = mistake != "an unknown assistant_id" // which keeps the contract
	return w.target.Client.Do(ctx, request)
}

// wasRefusedMistake posts a run with rollback that the server must refuse while the run in progress continues.
func (w *World) wasRefusedMistake(ctx context.Context, mistake string) error {
	inTime := w.race(ctx, func(ctx context.Context) bool {
		w.scene.Answer = common.Must(w.postMistake(ctx, mistake, map[string]any{"multitask_strategy": agent.RollbackStrategy}))
		w.kept = []*agent.GraphRun{w.current}
		return w.scene.Answer.Ended().Before(w.prior.Until())
	})
	a := w.scene.Answer
	switch {
	case a.Status < 400:
		return outcome.Inapplicable("refused runs", "the target accepts a run with %s: %s", mistake, outcome.Seen(a))
	case !inTime:
		return outcome.Inconclusive("in %d attempts the run in progress ended before the server refused the request; increase agent.hold", agent.Attempts)
	}
	return nil
}

func (w *World) ask(ctx context.Context, who target.Caller, verb string, g *agent.GraphRun) (*exchange.Response, error) {
	switch verb {
	case "retrieve":
		return w.server.GetRun(ctx, who, g)
	case "join":
		return w.server.JoinCompleted(ctx, who, g)
	case "start":
		w.tryRun(ctx, who, g.Thread, agent.Order{})
		return w.scene.Answer, nil
	}
	return w.server.State(ctx, who, g.Thread)
}

func (w *World) userAsks(ctx context.Context, verb, which string) {
	w.scene.Answer = common.Must(w.ask(ctx, w.owner(), verb, w.runNamed(which)))
}

// runNamed is a run as the sentences name it.
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

// wrongIDs are a text, and those that are like an id.
func wrongIDs(id, other, kind string) []common.Case {
	text := common.Case{ID: "agentconform-" + target.UnknownID(), What: "a text that is no UUID"}
	return append([]common.Case{text}, common.NearIDs(id, other, kind)...)
}

// asksByWrongIDs sends requests with one wrong id in their path. Nothing is started under an id that may be a thread's:
// its state is asked for first.
func (w *World) asksByWrongIDs(ctx context.Context, verb, of string) error {
	run, thread := w.current.ID, w.thread.ID
	try := func(what, thread, run string) {
		g := &agent.GraphRun{ID: run, Thread: &agent.Thread{ID: thread, Owner: w.owner()}}
		if verb == "start" && common.Must(w.ask(ctx, w.owner(), "read", g)).Status < http.StatusBadRequest {
			return
		}
		a := common.Must(w.ask(ctx, w.owner(), verb, g))
		w.scene.Cases = append(w.scene.Cases, common.Case{Answer: a, What: what})
	}
	if strings.HasPrefix(of, "wrong run id") {
		for _, wrong := range wrongIDs(run, thread, "thread") {
			try("the run id: "+wrong.What, thread, wrong.ID)
		}
	}
	if strings.HasSuffix(of, "wrong thread id") {
		for _, wrong := range wrongIDs(thread, run, "run") {
			try("the thread id: "+wrong.What, wrong.ID, run)
		}
	}
	if len(w.scene.Cases) == 0 {
		return outcome.Inapplicable("ids that do not exist",
			"the target serves each wrong id: what looks like another one may exist")
	}
	return nil
}

// eachIsError wants an HTTP error status; which one is not shown.
func (w *World) eachIsError() error {
	return w.scene.EachCase(func(c common.Case) error {
		if c.Answer.Status >= http.StatusBadRequest {
			return nil
		}
		return c.Violates("a status of 400 or above").SameAs("the request is answered with an HTTP error status")
	})
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
		return outcome.Violated(a, "the run "+w.current.ID, "%s", outcome.Seen(a)).At("/run_id").
			Comparing(a, w.current.Answer)
	}
	return nil
}
