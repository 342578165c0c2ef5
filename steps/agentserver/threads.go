package agentserver

import (
	"context"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// threads holds the sentences about threads and their list.
type threads struct{ *World }

// define holds the sentences about threads and their list (section 4).
func (w *threads) define(r *common.Definitions) {
	r.Given(`a thread of the user`, w.aThread)
	r.Given(`another thread of the user`, w.anotherThread)
	r.When(`the user creates a thread`, w.userCreatesThread)
	r.When(`the user creates two threads`, w.userCreatesTwoThreads)
	r.When(`(the user|a studio user) lists the threads`, w.callerLists)
	r.Then(`the answer holds a "thread_id"`, w.answerHoldsThread)
	r.Then(`their ids are distinct`, w.threadsDiffer)
	r.Then(`the list holds the thread`, w.listHoldsThread)
}

func (w *threads) anotherThread(ctx context.Context) error {
	t, err := w.server.NewThread(ctx, w.owner())
	w.threads = append(w.threads, t)
	return err
}

func (w *threads) userCreatesThread(ctx context.Context) error { return w.createThread(ctx, nil) }

func (w *threads) userCreatesTwoThreads(ctx context.Context) error {
	for range 2 {
		if err := w.createThread(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func (w *threads) callerLists(ctx context.Context, name string) error {
	who := w.owner()
	if name != target.TheUser {
		var err error
		if who, err = w.callerNamed(ctx, name); err != nil {
			return err
		}
	}
	if w.thread == nil {
		return w.listed.ReadUntil(ctx, w.server, who, nil, showing(nil))
	}
	var err error
	w.thread, err = w.listed.ReadNewest(ctx, w.server, who, w.thread, w.newThread)
	return err
}

// newThread makes a newer thread, for a list that may be a page.
func (w *threads) newThread(ctx context.Context) (*agent.Thread, error) {
	return w.server.NewThread(ctx, w.owner())
}

// answerHoldsThread and answerHoldsRun want a non-empty id; its JSON type is judged by the contract.
func (w *threads) answerHoldsThread(ctx context.Context) error {
	return w.answerHoldsID(ctx, "thread_id")
}

func (w *threads) threadsDiffer() error {
	first, second := w.threads[0], w.threads[1]
	for _, t := range w.threads {
		if t.ID == "" {
			return outcome.Blocked("no thread was created: %s", outcome.Seen(t.Answer))
		}
	}
	if first.ID == second.ID {
		return outcome.Violated(second.Answer, "two distinct thread_id values", "%s twice", first.ID).At("/thread_id").Comparing(second.Answer, first.Answer)
	}
	return nil
}
