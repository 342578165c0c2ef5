package faults

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/deviate"
)

func agentJoins() []Fault {
	return []Fault{
		{
			Name: "join-waits-for-the-answer-only", Breaks: "join returns, and the state shows the answer, before the run has completed", Fails: "AS-RUN-4",
			Apply: earlyAnswer(),
		},
		{
			Name: "some-runs-never-start", Breaks: "a run whose graph is going to raise stays pending, while other runs start", Fails: "AS-RUN-4", Hangs: true,
			Apply: agentStoring(func(s threads.Store) threads.Store { return lostRuns{s} }),
		},
		{
			Name: "join-is-capped", Breaks: "join returns after 800 ms, even if the run is in progress", Fails: "AS-RUN-4",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, _ bool) {
				ctx, cancel := context.WithTimeout(r.Context(), 800*time.Millisecond)
				defer cancel()
				a := deviate.Capture(next, r.WithContext(ctx))
				if ctx.Err() != nil {
					a.Status = http.StatusOK
					a.JSON(map[string]any{})
				}
				a.Send(w)
			}),
		},
		{
			Name: "state-lags-behind-join", Breaks: "get state returns the result of the previous read, from a cache", Fails: "AS-RUN-4",
			Apply: laggingState(),
		},
		{
			Name: "foreign-join-is-an-empty-object", Breaks: "join of another user's run returns 200 with an empty object at once", Fails: "AS-RUN-9",
			Apply: onForeignJoin(false, func(a *deviate.Answer, _ func()) { a.JSON(map[string]any{}) }),
		},
	}
}

// onForeignJoin answers joins of other users' runs with 200 in place of 404, under threads of the caller only or under any. await
// returns when the run is over.
func onForeignJoin(underOwn bool, change func(a *deviate.Answer, await func())) Layer {
	return directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		onUnfound(joinRun, w, r, next, func(a *deviate.Answer) {
			caller, thread := r.Header.Get("Authorization"), d.threadOfRun(runOf(r))
			if owner := d.ownerOf(thread); owner != "" && owner != caller && (!underOwn || d.owner(r) == caller) {
				a.Status = http.StatusOK
				change(a, func() {
					do(next, resent(r, owner, nil), http.MethodGet, threadPath(r, thread)+"/runs/"+runOf(r)+"/join")
				})
			}
		})
	})
}

// onJoin replaces join for runs that the caller may access; over reports whether the run has completed.
func onJoin(join func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !joinRun.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		run := do(next, r, http.MethodGet, threadPath(r, threadOf(r))+"/runs/"+runOf(r))
		if run.Status != http.StatusOK {
			next.ServeHTTP(w, r)
			return
		}
		status := text(run.Object(), "status")
		join(w, r, next, status != "pending" && status != "running")
	})
}

// pause waits, but not longer than the client.
func pause(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

// laggingState answers get state with the result of the previous read.
func laggingState() Layer {
	return fresh(func() Layer {
		var mu sync.Mutex
		cached := map[string][]byte{}
		return onStatus(getState, http.StatusOK, func(r *http.Request, a *deviate.Answer) {
			mu.Lock()
			defer mu.Unlock()
			fresh := a.Body
			if a.Body = cached[threadOf(r)]; a.Body == nil {
				a.Body = []byte(`{"values":{}}`)
			}
			cached[threadOf(r)] = fresh
		})
	})
}

// earlyAnswer answers joins at once, and shows the expected answer in the state of a joined thread.
func earlyAnswer() Layer {
	return fresh(func() Layer {
		var joined sync.Map // by thread
		return compose(
			onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				if over {
					next.ServeHTTP(w, r)
					return
				}
				joined.Store(threadOf(r), true)
				do(next, r, http.MethodGet, threadPath(r, threadOf(r))).Send(w)
			}),
			onStatus(getState, http.StatusOK, func(r *http.Request, a *deviate.Answer) {
				if _, found := joined.Load(threadOf(r)); !found {
					return
				}
				a.Edit(func(s map[string]any) {
					values := object(s["values"])
					if all := items(values["messages"]); len(all) > 0 && onlyWaits(all[len(all)-1]) {
						values["messages"] = append(all, map[string]any{"type": "ai", "content": text(all[len(all)-1], "content")})
					}
				})
			}),
		)
	})
}

// onlyWaits reports whether a message makes the graph wait and then repeat it.
func onlyWaits(m map[string]any) bool {
	said := text(m, "content")
	return m["type"] == "human" && strings.HasPrefix(said, "wait=") && !strings.Contains(said, "whoami") && !strings.Contains(said, "fail")
}

// lostRuns never starts runs that are going to fail.
type lostRuns struct{ threads.Store }

func (s lostRuns) StartRun(ctx context.Context, thread, run string, input []threads.Message) ([]threads.Message, error) {
	for _, m := range input {
		if said, _ := m.Fields()["content"].(string); slices.Contains(strings.Fields(said), "fail") {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
	}
	return s.Store.StartRun(ctx, thread, run, input)
}
