package agentserver

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// runs has the state that the steps about runs share.
type runs struct {
	*World
	other *agent.Thread // "the other thread"
}

// define registers the steps about runs (sections 4 and 7).
func (w *runs) define(r *common.Definitions) {
	r.Given(`a completed run`, w.useCompletedRun)
	r.Given(`a completed run on a new thread`, w.completeOwnRun)
	r.Given(`a run in progress( on a new thread| that has started)?`, w.startInProgress)
	r.Given(`a run whose graph raises an error`, w.startFailingRun)
	r.Given(`another thread of the user`, w.createOther)
	r.Given(`the user was refused a run with rollback and (.+) on it`, w.requireRefusedMistake)
	r.When(`the user starts a run`, func(ctx context.Context) error { return w.post(ctx, agent.Order{}) })
	r.When(`the user starts a run with the same input`, func(ctx context.Context) error {
		return w.post(ctx, agent.Order{Text: w.current.Text()})
	})
	r.When(`the user starts a long run`, w.userStartsLong)
	r.When(`the user starts a run on an unknown thread`, func(ctx context.Context) error {
		return w.tryRun(ctx, w.owner(), &agent.Thread{ID: target.UnknownID(), Owner: w.owner()}, agent.Order{})
	})
	r.When(`the user tries to start (a run of (?:an unknown assistant_id|the assistant_id with one more character))`,
		func(ctx context.Context, name string) error {
			return w.tryRun(ctx, w.owner(), w.thread, w.orderOf(name))
		})
	r.When(`the user tries to start a run with (.+)`, w.userStartsWithMistake)
	r.When(`the user's next run on the thread(, with rollback,)? completes`, func(ctx context.Context, how string) error {
		return w.nextRun(ctx, w.orderOf(how))
	})
	r.When(`the user (retrieve)s (the run)`, w.userSends)
	r.When(`the user (retrieve|join)s (an unknown run .+|the run under (?:an unknown|the other) thread)`, w.userSends)
	r.When(`the user (retrieve|join)s the run by each (wrong run id(?: and under each wrong thread id)?)`, w.sendWithWrongIDs)
	r.When(`the user retrieves the run by its id in each other spelling`, w.userRetrievesByForms)
	r.When(`the user (retrieve)s the run under each (wrong thread id)`, w.sendWithWrongIDs)
	r.When(`the user (read)s the state of each (wrong thread id)`, w.sendWithWrongIDs)
	r.When(`the user (start)s a run under each (wrong thread id)`, w.sendWithWrongIDs)
	// It blocks if the server refuses the run because it does not know the assistant.
	r.Then(`the response has a "run_id"`, func(ctx context.Context) error {
		return outcome.Unless(ctx, w.hasID("run_id"), w.server.KnowsAssistant)
	})
	r.Then(`its run_id differs from that of the earlier run`, func() error {
		return judge.RunsDiffer(w.kept[0].Value(), w.current.Value())
	})
	r.Then(`the response comes before the end of the run`, w.acceptedInTime)
	r.Then(`the response has the "run_id" of that run`, func() error {
		return judge.IsRun(w.scene.Response, w.current.Value())
	})
	r.Then(`(?:the request|each of these requests) returns an HTTP error status`, w.eachIsError)
	r.Then(`each response is the run, or has an HTTP error status`, func() error {
		return w.scene.EachCase(func(c common.Case) error { return judge.IsRunOrError(c.Response, c.What, w.current.ID) })
	})
}

func (w *runs) useCompletedRun(ctx context.Context) error {
	g, err := w.server.CompletedRun(ctx)
	if err != nil {
		return err
	}
	w.setRun(g)
	return w.server.Understood(ctx)
}

// completeOwnRun completes a run on a thread that no other scenario uses. The scenario compares messages, so it blocks if
// plain runs do not write theirs.
func (w *runs) completeOwnRun(ctx context.Context) error {
	if err := w.server.PlainRunsWork(ctx); err != nil {
		return err
	}
	if err := w.onNewThread(ctx); err != nil {
		return err
	}
	if err := w.nextRun(ctx, agent.Order{}); err != nil {
		return err
	}
	return agent.HoldsOnly(w.scene.Response, w.current)
}

func (w *runs) startFailingRun(ctx context.Context) error {
	if err := w.onNewThread(ctx); err != nil {
		return err
	}
	g, err := w.server.Start(ctx, w.thread, agent.Order{Words: agent.Fail, Waits: true})
	if err != nil {
		return err
	}
	w.current = g
	return nil
}

// startInProgress starts a run that stays in progress. It blocks if the scenario compares messages and plain runs do
// not work.
func (w *runs) startInProgress(ctx context.Context, which string) error {
	moment := agent.JustStarted
	if which == " that has started" {
		moment = agent.HasStarted
	}
	if which != "" {
		if err := w.server.PlainRunsWork(ctx); err != nil {
			return err
		}
	}
	return w.prepare(ctx, func(ctx context.Context) error {
		p, err := w.server.InProgress(ctx, moment, w.wanted)
		if err != nil {
			return err
		}
		w.prior = p
		w.setRun(p.GraphRun)
		return nil
	})
}

func (w *runs) createOther(ctx context.Context) (err error) {
	w.other, err = w.server.NewThread(ctx, w.owner())
	return err
}

// post starts a run of the user on the thread. A later step judges the response.
func (w *World) post(ctx context.Context, o agent.Order) error {
	g, err := w.server.Post(ctx, w.thread, o)
	if err != nil {
		return err
	}
	w.current, w.scene.Response = g, g.Response
	return nil
}

func (w *World) tryRun(ctx context.Context, who target.Caller, t *agent.Thread, o agent.Order) error {
	g, err := w.server.TryPost(ctx, who, t, o)
	if err != nil {
		return err
	}
	w.scene.Response, w.refusedText = g.Response, g.Text()
	return nil
}

// userStartsLong starts a run that waits. If the response came so late that the run may have ended, it tries again with a
// longer run.
func (w *runs) userStartsLong(ctx context.Context) error {
	_, err := w.race(ctx, func(ctx context.Context) (bool, error) {
		if err := w.startLong(ctx); err != nil {
			return false, err
		}
		w.wanted = agent.Longer(w.current.Order.Hold, w.current.Response.Took)
		return w.current.Responded().Before(w.current.NotOverBefore()), nil
	})
	return err
}

func (w *World) startLong(ctx context.Context) error {
	if err := w.onNewThread(ctx); err != nil {
		return err
	}
	if err := w.post(ctx, agent.Order{Waits: true, Hold: w.wanted}); err != nil {
		return err
	}
	return outcome.AsPrecondition(w.current.Accepted())
}

func (w *runs) userStartsWithMistake(ctx context.Context, mistake string) error {
	a, err := w.postMistake(ctx, mistake, nil)
	if err != nil {
		return err
	}
	w.scene.Response, w.scene.Cases = a, []common.Case{{Response: a, What: mistake}}
	return nil
}

// postMistake posts a run with the mistake that the step names, and with additional members.
func (w *runs) postMistake(ctx context.Context, mistake string, more map[string]any) (*exchange.Response, error) {
	input := agent.Input([]string{w.target.Name("word")})
	whole := map[string]any{"assistant_id": w.target.Config.AssistantID, "input": input}
	maps.Copy(whole, more)
	with := func(key string, value any) any { return plane.Changed(whole, map[string]any{key: value}) }
	sent, known := map[string]any{
		"a body that is not valid JSON":    []byte(`{"assistant_id": `),
		"an array in place of the object":  []any{whole},
		"null in place of the object":      []byte("null"),
		"no body":                          []byte{},
		"an unknown assistant_id":          with("assistant_id", "agentconform-"+target.UnknownID()),
		"no assistant_id":                  with("assistant_id", nil),
		"a number as assistant_id":         with("assistant_id", 42),
		"an empty assistant_id":            with("assistant_id", ""),
		"a number as multitask_strategy":   with("multitask_strategy", 42),
		"an unknown multitask_strategy":    with("multitask_strategy", "agentconform-unknown"),
		"a number as input":                with("input", 42),
		"a lone surrogate in assistant_id": target.WithSurrogate(with("assistant_id", target.SurrogateHere)),
		"an unknown assistant_id, and a lone surrogate in a message": target.WithSurrogate(map[string]any{
			"assistant_id": "agentconform-" + target.UnknownID(), "input": agent.Input([]string{"before " + target.SurrogateHere})}),
	}[mistake]
	if !known {
		return nil, errors.New("no mistake is called " + mistake)
	}
	request := w.target.ToAgent(w.server.Base, w.owner(), http.MethodPost, agent.RunsPath(w.thread.ID), sent)
	request.Wrong = mistake != "an unknown assistant_id" // a request with an unknown assistant_id does not break the contract
	return w.target.Client.Do(ctx, request)
}

// requireRefusedMistake posts a run with rollback and a mistake while a run is in progress. It blocks if the server
// does not refuse the request.
func (w *runs) requireRefusedMistake(ctx context.Context, mistake string) error {
	inTime, err := w.race(ctx, func(ctx context.Context) (bool, error) {
		a, err := w.postMistake(ctx, mistake, map[string]any{"multitask_strategy": agent.RollbackStrategy})
		if err != nil {
			return false, err
		}
		w.scene.Response = a
		w.kept = []*agent.GraphRun{w.current}
		return a.Ended().Before(w.prior.Until()), nil
	})
	if err != nil {
		return err
	}
	a := w.scene.Response
	switch {
	case a.Status < 400:
		return outcome.Inapplicable("refused runs", "the target accepts a run with %s: %s", mistake, outcome.Seen(a))
	case !inTime:
		return outcome.Inconclusive("in %d attempts the run in progress ended before the server refused the request; "+
			"increase agent.hold", agent.Attempts)
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
		err := w.tryRun(ctx, who, g.Thread, agent.Order{})
		return w.scene.Response, err
	}
	return w.server.State(ctx, who, g.Thread)
}

func (w *runs) userSends(ctx context.Context, verb, which string) error {
	a, err := w.ask(ctx, w.owner(), verb, w.runNamed(which))
	if err != nil {
		return err
	}
	w.scene.Response = a
	return nil
}

// runNamed returns the run that a step names.
func (w *runs) runNamed(which string) *agent.GraphRun {
	unknown := target.UnknownID()
	switch which {
	case "an unknown run of the thread":
		return &agent.GraphRun{ID: unknown, Thread: w.thread}
	case "the run under an unknown thread":
		return &agent.GraphRun{ID: w.current.ID, Thread: &agent.Thread{ID: unknown}}
	case "the run under the other thread":
		return &agent.GraphRun{ID: w.current.ID, Thread: w.other}
	}
	return w.current
}

// wrongIDs returns a text that is not an id, and ids that are similar to the given one. If no run is started with them,
// it also returns constant ids. These are not used to start runs, because a server may create a thread for a run, and a
// later test run would find it.
func wrongIDs(verb, id, other, kind string) []common.Case {
	text := common.Case{ID: "agentconform-" + target.UnknownID(), What: "a text that is no UUID"}
	all := append([]common.Case{text}, common.NearIDs(id, other, kind)...)
	if verb == "start" {
		return all
	}
	return append(all, common.NilID, common.Case{ID: "1-1-1-1-1", What: "numbers with dashes"})
}

// sendWithWrongIDs sends requests with one wrong id in their path. Before it starts a run under a wrong thread id, it
// reads the state under that id, and omits the run if the thread exists.
func (w *runs) sendWithWrongIDs(ctx context.Context, verb, of string) error {
	run, thread := w.current.ID, w.thread.ID
	if strings.HasPrefix(of, "wrong run id") {
		for _, wrong := range wrongIDs(verb, run, thread, "thread") {
			if err := w.sendWithWrongID(ctx, verb, wrong.What+" as run id", thread, wrong.ID); err != nil {
				return err
			}
		}
	}
	if strings.HasSuffix(of, "wrong thread id") {
		for _, wrong := range wrongIDs(verb, thread, run, "run") {
			if err := w.sendWithWrongID(ctx, verb, wrong.What+" as thread id", wrong.ID, run); err != nil {
				return err
			}
		}
	}
	if len(w.scene.Cases) == 0 {
		return outcome.Inapplicable("ids that do not exist",
			"the target serves each wrong id: what looks like another one may exist")
	}
	return nil
}

func (w *runs) sendWithWrongID(ctx context.Context, verb, what, thread, run string) error {
	g := &agent.GraphRun{ID: run, Thread: &agent.Thread{ID: thread, Owner: w.owner()}}
	if verb == "start" {
		state, err := w.ask(ctx, w.owner(), "read", g)
		if err != nil {
			return err
		}
		if state.Status < http.StatusBadRequest {
			return nil
		}
	}
	a, err := w.ask(ctx, w.owner(), verb, g)
	if err != nil {
		return err
	}
	w.scene.Cases = append(w.scene.Cases, common.Case{Response: a, What: what})
	return nil
}

// userRetrievesByForms retrieves the run by each other form of its id.
func (w *runs) userRetrievesByForms(ctx context.Context) error {
	forms := exchange.FormsOf(w.current.ID)
	if len(forms) == 0 {
		return outcome.Inapplicable("ids that are UUIDs", "the id %q is not a UUID", w.current.ID)
	}
	for _, f := range forms {
		path := agent.RunsPath(w.thread.ID) + "/" + url.PathEscape(f.ID)
		request := w.target.ToAgent(w.server.Base, w.owner(), http.MethodGet, path, nil)
		request.Wrong = true // only what the response shows is judged
		a, err := w.target.Client.Do(ctx, request)
		if err != nil {
			return err
		}
		w.scene.Cases = append(w.scene.Cases, common.Case{Response: a, What: "the id " + f.Name})
	}
	return nil
}

func (w *runs) eachIsError() error {
	return w.scene.EachCase(func(c common.Case) error { return judge.IsError(c.Response, c.What) })
}

func (w *runs) acceptedInTime() error {
	return judge.RunIsAcceptedInTime(w.current.Value(), w.current.NotOverBefore())
}
