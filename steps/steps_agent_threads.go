package steps

import (
	"context"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
)

// defineThreads holds the sentences about threads and their list (section 4).
func (w *World) defineThreads(b *book) {
	b.given(`a thread of the user`, w.aThread)
	b.given(`another thread of the user`, w.anotherThread)
	b.when(`the user creates a thread`, w.userCreatesThread)
	b.when(`the user creates two threads`, w.userCreatesTwoThreads)
	b.when(`(the user|a studio user) lists the threads`, w.callerLists)
	b.requires(`(a studio user) lists the threads`, w.aConfiguredCaller)
	b.then(`the answer holds the id of a thread`, w.answerHoldsThread)
	b.then(`each has an id of its own`, w.threadsDiffer)
	b.then(`the list holds the thread`, w.listHoldsThread)
}

func (w *World) aThread(ctx context.Context) (err error) {
	w.thread, err = w.agent.newThread(ctx, w.run.owner())
	return err
}

func (w *World) anotherThread(ctx context.Context) error {
	t, err := w.agent.newThread(ctx, w.run.owner())
	w.threads = append(w.threads, t)
	return err
}

func (w *World) userCreatesThread(ctx context.Context) error { return w.createThread(ctx, nil) }

// createThread creates a thread by the user. Whether that has worked is for a later sentence to judge.
func (w *World) createThread(ctx context.Context, metadata map[string]any) error {
	t, err := w.agent.createThread(ctx, w.run.owner(), metadata)
	if err != nil {
		return err
	}
	w.thread, w.answer = t, t.answer
	w.threads = append(w.threads, t)
	return nil
}

func (w *World) userCreatesTwoThreads(ctx context.Context) error {
	for range 2 {
		if err := w.createThread(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// listing is what a list of threads has shown.
type listing struct {
	rows []gjson.Result
	who  caller
}

func (w *World) listThreads(ctx context.Context, who caller, f *filter) (err error) {
	w.listed.who = who
	w.listed.rows, w.answer, err = w.agent.list(ctx, who, f)
	return err
}

// listUntil lists the threads again and again until what was to be seen is there, or the time is over: the list may learn
// of new threads late. What is no list is not asked again.
func (w *World) listUntil(ctx context.Context, who caller, f *filter, seen func(rows []gjson.Result) bool) error {
	return w.run.within(ctx, w.run.config.Timeouts.Request, func() (bool, error) {
		err := w.listThreads(ctx, who, f)
		return err == nil && (seen(w.listed.rows) || !isList(w.answer)), err
	})
}

// showing is for listUntil.
func showing(t *thread) func([]gjson.Result) bool {
	return func(rows []gjson.Result) bool { return t == nil || holds(rows, t.id) }
}

// isList tells whether an answer is a list.
func isList(a *client.Answer) bool { return a.OK() && a.Get("@this").IsArray() }

func (w *World) callerLists(ctx context.Context, name string) error {
	who := w.run.owner()
	if name != theUser {
		var err error
		if who, err = w.callerNamed(ctx, name); err != nil {
			return err
		}
	}
	return w.listUntil(ctx, who, nil, showing(w.thread))
}

// answerHoldsThread and answerHoldsRun ask for an id that is there; that it is a text is the contract's concern.
func (w *World) answerHoldsThread() error { return w.answerHoldsID("thread_id") }

func (w *World) answerHoldsID(field string) error {
	if a := w.answer; !a.OK() || a.Get(field).String() == "" {
		return violated(a, "a status of success with a "+field, "%s", seen(a)).at("/" + field).hinting(w.idHint(field))
	}
	return nil
}

func (w *World) threadsDiffer() error {
	first, second := w.threads[0], w.threads[1]
	for _, t := range w.threads {
		if t.id == "" {
			return blocked("no thread was created: %s", seen(t.answer))
		}
	}
	if first.id == second.id {
		return violated(second.answer, "two threads", "%s twice", first.id).at("/thread_id")
	}
	return nil
}

// listHoldsThread asks for an array, and the thread in it.
func (w *World) listHoldsThread(ctx context.Context) error {
	if holds(w.listed.rows, w.thread.id) {
		return nil
	}
	wrong := violated(w.answer, "an array with the thread "+w.thread.id, "%s", w.listed)
	if !isList(w.answer) {
		wrong = violated(w.answer, "an array of threads", "%s", seen(w.answer))
	}
	wrong = wrong.hinting(w.listingHint())
	if w.listed.who.user == w.thread.owner.user {
		return unless(ctx, wrong, func(context.Context) error { return validIsServed(w.answer) })
	}
	return unless(ctx, wrong, w.ownersListHolds)
}

// ownersListHolds says that even the list of the thread's owner lacks it (AS-THREAD-2).
func (w *World) ownersListHolds(ctx context.Context) error {
	rows, a, err := w.agent.list(ctx, w.thread.owner, nil)
	if err == nil && !holds(rows, w.thread.id) {
		err = violated(a, "a list with the thread "+w.thread.id, "%s", seen(a))
	}
	return err
}

func (l listing) String() string {
	return fmt.Sprintf("a list of %s without it", countOf(len(l.rows), "thread"))
}

// listingHint names the configuration that a list without the expected thread may ask for.
func (w *World) listingHint() string { return listingHint(w.run.searches()) }

func listingHint(searches bool) string {
	if searches {
		return "agent.listing is search: if the target lists threads at GET /threads, set it to get"
	}
	return "agent.listing is get: if the list is a page, or the target lists threads by the search operation only, set it to search"
}
