package steps

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
)

// defineRuns holds the sentences about runs and joins (sections 4 and 7).
func (w *World) defineRuns(b *book) {
	b.given(`a completed run`, w.aCompletedRun)
	b.given(`a completed run on a thread of its own`, w.anOwnCompletedRun)
	b.given(`a run in progress`, w.aRunInProgress)
	b.given(`a run that fails`, w.aFailingRun)
	b.when(`the user starts a run`, w.userStarts)
	b.when(`the user starts a run that takes a while`, w.userStartsLong)
	b.when(`the user starts a run that takes a while, and joins it`, w.userStartsLongAndJoins)
	b.when(`the user starts a run that takes longer, and joins it`, w.userStartsLongerAndJoins)
	b.when(`the user starts a run on an unknown thread`, w.userStartsOnUnknownThread)
	b.when(`the user tries to start a run of an unknown graph`, w.userStartsUnknownGraph)
	b.when(`the user tries to start a run with (.+)`, w.userStartsWithMistake)
	b.when(`the user's next run on the thread completes`, w.nextRunCompletes)
	b.when(`the user retrieves the run`, w.userRetrievesRun)
	b.when(`the user retrieves an unknown run of the thread`, w.userRetrievesUnknownRun)
	b.when(`the user retrieves the run under (an unknown|the other) thread`, w.userRetrievesRunElsewhere)
	b.when(`the user joins the run`, w.userJoins)
	b.then(`the answer holds the id of a run`, w.answerHoldsRun)
	b.then(`it is accepted before its time is over`, w.acceptedInTime)
	b.then(`the answer is that run`, w.answerIsRun)
	b.then(`the answer is an error status`, w.isErrorStatus)
	b.then(`the join is answered`, w.joinIsAnswered)
	b.then(`the join answers`, w.joinAnswers)
	b.then(`the join answers at once`, w.joinAnswersAtOnce)
	b.then(`not before the run's time is over`, w.joinNotEarly)
}

func (w *World) aCompletedRun(ctx context.Context) error {
	g, err := w.agent.aQuietRun(ctx)
	if err == nil {
		w.speakOf(g)
	}
	return err
}

// speakOf makes a run the one that the sentences speak of.
func (w *World) speakOf(g *graphRun) { w.current, w.thread = g, g.thread }

// anOwnCompletedRun is on a thread that this scenario alone uses. Its messages are going to be compared, so plain
// runs have to leave theirs.
func (w *World) anOwnCompletedRun(ctx context.Context) error {
	if err := w.agent.plainRunsWork(ctx); err != nil {
		return err
	}
	if err := w.aThread(ctx); err != nil {
		return err
	}
	if err := w.nextRunCompletes(ctx); err != nil {
		return err
	}
	return holdsOnly(w.answer, w.current)
}

func (w *World) aRunInProgress(ctx context.Context) error {
	return w.prepare(ctx, func(ctx context.Context, attempt int) error {
		p, err := w.agent.inProgress(ctx, justStarted, attempt, w.wanted)
		if err == nil {
			w.prior = p
			w.speakOf(p.graphRun)
		}
		return err
	})
}

// prepare brings a precondition about that a race may use up. A sentence that loses its race has it brought about
// again, with more time.
func (w *World) prepare(ctx context.Context, f func(ctx context.Context, attempt int) error) error {
	w.prepared = append(w.prepared, f)
	return f(ctx, 0)
}

// race acts until the race is won, at most a few times.
func (w *World) race(ctx context.Context, act func(ctx context.Context) (won bool, err error)) error {
	for attempt := range attempts {
		for _, f := range w.prepared {
			if attempt == 0 {
				break
			}
			if err := f(ctx, attempt); err != nil {
				return asPrecondition(err)
			}
		}
		if won, err := act(ctx); won || err != nil {
			return err
		}
	}
	return nil
}

// asPrecondition gives what went wrong while a precondition was brought about outside of its sentence the verdict
// that it would have had there.
func asPrecondition(err error) error {
	var o *outcome
	if errors.As(err, &o) && o.verdict == reports.Failed {
		return blocked("%s", o.reason)
	}
	var none *client.NoAnswer
	if errors.As(err, &none) && (none.Timeout || none.Closed) {
		return blocked("%s", none)
	}
	var busy *client.Busy
	if errors.As(err, &busy) {
		return blocked("%s", busy)
	}
	return err
}

func (w *World) aFailingRun(ctx context.Context) error {
	if err := w.aThread(ctx); err != nil {
		return err
	}
	g, err := w.agent.start(ctx, w.thread, order{words: "fail", hold: w.run.pace.hold(0)})
	w.current = g
	return err
}

func (w *World) userStarts(ctx context.Context) error {
	g, err := w.agent.post(ctx, w.run.owner(), w.thread, order{})
	if err != nil {
		return err
	}
	w.current, w.answer = g, g.answer
	return nil
}

// userStartsLong tries again with more time where the answer came so late that the run may have been over.
func (w *World) userStartsLong(ctx context.Context) error {
	for attempt := range attempts {
		if err := w.startLong(ctx, attempt); err != nil {
			return err
		}
		if w.current.answered().Before(w.current.notOverBefore()) {
			return nil
		}
	}
	return nil
}

func (w *World) startLong(ctx context.Context, attempt int) error {
	_, _ = w.agent.aQuietRun(ctx) // tells how fast runs are here
	if err := w.aThread(ctx); err != nil {
		return asPrecondition(err)
	}
	g, err := w.agent.post(ctx, w.run.owner(), w.thread, order{hold: max(w.run.pace.hold(attempt), w.wanted)})
	if err != nil {
		return err
	}
	w.current, w.answer = g, g.answer
	return asPrecondition(g.accepted())
}

// userStartsLongAndJoins joins while the run is in progress. A join that has not answered long after the run was
// seen to be complete is not waited for any longer.
func (w *World) userStartsLongAndJoins(ctx context.Context) error {
	for attempt := range attempts {
		if err := w.startLong(ctx, attempt); err != nil {
			return asPrecondition(err)
		}
		g := w.current
		w.joined = w.agent.joinNow(ctx, g)
		w.atEnd(w.joined.leave)
		if err := w.joined.orUntil(ctx, g.answered().Add(g.order.hold+w.run.pace.patience())); err != nil {
			return err
		}
		if !w.joined.over() {
			if err := w.waitBesideJoin(ctx); err != nil {
				return err
			}
		}
		if w.joined.sent.Before(g.notOverBefore()) {
			return nil
		}
	}
	return inconclusive("the target was too slow to join a run while it was in progress, in %d attempts", attempts)
}

func (w *World) waitBesideJoin(ctx context.Context) error {
	limit := w.current.answered().Add(w.current.order.hold + w.run.config.Timeouts.Run)
	_, _, err := w.agent.readState(ctx, w.thread, limit, func(a *client.Answer) bool {
		return w.joined.over() || w.current.completeIn(a)
	})
	if err != nil {
		return err
	}
	return w.joined.orUntil(ctx, time.Now().Add(w.run.config.Timeouts.Request))
}

func (w *World) userStartsOnUnknownThread(ctx context.Context) error {
	g, err := w.agent.post(ctx, w.run.owner(), &thread{id: unknownID(), owner: w.run.owner()}, order{})
	if err == nil {
		w.answer = g.answer
	}
	return err
}

// startRaw sends a payload of its own for a run on the thread.
func (w *World) startRaw(ctx context.Context, body any, wrong bool) error {
	request := w.run.toAgent(w.agent.base, w.run.owner(), http.MethodPost, runsPath(w.thread.id), body)
	request.Wrong = wrong
	_, err := w.do(ctx, request)
	return err
}

func (w *World) userStartsUnknownGraph(ctx context.Context) error {
	w.foreign = w.run.text(order{})
	return w.startRaw(ctx, map[string]any{"assistant_id": "agentconform-" + unknownID(), "input": w.agent.input([]string{w.foreign})}, false)
}

func (w *World) userStartsWithMistake(ctx context.Context, mistake string) error {
	body := map[string]any{"assistant_id": w.run.config.AssistantID, "input": w.agent.input([]string{w.run.name("word")})}
	var sent any = body
	switch mistake {
	case "a body that is no JSON":
		sent = []byte(`{"assistant_id": `)
	case "a list in place of the object":
		sent = []any{body}
	case "no graph":
		delete(body, "assistant_id")
	case "a number as graph":
		body["assistant_id"] = 42
	case "a number as input":
		body["input"] = 42
	case "an unknown multitask strategy":
		body["multitask_strategy"] = "agentconform-unknown"
	default:
		return errors.New("no mistake is called " + mistake)
	}
	return w.startRaw(ctx, sent, true)
}

// nextRunCompletes has the user run the graph once more on the thread. A run in progress there may end first.
func (w *World) nextRunCompletes(ctx context.Context) error { return w.nextRun(ctx, order{}) }

func (w *World) nextRun(ctx context.Context, o order) error {
	if n := len(w.kept); n > 0 && !w.kept[n-1].complete {
		if _, err := w.agent.await(ctx, w.kept[n-1]); err != nil {
			return err
		}
	}
	g, err := w.agent.start(ctx, w.thread, o)
	if err != nil {
		return unless(ctx, err, w.agent.plainRunsWork)
	}
	if w.answer, err = w.agent.await(ctx, g); err != nil {
		return err
	}
	w.kept = append(w.kept, g)
	w.current = g
	return nil
}

func (w *World) userRetrievesRun(ctx context.Context) (err error) {
	w.answer, err = w.agent.getRun(ctx, w.run.owner(), w.current)
	return err
}

func (w *World) userRetrievesUnknownRun(ctx context.Context) (err error) {
	w.answer, err = w.agent.getRun(ctx, w.run.owner(), &graphRun{id: unknownID(), thread: w.thread})
	return err
}

func (w *World) userRetrievesRunElsewhere(ctx context.Context, which string) (err error) {
	elsewhere := &thread{id: unknownID()}
	if which == "the other" {
		elsewhere = w.threads[0]
	}
	w.answer, err = w.agent.getRun(ctx, w.run.owner(), &graphRun{id: w.current.id, thread: elsewhere})
	return err
}

// userJoins gives the answer the time that any answer may take. A run that may still lie in a queue gets that of a run.
func (w *World) userJoins(ctx context.Context) (err error) {
	if w.current.complete {
		w.answer, err = w.agent.joinCompleted(ctx, w.run.owner(), w.current)
		return err
	}
	w.joined = w.agent.joinNow(ctx, w.current)
	w.atEnd(w.joined.leave)
	end := w.current.answered().Add(w.current.order.hold)
	if err := w.joined.orUntil(ctx, end.Add(w.run.config.Timeouts.Request)); err != nil {
		return err
	}
	if !w.joined.over() {
		if err := w.agent.joinsAnswer(ctx); err != nil {
			return err
		}
	}
	return w.joined.orUntil(ctx, end.Add(2*w.run.config.Timeouts.Run)) // its own limit comes first
}

func (w *World) answerHoldsRun() error { return w.answerHoldsID("run_id") }

func (w *World) acceptedInTime() error {
	g := w.current
	if g.answered().Before(g.notOverBefore()) {
		return nil
	}
	if w.tooSlowFor(g) {
		return inconclusive("the target is too slow to tell whether the answer has waited for the run")
	}
	return violated(g.answer, "an answer while the run goes on", "one after %s, for a run of %s", g.answer.Took.Round(time.Millisecond), g.order.hold)
}

// tooSlowFor tells whether answers that have nothing to wait for take so long that a run's time is no measure.
func (w *World) tooSlowFor(g *graphRun) bool { return 4*w.run.pace.slowest() > g.order.hold }

func (w *World) answerIsRun() error {
	a := w.answer
	if err := validIsServed(a); err != nil {
		return err
	}
	if id := a.Get("run_id"); !a.OK() || id.String() != w.current.id {
		return violated(a, "the run "+w.current.id, "%s", seen(a)).at("/run_id")
	}
	return nil
}

func (w *World) isErrorStatus() error {
	if a := w.answer; a.Status < 400 {
		return violated(a, "an error status", "%s", seen(a))
	}
	return nil
}

func (w *World) joinAnswers() error {
	if err := w.joinIsAnswered(); err != nil {
		return err
	}
	return joined(w.joined.answer)
}

// joinIsAnswered holds whatever the answer says.
func (w *World) joinIsAnswered() error {
	if !w.joined.over() {
		return violated(w.current.answer, "an answer to the join once the run has completed", "none, %s after the run had begun", time.Since(w.current.answer.Sent).Round(time.Millisecond))
	}
	return w.joined.err
}

// joined says what is wrong with the answer to a join of the user's own run.
func joined(a *client.Answer) error {
	if a.OK() {
		return nil
	}
	if err := validIsServed(a); err != nil {
		return err
	}
	return violated(a, "an answer of success to the join", "%s", seen(a))
}

// joinNotEarly allows for a clock that is a little off.
func (w *World) joinNotEarly() error {
	if !w.joined.over() {
		return inconclusive("the join was not answered, so it was not answered early")
	}
	g := w.current
	if took := w.joined.ended.Sub(g.answer.Sent); took < g.order.hold*19/20 {
		return violated(w.joined.answer, "an answer when the run is over", "one %s after the start of a run of %s", took.Round(time.Millisecond), g.order.hold)
	}
	return nil
}

// joinAnswersAtOnce gives a target that was busy for a moment another chance.
func (w *World) joinAnswersAtOnce(ctx context.Context) error {
	limit := w.run.pace.prompt()
	for attempt := 1; ; attempt++ {
		a := w.answer
		if err := joined(a); err != nil {
			return err
		}
		switch {
		case a.Took <= limit:
			return nil
		case attempt == attempts:
			return violated(a, "an answer within "+limit.String(), "one after %s", a.Took.Round(time.Millisecond))
		}
		if err := w.userJoins(ctx); err != nil {
			return err
		}
	}
}
