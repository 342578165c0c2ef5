package agentserver

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/agentserver/judge"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// threads has the threads that the user created.
type threads struct {
	*threadList
	created []*agent.Thread
}

// threadList has the last list of threads.
type threadList struct {
	*World
	rows     agent.Listing // nil if the server returned no list
	mark     string        // a value in the metadata of the scenario's threads, or ""
	isNested bool          // the mark is in an object
}

// define registers the steps about threads and their list (section 4).
func (w *threads) define(r *common.Definitions) {
	r.Given(`a thread of the user`, w.onNewThread)
	r.When(`the user creates (a thread|two threads)`, w.userCreates)
	r.When(`the user creates six threads at the same time`, w.createAtOnce)
	r.When(`(the user|a studio user) lists the threads`, w.callerLists)
	r.When(`the user lists the threads before and during a run of the thread`, w.listDuringRun)
	r.Then(`the response has a "thread_id"`, func() error { return w.hasID("thread_id") })
	r.Then(`their ids are distinct`, w.threadsDiffer)
	r.Then(`the list holds the thread`, w.listHoldsThread)
}

func (w *threads) callerLists(ctx context.Context, name string) error {
	who, err := w.callerNamed(ctx, name)
	if err != nil {
		return err
	}
	if w.thread == nil {
		return w.list(ctx, who, nil)
	}
	t, err := w.listNewest(ctx, who, nil, w.thread)
	if err != nil {
		return err
	}
	w.thread = t
	return nil
}

// listDuringRun lists the threads during a run. It first waits until the list contains the new thread, because a list may
// show it with a delay.
func (w *threads) listDuringRun(ctx context.Context) error {
	return w.win(ctx, "the run ended before the threads were listed", func(ctx context.Context) (bool, error) {
		if err := w.onNewThread(ctx); err != nil {
			return false, err
		}
		l, err := w.server.Listed(ctx, w.thread, w.target.Config.Timeouts.Request)
		if err != nil {
			return false, err
		}
		if !l.Holds {
			return false, outcome.Inapplicable("lists of threads", "the list does not contain the new thread")
		}
		w.prior, err = w.server.InProgressOn(ctx, w.thread, agent.JustStarted, agent.Order{Hold: w.wanted})
		if err != nil {
			return false, outcome.AsPrecondition(err)
		}
		l, err = w.server.Listed(ctx, w.thread, w.target.Config.Patience)
		if err != nil {
			return false, err
		}
		if err := l.Undecided(); err != nil {
			return false, err
		}
		w.rows, w.scene.Response = l.Rows, l.Response
		return l.Response.Ended().Before(w.prior.Until()), nil
	})
}

func (w *threads) userCreates(ctx context.Context, which string) error {
	count := 1
	if which == "two threads" {
		count = 2
	}
	for range count {
		if err := w.createThread(ctx, nil); err != nil {
			return err
		}
		w.created = append(w.created, w.thread)
	}
	return nil
}

// createAtOnce creates threads at the same time, because some servers derive the id from the time.
func (w *threads) createAtOnce(ctx context.Context) error {
	client.Prioritize(ctx)
	ctx = client.Racing(ctx)
	w.created = make([]*agent.Thread, 6)
	return agent.AtOnce(len(w.created), func(i int) (err error) {
		w.created[i], err = w.server.CreateThread(ctx, w.owner(), nil)
		return err
	})
}

func (w *threads) threadsDiffer() error {
	for i, second := range w.created {
		for _, first := range w.created[:i] {
			if err := judge.ThreadsDiffer(created(first), created(second)); err != nil {
				return err
			}
		}
	}
	return nil
}

// created returns a thread as a value for judgements.
func created(t *agent.Thread) judge.Thread { return judge.Thread{ID: t.ID, Created: t.Response} }

// listed returns the last list of threads as a value for judgements.
func (w *threadList) listed() judge.List {
	return judge.List{
		Response: w.scene.Response,
		IsList:   w.rows != nil,
		Rows:     w.rows.All(),
		Partial:  w.rows.MayLack(),
		Hint:     w.target.ListingHint(),
	}
}

func (w *threadList) listHoldsThread() error { return judge.ListHolds(w.listed(), created(w.thread)) }

// mostNewest is the number of threads that the suite creates if a list may show only the newest threads. Other scenarios
// create threads at the same time.
const mostNewest = 20

// list lists the threads of a caller once. Without a filter it uses the listing operation of the target.
func (w *threadList) list(ctx context.Context, who target.Caller, f agent.Filter, wanted ...*agent.Thread) error {
	rows, a, err := w.server.List(ctx, who, f, wanted...)
	if err != nil {
		return err
	}
	w.rows, w.scene.Response = rows, a
	return nil
}

// listUntil lists the threads until the list shows the thread, or the time has passed. Without a thread, it lists once.
// It does not repeat a request that returned no list.
func (w *threadList) listUntil(ctx context.Context, who target.Caller, f agent.Filter, t *agent.Thread) error {
	var wanted []*agent.Thread
	if t != nil {
		wanted = append(wanted, t)
	}
	return w.retry(ctx, func() (bool, error) {
		if err := w.list(ctx, who, f, wanted...); err != nil {
			return false, err
		}
		return t == nil || w.rows.Thread(t.ID).Exists() || w.rows == nil, nil
	})
}

// retry calls look until look returns true, for at most timeouts.request.
func (w *threadList) retry(ctx context.Context, look func() (done bool, err error)) error {
	return w.target.RetryFor(ctx, w.target.Config.Timeouts.Request, look)
}

// listNewest lists the threads of a caller until the list shows the thread. If the list may be only the page of the
// newest threads, it creates further threads of the owner and waits for any of these. It returns the thread that the list
// shows, or the given one.
func (w *threadList) listNewest(ctx context.Context, who target.Caller, f agent.Filter, first *agent.Thread) (*agent.Thread, error) {
	made, shown := []*agent.Thread{first}, first
	w.rows = nil
	look := func() (bool, error) {
		isPage := w.rows.MayLack() || w.rows.Len() >= agent.LeastPage && !w.target.Searches()
		if isPage && len(made) <= mostNewest {
			t, err := w.threadWith(ctx, first.Owner, w.metadata())
			if err != nil {
				return false, err
			}
			made = append(made, t)
		}
		if err := w.list(ctx, who, f, made...); err != nil {
			return false, err
		}
		at := slices.IndexFunc(made, func(t *agent.Thread) bool { return w.rows.Thread(t.ID).Exists() })
		if at >= 0 {
			shown = made[at]
			return true, nil
		}
		return w.rows == nil, nil
	}
	// The first list may have waited for other requests until the time had passed, so the list is read at least once more.
	done, err := look()
	if err == nil && !done {
		err = w.retry(ctx, look)
	}
	return shown, err
}

// metadata returns the metadata with the mark of the scenario, or nil if it has none.
func (w *threadList) metadata() map[string]any {
	if w.mark == "" {
		return nil
	}
	if w.isNested {
		return map[string]any{markKey: map[string]any{"name": w.mark}}
	}
	return map[string]any{markKey: w.mark}
}

func (w *World) listOther(ctx context.Context, who target.Caller) (*exchange.Response, error) {
	if w.target.AgentRefusal() != 0 {
		return nil, outcome.Needs("users")
	}
	return w.server.ListOther(ctx, who)
}
