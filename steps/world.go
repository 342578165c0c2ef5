package steps

import (
	"context"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/steps/client"
)

// World is what one scenario knows: the run it is part of, and what its sentences have brought about so far. Each
// scenario has its own, so nothing in it is shared.
type World struct {
	run      *run
	scenario *features.Scenario

	// The control plane's part.
	deployment *deployment      // the one that the sentences speak of
	other      *deployment      // a second one, where a sentence speaks of "another deployment"
	revision   string           // the id of the revision that the sentences speak of
	before     *snapshot        // how the deployment was before the client acted
	asker      asker            // who asks
	kind       string           // of the update that the client sent
	answer     *client.Answer   // the last answer
	answers    []*client.Answer // all answers of the last act, where it had several
	subject    []string         // what the last act was about: ids, statuses or values
	lists      []wholeList      // whole lists of revisions that the last act read
	polled     *history         // what polling saw

	// The agent server's part.
	agentWorld

	note string   // what a scenario that passes wants to have said
	undo []func() // what is to be done at its end, in reverse
}

// atEnd has f called when the scenario ends, whatever its verdict.
func (w *World) atEnd(f func()) { w.undo = append(w.undo, f) }

// noted adds a remark to a scenario that passes: something tolerated.
func (w *World) noted(remark string) {
	if w.note != "" {
		remark = w.note + "; " + remark
	}
	w.note = remark
}

// define writes down what every sentence means for this world.
func (w *World) define(b *book) {
	w.defineAccess(b)
	w.defineCreate(b)
	w.defineTag(b)
	w.defineRetrieve(b)
	w.defineMoments(b)
	w.defineLifecycle(b)
	w.defineUpdate(b)
	w.defineList(b)
	w.defineFilter(b)
	w.defineErrors(b)
	w.defineAgent(b)
}

// last returns the last answer. That there is none is a mistake in the feature.
func (w *World) last() (*client.Answer, error) {
	if w.answer == nil {
		return nil, inconclusive("the suite itself failed here: the scenario judges an answer that it has not asked for")
	}
	return w.answer, nil
}

// do sends a request and remembers its answer.
func (w *World) do(ctx context.Context, r client.Request) (*client.Answer, error) {
	a, err := w.run.client.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	w.answer = a
	return a, nil
}
