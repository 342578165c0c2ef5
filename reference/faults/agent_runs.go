package faults

import (
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/reference/deviate"
)

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
		{
			Name: "run-makes-its-thread", Breaks: "create run on an unknown thread creates a thread and runs on it", Fails: "AS-RUN-3",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !createRun.is(r) || d.known(threadOf(r)) {
					next.ServeHTTP(w, r)
					return
				}
				sent := readBody(r)
				made := withPath(r, strings.TrimSuffix(threadPath(r, ""), "/"))
				setBody(made, []byte("{}"))
				a := deviate.Capture(next, made)
				if a.Status == http.StatusOK {
					run := withPath(r, threadPath(r, text(a.Object(), "thread_id"))+"/runs")
					setBody(run, sent)
					a = deviate.Capture(next, run)
					a.Edit(func(run map[string]any) { run["thread_id"] = threadOf(r) })
				}
				a.Send(w)
			}),
		},
	}
}

// onUnfound changes the 404 of an operation on a run.
func onUnfound(op operation, w http.ResponseWriter, r *http.Request, next http.Handler, change func(a *deviate.Answer)) {
	if !op.is(r) {
		next.ServeHTTP(w, r)
		return
	}
	a := deviate.Capture(next, r)
	if a.Status == http.StatusNotFound {
		change(a)
	}
	a.Send(w)
}
