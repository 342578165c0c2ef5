package agentserver

import (
	"context"
	"fmt"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// threads holds the sentences about threads and their list (section 4).
type threads struct{ *World }

func (w *threads) define(r *common.Definitions) {
	r.Given(`a thread of the user`, w.aThread)
	r.Given(`another thread of the user`, func(ctx context.Context) error {
		t, err := w.server.NewThread(ctx, w.owner())
		w.threads = append(w.threads, t)
		return err
	})
	r.When(`the user creates a thread`, func(ctx context.Context) error { return w.createThread(ctx, nil) })
	r.When(`the user creates two threads`, w.userCreatesTwoThreads)
	r.When(`(the user|a studio user) lists the threads`, w.callerLists)
	r.Then(`the answer holds a "thread_id"`, func(ctx context.Context) error { return w.answerHoldsID(ctx, "thread_id") })
	r.Then(`their ids are distinct`, w.threadsDiffer)
	r.Then(`the list holds the thread`, w.listHoldsThread)
}

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

// A list of leastPage threads or more may be a page of the newest threads, and other scenarios create threads at the same time: so
// many newer threads are tried then.
const (
	leastPage  = 10
	mostNewest = 20
)

// threadList is what a scenario knows of the threads that a caller has listed last. The answer is that of the scene.
type threadList struct {
	Rows agent.Listing
	Who  target.Caller

	scene  *common.Scene
	target *target.Target
}

// newThreadList returns one that was not read yet. Its answers become those of the scene.
func newThreadList(scene *common.Scene, t *target.Target) *threadList {
	return &threadList{scene: scene, target: t}
}

// isThreadList tells whether an answer is a list.
func isThreadList(a *client.Answer) bool { return a.OK() && a.IsArray() }

// Read lists the threads of who once. Without a filter that is done in the way that the target has.
func (l *threadList) Read(ctx context.Context, s *agent.Server, who target.Caller, f *agent.Filter) (err error) {
	l.Who = who
	l.Rows, l.scene.Answer, err = s.List(ctx, who, f)
	return err
}

// ReadUntil reads again and again until what was to be seen is there, or the time is over. What is no list is not asked again.
func (l *threadList) ReadUntil(ctx context.Context, s *agent.Server, who target.Caller, f *agent.Filter, seen func(agent.Listing) bool) error {
	return l.target.RetryFor(ctx, l.target.Config.Timeouts.Request, func() (bool, error) {
		err := l.Read(ctx, s, who, f)
		return err == nil && (seen(l.Rows) || !isThreadList(l.scene.Answer)), err
	})
}

// showing is for ReadUntil: the list shows the thread. Any does where there is none.
func showing(t *agent.Thread) func(agent.Listing) bool {
	return func(rows agent.Listing) bool { return t == nil || rows.Holds(t.ID) }
}

// ReadNewest lists the threads of who until it shows the thread, or one that another has made since, where the list may be a page.
// It returns the one that was shown, else the first.
func (l *threadList) ReadNewest(ctx context.Context, s *agent.Server, who target.Caller, first *agent.Thread, another func(context.Context) (*agent.Thread, error)) (*agent.Thread, error) {
	made, shown := []*agent.Thread{first}, first
	l.Rows = nil
	look := func() (bool, error) {
		if l.Rows.Len() >= leastPage && len(made) <= mostNewest && !l.target.Searches() {
			t, err := another(ctx)
			if err != nil {
				return false, err
			}
			made = append(made, t)
		}
		if err := l.Read(ctx, s, who, nil); err != nil {
			return false, err
		}
		for _, t := range made {
			if l.Rows.Holds(t.ID) {
				shown = t
				return true, nil
			}
		}
		return !isThreadList(l.scene.Answer), nil
	}
	// The first list may have waited so long for others that its time is over: a newer thread is tried all the same.
	if done, err := look(); done || err != nil {
		return shown, err
	}
	err := l.target.RetryFor(ctx, l.target.Config.Timeouts.Request, look)
	return shown, err
}

// ReadOther lists the threads of who at the endpoint that is not used, where that serves the user: a target needs only one. The error
// skips a scenario where it does not.
func (l *threadList) ReadOther(ctx context.Context, s *agent.Server, who target.Caller) error {
	if l.target.AgentRefusal() != 0 {
		return outcome.Needs("users")
	}
	serves, err := s.ServesOtherEndpoint(ctx)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	if !serves {
		return outcome.Inapplicable("a second endpoint that lists threads", "the target lists threads at one endpoint only (agent.listing)")
	}
	l.Who = who
	if l.scene.Answer, err = s.AskOtherEndpoint(ctx, who); err == nil {
		l.Rows = agent.ListingOf(l.scene.Answer)
	}
	return err
}

// Marked tells whether the list shows a thread with the mark in its metadata.
func (l *threadList) Marked(mark string) bool {
	for _, row := range l.Rows.All() {
		if row.Get("metadata."+target.MarkKey).String() == mark {
			return true
		}
	}
	return false
}

// String describes a list that lacks the thread that was looked for.
func (l *threadList) String() string {
	return fmt.Sprintf("a list of %s without it", reports.Count(l.Rows.Len(), "thread"))
}
