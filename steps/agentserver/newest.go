package agentserver

import (
	"context"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/target"
)

// A list without parameters may show the newest threads only, and other scenarios create threads at the same time. A list of
// leastPage threads or more may be such a page; newer threads are tried so often then.
const (
	leastPage  = 10
	mostNewest = 20
)

// listNewest lists the threads of who until it shows the thread, or one that another has made since, where the list may be a page.
// It returns the one that was shown, else the first.
func (w *World) listNewest(ctx context.Context, who target.Caller, first *agent.Thread, another func(context.Context) (*agent.Thread, error)) (*agent.Thread, error) {
	made, shown := []*agent.Thread{first}, first
	w.listed.rows = nil
	look := func() (bool, error) {
		if len(w.listed.rows) >= leastPage && len(made) <= mostNewest && !w.target.Searches() {
			t, err := another(ctx)
			if err != nil {
				return false, err
			}
			made = append(made, t)
		}
		if err := w.listThreads(ctx, who, nil); err != nil {
			return false, err
		}
		for _, t := range made {
			if agent.Holds(w.listed.rows, t.ID) {
				shown = t
				return true, nil
			}
		}
		return !isList(w.scene.Answer), nil
	}
	// The first list may have waited so long for others that its time is over: a newer thread is tried all the same.
	if done, err := look(); done || err != nil {
		return shown, err
	}
	err := w.target.RetryFor(ctx, w.target.Config.Timeouts.Request, look)
	return shown, err
}

// newThread is for listNewest.
func (w *World) newThread(ctx context.Context) (*agent.Thread, error) {
	return w.server.NewThread(ctx, w.owner())
}

// showing is for listUntil.
func showing(t *agent.Thread) func([]gjson.Result) bool {
	return func(rows []gjson.Result) bool { return t == nil || agent.Holds(rows, t.ID) }
}
