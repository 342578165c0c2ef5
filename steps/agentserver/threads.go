package agentserver

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// defineThreads registers the sentences about threads and their list (section 4).
func (w *World) defineThreads(r *common.Definitions) {
	r.Given(`a thread of the user`, w.onNewThread)
	r.Given(`another thread of the user`, func(ctx context.Context) {
		w.threads = append(w.threads, common.Must(w.server.NewThread(ctx, w.owner())))
	})
	r.When(`the user creates (a thread|two threads)`, func(ctx context.Context, which string) {
		w.createThread(ctx, nil)
		if which == "two threads" {
			w.createThread(ctx, nil)
		}
	})
	r.When(`(the user|a studio user) lists the threads`, w.callerLists)
	r.Then(`the answer holds a "thread_id"`, func() error { return w.answerHoldsID("thread_id") })
	r.Then(`their ids are distinct`, w.threadsDiffer)
	r.Then(`the list holds the thread`, w.listHoldsThread)
}

func (w *World) callerLists(ctx context.Context, name string) {
	who := w.callerNamed(ctx, name)
	if w.thread == nil {
		w.list(ctx, who, nil)
		return
	}
	w.thread = w.listNewest(ctx, who, w.thread)
}

func (w *World) threadsDiffer() error {
	first, second := w.threads[0], w.threads[1]
	for _, t := range w.threads {
		if t.ID == "" {
			return outcome.Blocked("no thread was created: %s", outcome.Seen(t.Answer))
		}
	}
	if first.ID == second.ID {
		return outcome.Violated(second.Answer, "two distinct thread_id values", "%s twice", first.ID).
			At("/thread_id").Comparing(second.Answer, first.Answer)
	}
	return nil
}

func (w *World) listHoldsThread() error {
	a := w.scene.Answer
	if w.rows.Thread(w.thread.ID).Exists() {
		return nil
	}
	if a.Request.Trusted {
		common.Check(validIsServed(a))
	}
	if w.rows != nil {
		return w.lacks(w.thread)
	}
	return outcome.Violated(a, "an array of threads", "%s", outcome.Seen(a)).Hinting(w.target.ListingHint()).
		Comparing(a, w.thread.Answer)
}

// lacks returns the outcome for a thread that is missing from the list.
func (w *World) lacks(t *agent.Thread) error {
	if w.rows.MayLack() {
		return outcome.Inconclusive("the server returned %s without thread %s; the list may be one page of several",
			reports.Count(w.rows.Len(), "thread"), t.ID)
	}
	return outcome.Violated(w.scene.Answer, "a list with the thread "+t.ID, "a list of %s without it",
		reports.Count(w.rows.Len(), "thread")).Hinting(w.target.ListingHint()).Comparing(w.scene.Answer, t.Answer)
}

// mostNewest is the number of threads that the suite creates if a list may show only the newest threads: other scenarios
// create threads at the same time.
const mostNewest = 20

// list lists the threads of who once. Without a filter that is done in the way that the target has.
func (w *World) list(ctx context.Context, who target.Caller, f agent.Filter, wanted ...*agent.Thread) {
	rows, a, err := w.server.List(ctx, who, f, wanted...)
	common.Check(err)
	w.rows, w.scene.Answer = rows, a
}

// listUntil lists again and again until the list shows the thread, or the time is over. Any list does where there is no
// thread. What is no list is not asked again.
func (w *World) listUntil(ctx context.Context, who target.Caller, f agent.Filter, t *agent.Thread) {
	var wanted []*agent.Thread
	if t != nil {
		wanted = append(wanted, t)
	}
	common.Retry(ctx, w.target, func() bool {
		w.list(ctx, who, f, wanted...)
		return t == nil || w.rows.Thread(t.ID).Exists() || w.rows == nil
	})
}

// listNewest lists the threads of who until the list shows the thread, or one that its owner has made since, where the
// list may be a page. It returns the one that was shown, else the first.
func (w *World) listNewest(ctx context.Context, who target.Caller, first *agent.Thread) *agent.Thread {
	made, shown := []*agent.Thread{first}, first
	w.rows = nil
	look := func() bool {
		if w.rows.Len() >= agent.LeastPage && len(made) <= mostNewest && !w.target.Searches() {
			made = append(made, w.markedThread(ctx, first.Owner))
		}
		w.list(ctx, who, nil, made...)
		if at := slices.IndexFunc(made, func(t *agent.Thread) bool { return w.rows.Thread(t.ID).Exists() }); at >= 0 {
			shown = made[at]
			return true
		}
		return w.rows == nil
	}
	// The first list may have waited so long for others that its time is over: a newer thread is tried all the same.
	if !look() {
		common.Retry(ctx, w.target, look)
	}
	return shown
}

// markedThread creates a thread with the mark of the scenario, and without it where the target refuses metadata.
func (w *World) markedThread(ctx context.Context, who target.Caller) *agent.Thread {
	if w.mark != "" {
		t := common.Must(w.server.CreateThread(ctx, who, map[string]any{markKey: w.mark}))
		if t.ID != "" {
			return common.Must(t, t.Usable())
		}
	}
	return common.Must(w.server.NewThread(ctx, who))
}

// isMarked tells whether the list shows a thread with the mark of the scenario in its metadata.
func (w *World) isMarked() bool {
	for _, row := range w.rows.All() {
		if row.Get("metadata."+markKey).String() == w.mark {
			return true
		}
	}
	return false
}

func (w *World) listOther(ctx context.Context, who target.Caller) {
	if w.target.AgentRefusal() != 0 {
		common.Check(outcome.Needs("users"))
	}
	w.scene.Answer = common.Must(w.server.ListOther(ctx, who))
	w.rows = agent.ListingOf(w.scene.Answer)
}
