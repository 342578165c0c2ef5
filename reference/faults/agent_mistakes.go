package faults

import (
	"net/http"
	"sync"

	"github.com/agentconform/agentconform/reference/deviate"
)

// conformanceGraph is the graph of the reference's deployments.
const conformanceGraph = "conformance"

func agentMistakes() []Fault {
	return []Fault{
		{
			Name: "unknown-graph-blocks-the-thread", Breaks: "after a run of an unknown graph, every run on the thread gets 409", Fails: "AS-RUN-6",
			Apply: blockedThreads(),
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
			a := deviate.Capture(next, r)
			if a.Status < 300 {
				do(next, r, http.MethodDelete, r.URL.Path+"/"+text(a.Object(), "run_id"))
				a.Refuse(http.StatusConflict, "The thread is busy")
			}
			a.Send(w)
		})
	})
}
