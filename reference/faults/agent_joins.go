package faults

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"
)

func agentJoins() []Fault {
	return []Fault{
		{
			Name: "join-does-not-wait", Breaks: "join answers at once, with what there is", Fails: "AS-RUN-4",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				if over {
					next.ServeHTTP(w, r)
					return
				}
				state := do(next, r, http.MethodGet, threadPath(r, threadOf(r))+"/state")
				state.json(object(state.object()["values"]))
				state.send(w)
			}),
		},
		{
			Name: "join-waits-for-the-answer-only", Breaks: "join answers, and the state shows the answer, as soon as that is known, while the run is still in progress", Fails: "AS-RUN-4",
			Apply: earlyAnswer(),
		},
		{
			Name: "join-misses-the-end", Breaks: "a join that begins while the run is in progress is never woken up", Fails: "AS-RUN-4",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				if !over {
					<-r.Context().Done()
					return
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "join-ends-with-a-timeout", Breaks: "a join that begins while the run is in progress is answered with 408 when that has completed", Fails: "AS-RUN-4",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				a := capture(next, r)
				if !over && a.status == http.StatusOK {
					a.refuse(http.StatusRequestTimeout, "The run took too long")
				}
				a.send(w)
			}),
		},
		{
			Name: "join-is-capped", Breaks: "a join answers after 800 ms, though the run goes on", Fails: "AS-RUN-4",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, _ bool) {
				ctx, cancel := context.WithTimeout(r.Context(), 800*time.Millisecond)
				defer cancel()
				a := capture(next, r.WithContext(ctx))
				if ctx.Err() != nil {
					a.status = http.StatusOK
					a.json(map[string]any{})
				}
				a.send(w)
			}),
		},
		{
			Name: "join-waits-for-success", Breaks: "a join on a run that fails is not answered", Fails: "AS-RUN-4",
			Apply: onAnswer(joinRun, func(r *http.Request, a *answer) {
				if a.object()["__error__"] != nil {
					<-r.Context().Done()
				}
			}),
		},
		{
			Name: "state-lags-behind-join", Breaks: "the state comes from a cache that is renewed after it was read", Fails: "AS-RUN-4",
			Apply: laggingState(),
		},
		{
			Name: "join-of-a-completed-run-hangs", Breaks: "a join on a run that is over waits for an end that was before", Fails: "AS-RUN-5",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				if over {
					<-r.Context().Done()
					return
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "join-of-a-completed-run-is-refused", Breaks: "a run that is over cannot be joined any more", Fails: "AS-RUN-5",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				if over {
					a := &answer{header: http.Header{}}
					a.refuse(http.StatusConflict, "The run is not in progress")
					a.send(w)
					return
				}
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "join-of-a-completed-run-is-slow", Breaks: "a join on a run that is over looks at it for the first time after some seconds", Fails: "AS-RUN-5",
			Apply: onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				if over {
					pause(r, 2*time.Second)
				}
				next.ServeHTTP(w, r)
			}),
		},
	}
}

// onJoin changes how runs are joined that the caller may see, knowing whether they are over.
func onJoin(join func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !joinRun.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		run := do(next, r, http.MethodGet, threadPath(r, threadOf(r))+"/runs/"+runOf(r))
		if run.status != http.StatusOK {
			next.ServeHTTP(w, r)
			return
		}
		status := text(run.object(), "status")
		join(w, r, next, status != "pending" && status != "running")
	})
}

// pause waits, as long as the client does.
func pause(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

// laggingState answers each reading of a state with what there was to be read the time before.
func laggingState() Layer {
	return fresh(func() Layer {
		var mu sync.Mutex
		cached := map[string][]byte{}
		return onStatus(getState, http.StatusOK, func(r *http.Request, a *answer) {
			mu.Lock()
			defer mu.Unlock()
			fresh := a.body
			if a.body = cached[threadOf(r)]; a.body == nil {
				a.body = []byte(`{"values":{}}`)
			}
			cached[threadOf(r)] = fresh
		})
	})
}

// earlyAnswer answers joins at once, and shows with the state of a thread that was joined the answer to come.
func earlyAnswer() Layer {
	return fresh(func() Layer {
		var joined sync.Map // by thread
		return both(
			onJoin(func(w http.ResponseWriter, r *http.Request, next http.Handler, over bool) {
				if over {
					next.ServeHTTP(w, r)
					return
				}
				joined.Store(threadOf(r), true)
				do(next, r, http.MethodGet, threadPath(r, threadOf(r))).send(w)
			}),
			onStatus(getState, http.StatusOK, func(r *http.Request, a *answer) {
				if _, found := joined.Load(threadOf(r)); !found {
					return
				}
				a.edit(func(s map[string]any) {
					values := object(s["values"])
					if all := items(values["messages"]); len(all) > 0 && onlyWaits(all[len(all)-1]) {
						values["messages"] = append(all, map[string]any{"type": "ai", "content": text(all[len(all)-1], "content")})
					}
				})
			}),
		)
	})
}

// onlyWaits says that a message has the graph wait, and then repeat it.
func onlyWaits(m map[string]any) bool {
	said := text(m, "content")
	return m["type"] == "human" && strings.HasPrefix(said, "wait=") && !strings.Contains(said, "whoami") && !strings.Contains(said, "fail")
}
