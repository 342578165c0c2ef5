package agentserver

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// longerHold is beyond after which a proxy in front of an agent server may cut off a join, and short enough for every run
// of the suite.
const longerHold = 1200 * time.Millisecond

// runs holds the sentences about runs and joins (sections 4 and 7).
type runs struct{ *World }

func (w *runs) define(r *common.Definitions) {
	r.Given(`a completed run`, w.aCompletedRun)
	r.Given(`a completed run on a new thread`, w.afterPlainRuns(w.anOwnCompletedRun))
	r.Given(`a run in progress`, w.aRunInProgress)
	r.Given(`a run whose graph raises an error`, w.aFailingRun)
	r.When(`the user starts a run`, w.userStarts)
	r.When(`the user starts a long run`, w.userStartsLong)
	r.When(`the user starts a long run, and joins it`, w.userStartsLongAndJoins)
	r.When(`the user starts a longer run, and joins it`, func(ctx context.Context) error {
		w.wanted = longerHold
		return w.userStartsLongAndJoins(ctx)
	})
	r.When(`the user starts a run on an unknown thread`, w.userStartsOnUnknownThread)
	r.When(`the user tries to start a run of (an unknown assistant_id|the assistant_id with one more character)`, w.userStartsUnknownGraph)
	r.When(`the user tries to start a run with (.+)`, w.userStartsWithMistake)
	r.When(`the user's next run on the thread completes`, w.nextRunCompletes)
	r.When(`the user retrieves (the run|an unknown run of the thread|the run under (?:an unknown|the other) thread)`, w.userRetrieves)
	r.When(`the user joins the run`, w.userJoins)
	r.When(`the user joins (an unknown run of the thread|the run under (?:an unknown|the other) thread)`, w.joinMistaken)
	// it is blocked where the run is refused because the server does not know the assistant.
	r.Then(`the answer holds a "run_id"`, func(ctx context.Context) error {
		return outcome.Unless(ctx, w.answerHoldsID("run_id"), w.server.KnowsAssistant)
	})
	r.Then(`the answer comes before the end of the run`, w.acceptedInTime)
	r.Then(`the answer has the "run_id" of that run`, w.answerIsRun)
	r.Then(`the request is answered with an HTTP error status`, func() error {
		return outcome.Want(w.scene.Answer.Status >= 400, w.scene.Answer, "a status of 400 or above")
	})
	r.Then(`the join is answered with any status`, w.joinIsAnswered)
	r.Then(`the join is answered with 2xx`, w.joinAnswers)
	r.Then(`the join is answered with 2xx at once`, w.joinAnswersAtOnce)
	r.Then(`the join does not return before the end of the run`, w.joinNotEarly)
}

func (w *runs) aCompletedRun(ctx context.Context) error {
	g, err := w.server.CompletedRun(ctx)
	if err != nil {
		return err
	}
	w.speakOf(g)
	return w.server.Understood(ctx, agent.Echo)
}

// anOwnCompletedRun is on a thread that this scenario alone uses. Its messages are going to be compared, so plain
// runs have to leave theirs.
func (w *runs) anOwnCompletedRun(ctx context.Context) error {
	if err := w.aThread(ctx); err != nil {
		return err
	}
	if err := w.nextRunCompletes(ctx); err != nil {
		return err
	}
	return agent.HoldsOnly(w.scene.Answer, w.current)
}

func (w *runs) aFailingRun(ctx context.Context) error {
	if err := w.aThread(ctx); err != nil {
		return err
	}
	g, err := w.server.Start(ctx, w.thread, agent.Order{Words: agent.Fail, Waits: true})
	w.current = g
	return err
}

func (w *runs) userStarts(ctx context.Context) error {
	g, err := w.server.Post(ctx, w.owner(), w.thread, agent.Order{})
	if err != nil {
		return err
	}
	w.current, w.scene.Answer = g, g.Answer
	return nil
}

// userStartsLong tries again with more time where the answer came so late that the run may have been over.
func (w *runs) userStartsLong(ctx context.Context) error {
	for range agent.Attempts {
		if err := w.startLong(ctx); err != nil {
			return err
		}
		if w.current.Answered().Before(w.current.NotOverBefore()) {
			return nil
		}
		w.wanted = agent.Longer(w.current.Order.Hold, w.current.Answer.Took)
	}
	return nil
}

func (w *runs) startLong(ctx context.Context) error {
	if err := w.aThread(ctx); err != nil {
		return outcome.AsPrecondition(err)
	}
	g, err := w.server.Post(ctx, w.owner(), w.thread, agent.Order{Waits: true, Hold: w.wanted})
	if err != nil {
		return err
	}
	w.current, w.scene.Answer = g, g.Answer
	return outcome.AsPrecondition(g.Accepted())
}

// userStartsLongAndJoins joins while the run is in progress. A join that has not answered long after the run was
// seen to be complete is not waited for any longer.
func (w *runs) userStartsLongAndJoins(ctx context.Context) error {
	for range agent.Attempts {
		if err := w.startLong(ctx); err != nil {
			return outcome.AsPrecondition(err)
		}
		g := w.current
		w.joined = w.server.JoinNow(ctx, g)
		w.scene.AtEnd(w.joined.Leave)
		if err := w.joined.OrUntil(ctx, g.Answered().Add(g.Order.Hold+w.agents.Patience())); err != nil {
			return err
		}
		if !w.joined.Over() {
			if err := w.waitBesideJoin(ctx); err != nil {
				return err
			}
		}
		if w.joined.Sent().Before(g.NotOverBefore()) {
			return nil
		}
		w.wanted = agent.Longer(g.Order.Hold, w.joined.Sent().Sub(g.Answer.Sent))
	}
	return outcome.Inconclusive("the target was too slow to join a run while it was in progress, in %d attempts", agent.Attempts)
}

func (w *runs) waitBesideJoin(ctx context.Context) error {
	limit := w.current.Answered().Add(w.current.Order.Hold + w.target.Config.Timeouts.Run)
	_, seen, err := w.server.ReadState(ctx, w.thread, limit, func(a *client.Answer) bool {
		return w.joined.Over() || w.current.CompleteIn(a)
	})
	if err != nil {
		return err
	}
	if !seen {
		if err := w.server.StillQueued(ctx, w.current); err != nil {
			return err
		}
	}
	return w.joined.OrUntil(ctx, time.Now().Add(w.target.Config.Timeouts.Request))
}

func (w *runs) userStartsOnUnknownThread(ctx context.Context) error {
	g, err := w.server.TryPost(ctx, w.owner(), &agent.Thread{ID: target.UnknownID(), Owner: w.owner()}, agent.Order{})
	if err == nil {
		w.scene.Answer = g.Answer
	}
	return err
}

// startRaw sends the body as it is for a run on the thread.
func (w *runs) startRaw(ctx context.Context, body any, wrong bool) error {
	request := w.target.ToAgent(w.server.Base, w.owner(), http.MethodPost, agent.RunsPath(w.thread.ID), body)
	request.Wrong = wrong
	a, err := w.target.Client.Do(ctx, request)
	if err == nil {
		w.scene.Answer = a
	}
	return err
}

func (w *runs) userStartsUnknownGraph(ctx context.Context, which string) error {
	w.foreign = w.agents.Text(agent.Order{})
	id := "agentconform-" + target.UnknownID()
	if which != "an unknown assistant_id" {
		id = w.target.Config.AssistantID + "x"
	}
	return w.startRaw(ctx, map[string]any{"assistant_id": id, "input": agent.Input([]string{w.foreign})}, false)
}

func (w *runs) userStartsWithMistake(ctx context.Context, mistake string) error {
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
	return w.startRaw(ctx, sent, true)
}

func (w *runs) userRetrieves(ctx context.Context, which string) (err error) {
	w.scene.Answer, err = w.server.GetRun(ctx, w.owner(), w.runNamed(which))
	return err
}

// runNamed is a run as the sentences name it: the current one, one that does not exist, or the current one under a thread that is not its
// own.
func (w *runs) runNamed(which string) *agent.GraphRun {
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

func (w *runs) joinMistaken(ctx context.Context, which string) (err error) {
	w.scene.Answer, err = w.joinWrong(ctx, w.owner(), w.runNamed(which))
	return err
}

// joinWrong joins a run that does not exist there. Where no join is answered, that is another requirement's concern.
func (w *World) joinWrong(ctx context.Context, who target.Caller, g *agent.GraphRun) (*client.Answer, error) {
	a, err := w.server.JoinCompleted(ctx, who, g)
	if err != nil {
		return nil, outcome.Unless(ctx, err, w.server.JoinsAnswer)
	}
	return a, nil
}

// userJoins gives the answer the time that any answer may take. A run that may still be queued gets that of a run.
func (w *runs) userJoins(ctx context.Context) (err error) {
	if w.current.Complete || w.current.Joined {
		w.scene.Answer, err = w.server.JoinCompleted(ctx, w.owner(), w.current)
		return err
	}
	w.joined = w.server.JoinNow(ctx, w.current)
	w.scene.AtEnd(w.joined.Leave)
	end := w.current.Answered().Add(w.current.Order.Hold)
	if err := w.joined.OrUntil(ctx, end.Add(w.target.Config.Timeouts.Request)); err != nil {
		return err
	}
	if !w.joined.Over() {
		if err := w.server.JoinsAnswer(ctx); err != nil {
			return err
		}
	}
	if err := w.joined.OrUntil(ctx, end.Add(2*w.target.Config.Timeouts.Run)); err != nil { // its own limit comes first
		return err
	}
	switch {
	case w.joined.Unanswered():
		return w.server.StillQueued(ctx, w.current)
	case w.joined.Err == nil:
		w.scene.Answer = w.joined.Answer
	}
	return nil
}

func (w *runs) acceptedInTime(ctx context.Context) error {
	g := w.current
	if g.Answered().Before(g.NotOverBefore()) {
		return nil
	}
	if w.tooSlowFor(ctx, g, g.Order.Hold) {
		return outcome.Inconclusive("the target is too slow to judge whether the answer waited for the run")
	}
	return outcome.Violated(g.Answer, "an answer while the run is in progress", "an answer after %s, for a run of %s", g.Answer.Took.Round(time.Millisecond), g.Order.Hold)
}

func (w *runs) answerIsRun() error {
	a := w.scene.Answer
	if err := validIsServed(a); err != nil {
		return err
	}
	if id := a.Get("run_id"); !a.OK() || id.String() != w.current.ID {
		return outcome.Violated(a, "the run "+w.current.ID, "%s", outcome.Seen(a)).At("/run_id").Comparing(a, w.current.Answer)
	}
	return nil
}

func (w *runs) joinAnswers() error {
	if err := w.joinIsAnswered(); err != nil {
		return err
	}
	return joined(w.joined.Answer)
}

// joinIsAnswered holds whatever the answer says.
func (w *runs) joinIsAnswered() error {
	if !w.joined.Over() {
		return outcome.Violated(w.current.Answer, "an answer to the join after the run has completed", "no answer %s after the start of the run", time.Since(w.current.Answer.Sent).Round(time.Millisecond))
	}
	return w.joined.Err
}

// joined says what is wrong with the answer to a join of the user's own run.
func joined(a *client.Answer) error {
	if err := validIsServed(a); err != nil {
		return err
	}
	return outcome.Want(a.OK(), a, "status 2xx to the join")
}

// joinNotEarly allows for a clock that is a little off.
func (w *runs) joinNotEarly() error {
	if !w.joined.Over() {
		return outcome.Inconclusive("the join was not answered, so it cannot be judged whether it was answered early")
	}
	g := w.current
	if took := w.joined.Ended.Sub(g.Answer.Sent); took < g.Order.Hold*19/20 {
		return outcome.Violated(w.joined.Answer, "an answer after the end of the run", "an answer %s after the start of a run of %s", took.Round(time.Millisecond), g.Order.Hold)
	}
	return nil
}

// joinAnswersAtOnce gives a target that was busy for a moment another chance.
func (w *runs) joinAnswersAtOnce(ctx context.Context) error {
	limit := w.agents.Prompt()
	for attempt := 1; ; attempt++ {
		a := w.scene.Answer
		if a == nil {
			return w.joinIsAnswered()
		}
		if err := joined(a); err != nil {
			return err
		}
		switch {
		case a.Took <= limit:
			return nil
		case attempt == agent.Attempts:
			return outcome.Violated(a, "an answer within "+limit.String(), "an answer after %s", a.Took.Round(time.Millisecond))
		}
		if err := w.userJoins(ctx); err != nil {
			return err
		}
	}
}
