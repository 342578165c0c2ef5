package faults

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/deviate"
)

func agentThreads() []Fault {
	return []Fault{
		{
			Name: "one-thread-per-user", Breaks: "create thread returns the user's existing thread instead of a new one", Fails: "AS-THREAD-1",
			Apply: oneThreadEach(),
		},
		{
			Name: "list-lags-behind", Breaks: "threads created in the last minute are missing from list threads", Fails: "AS-THREAD-2", Hangs: true,
			Apply: agentStoring(func(s threads.Store) threads.Store { return oldThreads{s, time.Minute} }),
		},
	}
}

// oneThreadEach answers create thread with the caller's first thread.
func oneThreadEach() Layer {
	return fresh(func() Layer {
		var mu sync.Mutex
		first := map[string][]byte{}
		return onStatus(createThread, http.StatusOK, func(r *http.Request, a *deviate.Answer) {
			mu.Lock()
			defer mu.Unlock()
			key := segment(r, 2) + " " + r.Header.Get("Authorization")
			if first[key] == nil {
				first[key] = a.Body
			}
			a.Body = first[key]
		})
	})
}

// oldThreads lists only threads of at least the given age.
type oldThreads struct {
	threads.Store
	age time.Duration
}

func (s oldThreads) Threads(ctx context.Context, match func(threads.Thread) bool) ([]threads.Thread, error) {
	return s.Store.Threads(ctx, func(t threads.Thread) bool { return time.Since(t.CreatedAt) > s.age && match(t) })
}

func agentRuns() []Fault {
	return []Fault{
		{
			Name: "run-is-answered-when-it-is-over", Breaks: "create run returns only after the run has completed", Fails: "AS-RUN-1", Hangs: true,
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !createRun.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := deviate.Capture(next, r)
				if id := text(a.Object(), "run_id"); id != "" && a.Status < 300 {
					do(next, r, http.MethodGet, r.URL.Path+"/"+id+"/join")
				}
				a.Send(w)
			}),
		},
	}
}

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
	}
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

func agentStates() []Fault {
	return []Fault{
		{
			Name: "first-input-is-answered", Breaks: "of several input messages, the first is answered instead of the last", Fails: "AS-STATE-2",
			Apply: onMessages(func(all []map[string]any) []map[string]any {
				last := lastExchange(slices.Clone(all))
				if len(last) > 2 && last[1]["type"] == "human" {
					last[len(last)-1]["content"] = last[0]["content"]
				}
				return all
			}),
		},
		{
			Name: "second-run-replaces-the-first", Breaks: "the state contains only the messages of the last run", Fails: "AS-STATE-3",
			Apply: onMessages(lastExchange),
		},
	}
}

// onMessages changes the messages of a state, if there are any.
func onMessages(change func(all []map[string]any) []map[string]any) Layer {
	return onObject(getState, func(s map[string]any) {
		values := object(s["values"])
		if all := items(values["messages"]); len(all) > 0 {
			values["messages"] = change(all)
		}
	})
}

// lastExchange returns the last consecutive human messages and all that follows.
func lastExchange(all []map[string]any) []map[string]any {
	at := len(all) - 1
	for at > 0 && all[at]["type"] != "human" {
		at--
	}
	for at > 0 && all[at-1]["type"] == "human" {
		at--
	}
	return all[at:]
}

// agentRevisions returns the faults between an update and the agent server.
func agentRevisions() []Fault {
	return []Fault{
		{
			Name: "update-never-reaches-the-agent-server", Breaks: "the agent server still runs the first revision after an update is DEPLOYED", Fails: "E2E-1",
			Apply: redeploying(func(r *updatedRuntime, ctx context.Context, id string, b controlplane.Build, env map[string]string) error {
				return nil
			}),
		},
		{
			Name: "update-takes-the-agent-server-down", Breaks: "the agent server is down after an update is DEPLOYED", Fails: "E2E-1",
			Apply: redeploying(func(r *updatedRuntime, _ context.Context, id string, _ controlplane.Build, _ map[string]string) error {
				r.down.Store(id, true)
				return nil
			}),
		},
	}
}

// redeploying replaces what happens when a revision replaces another one.
func redeploying(again func(r *updatedRuntime, ctx context.Context, id string, b controlplane.Build, env map[string]string) error) Layer {
	return running(func(r controlplane.Runtime) controlplane.Runtime { return &updatedRuntime{Runtime: r, again: again} })
}

type updatedRuntime struct {
	controlplane.Runtime
	again     func(r *updatedRuntime, ctx context.Context, id string, b controlplane.Build, env map[string]string) error
	had, down sync.Map // by deployment
}

func (r *updatedRuntime) Deploy(ctx context.Context, id string, b controlplane.Build, env map[string]string) error {
	if _, had := r.had.LoadOrStore(id, true); had {
		return r.again(r, ctx, id, b, env)
	}
	return r.Runtime.Deploy(ctx, id, b, env)
}

// Handler returns nil if the agent server is down.
func (r *updatedRuntime) Handler(id string) http.Handler {
	if _, down := r.down.Load(id); down {
		return nil
	}
	return r.Runtime.Handler(id)
}
