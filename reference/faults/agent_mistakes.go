package faults

import (
	"encoding/json"
	"net/http"
	"sync"
)

// conformanceGraph is the graph of the reference's deployments.
const conformanceGraph = "conformance"

func agentMistakes() []Fault {
	return []Fault{
		{
			Name: "unknown-graph-falls-back", Breaks: "a run of an unknown graph is executed by the only known graph", Fails: "AS-RUN-6",
			Apply: onRequest(createRun, func(r *http.Request) {
				editBody(r, func(run map[string]any) {
					if name, given := run["assistant_id"].(string); given && name != conformanceGraph {
						run["assistant_id"] = conformanceGraph
					}
				})
			}),
		},
		{
			Name: "unknown-graph-is-found-out-later", Breaks: "a run of an unknown graph gets 200 with status error instead of 404", Fails: "AS-RUN-6",
			Apply: onExchange(createRun, func(sent map[string]any, r *http.Request, a *answer) {
				if name, given := sent["assistant_id"].(string); given && name != conformanceGraph && a.status == http.StatusNotFound {
					a.status = http.StatusOK
					a.json(map[string]any{"run_id": "5f0f7e66-2f0c-4b53-9d0a-1d6a53c1a4f7", "thread_id": threadOf(r), "status": "error"})
				}
			}),
		},
		{
			Name: "unknown-graph-blocks-the-thread", Breaks: "after a run of an unknown graph, every run on the thread gets 409", Fails: "AS-RUN-6",
			Apply: blockedThreads(),
		},
		{
			Name: "unknown-strategy-is-the-default", Breaks: "create run treats an unknown multitask_strategy as the default", Fails: "AS-RUN-7",
			Apply: onSentRun(func(run map[string]any) {
				switch run["multitask_strategy"] {
				case "rollback", "enqueue", "reject", "interrupt":
				default:
					delete(run, "multitask_strategy")
				}
			}),
		},
		{
			Name: "missing-graph-is-the-default", Breaks: "create run uses the only known graph if assistant_id is missing or not a string", Fails: "AS-RUN-7",
			Apply: onSentRun(func(run map[string]any) {
				if _, given := run["assistant_id"].(string); !given {
					run["assistant_id"] = conformanceGraph
				}
			}),
		},
		{
			Name: "input-of-any-kind-is-taken", Breaks: "create run treats an input that is not an object as empty", Fails: "AS-RUN-7",
			Apply: onSentRun(func(run map[string]any) {
				if _, is := run["input"].(map[string]any); !is {
					run["input"] = map[string]any{"messages": []any{}}
				}
			}),
		},
		{
			Name: "first-of-a-list-is-run", Breaks: "create run with an array as body starts its first element", Fails: "AS-RUN-7",
			Apply: onRequest(createRun, func(r *http.Request) {
				var list []json.RawMessage
				if sent := readBody(r); json.Unmarshal(sent, &list) == nil && len(list) > 0 {
					setBody(r, list[0])
				}
			}),
		},
	}
}

// onSentRun changes the bodies of create run.
func onSentRun(change func(run map[string]any)) Layer {
	return onRequest(createRun, func(r *http.Request) { editBody(r, change) })
}

// blockedThreads refuses all runs on a thread after a run of an unknown graph.
func blockedThreads() Layer {
	return fresh(func() Layer {
		var mu sync.Mutex
		blocked := map[string]bool{}
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			if !createRun.is(r) {
				next.ServeHTTP(w, r)
				return
			}
			name, given := bodyOf(r)["assistant_id"].(string)
			mu.Lock()
			is := blocked[threadOf(r)]
			blocked[threadOf(r)] = is || given && name != conformanceGraph
			mu.Unlock()
			if !is {
				next.ServeHTTP(w, r)
				return
			}
			a := capture(next, r)
			if a.status < 300 {
				do(next, r, http.MethodDelete, r.URL.Path+"/"+text(a.object(), "run_id"))
				a.refuse(http.StatusConflict, "The thread is busy")
			}
			a.send(w)
		})
	})
}
