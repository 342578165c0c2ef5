package agentserver

import (
	"bytes"
	"context"
	"time"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/messages"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// otherJoinsInTime gives the run more time where the answer came after its end: it may be slow, and not wait.
func (w *callers) otherJoinsInTime(ctx context.Context, operation string) error {
	return w.race(ctx, func(ctx context.Context) (bool, error) {
		if err := w.callerTries(ctx, target.TheOtherUser, operation); err != nil {
			return false, err
		}
		w.wanted = w.prior.AfterLoss()
		return w.joinDoesNotWait() == nil, nil
	})
}

func (w *callers) joinDoesNotWait() error {
	a, end := w.scene.Answer, w.prior.Until
	switch {
	case a.Status >= 400 || a.Sent.Add(a.Took).Before(end):
		return nil
	case !a.Sent.Before(end) || w.prior.TooShort():
		return outcome.Inconclusive("the target is too slow to judge whether the join waited for the run")
	}
	return outcome.Violated(a, "an HTTP error status, or an answer before the end of the run", "an answer after %s, for a run of %s",
		a.Took.Round(time.Millisecond), w.prior.Order.Hold)
}

// holdsNothingOfRun takes the answer that the join of an unknown run gets too for one that holds nothing: servers in the field
// answer the join of a run that they do not find with 200 and an error.
func (w *callers) holdsNothingOfRun(ctx context.Context) error {
	a := w.scene.Answer
	if !messages.ContainsText(a, w.current.Text()) {
		if a.Status >= 400 || saysNothing(a) {
			return nil
		}
		unknown := unlike(w.joins.ID)
		other, err := w.server.JoinCompleted(ctx, w.who, &agent.GraphRun{ID: unknown, Thread: w.joins.Thread})
		if err != nil || bytes.Equal(bytes.ReplaceAll(a.Body, []byte(w.joins.ID), []byte(unknown)), other.Body) {
			return err
		}
	}
	return outcome.Violated(a, "an HTTP error status, or nothing of the run", "%s", outcome.Seen(a))
}

// saysNothing tells whether the body is empty, null, or an object that is empty or has only an error.
func saysNothing(a *client.Answer) bool {
	body := bytes.TrimSpace(a.Body)
	if len(body) == 0 || string(body) == "null" {
		return true
	}
	members := a.Get("@this").Map()
	delete(members, "__error__")
	return a.Get("@this").IsObject() && len(members) == 0
}

// joinIsRefused leaves an answer that tells of the run to the requirement about that.
func (w *callers) joinIsRefused(ctx context.Context) error {
	if a := w.scene.Answer; a.Status < 400 {
		return outcome.Unless(ctx, outcome.Violated(a, "a status of 400 or above", "%s", outcome.Seen(a)), w.holdsNothingOfRun)
	}
	return nil
}
