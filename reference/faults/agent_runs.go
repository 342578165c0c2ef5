package faults

import (
	"net/http"
	"strings"
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
				a := capture(next, r)
				if id := text(a.object(), "run_id"); id != "" && a.status < 300 {
					do(next, r, http.MethodGet, r.URL.Path+"/"+id+"/join")
				}
				a.send(w)
			}),
		},
		{
			Name: "run-id-is-empty", Breaks: "create run returns an empty run_id", Fails: "AS-RUN-1",
			Apply: onObject(createRun, func(r map[string]any) { r["run_id"] = "" }),
		},
		{
			Name: "run-in-progress-is-not-found", Breaks: "get run returns 404 until the run has completed", Fails: "AS-RUN-2",
			Apply: onAnswer(getRun, func(r *http.Request, a *answer) {
				if status := text(a.object(), "status"); status == "pending" || status == "running" {
					a.refuse(http.StatusNotFound, "Run "+runOf(r)+" not found")
				}
			}),
		},
		{
			Name: "run-id-changes-its-form", Breaks: "get run returns run_id without hyphens", Fails: "AS-RUN-2",
			Apply: onObject(getRun, func(r map[string]any) { r["run_id"] = strings.ReplaceAll(text(r, "run_id"), "-", "") }),
		},
		{
			Name: "run-comes-in-an-envelope", Breaks: "get run returns the run in an envelope, under the key run", Fails: "AS-RUN-2",
			Also: map[string]string{"AS-CONTRACT-get-run": "the contract also requires run_id"},
			Apply: onStatus(getRun, http.StatusOK, func(_ *http.Request, a *answer) {
				a.json(map[string]any{"run": a.object()})
			}),
		},
		{
			Name: "unknown-run-is-pending", Breaks: "get run of an unknown run returns 200 with status pending", Fails: "AS-RUN-3",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				onUnfound(getRun, w, r, next, func(a *answer) {
					if d.threadOfRun(runOf(r)) == "" && d.known(threadOf(r)) {
						a.status = http.StatusOK
						a.json(map[string]any{"run_id": runOf(r), "thread_id": threadOf(r), "status": "pending"})
					}
				})
			}),
		},
		{
			Name: "run-of-unknown-thread-is-found", Breaks: "get run finds a run under an unknown thread", Fails: "AS-RUN-3",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				onUnfound(getRun, w, r, next, func(a *answer) {
					if thread := d.threadOfRun(runOf(r)); thread != "" && !d.known(threadOf(r)) {
						*a = *do(next, r, http.MethodGet, threadPath(r, thread)+"/runs/"+runOf(r))
					}
				})
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
				a := capture(next, made)
				if a.status == http.StatusOK {
					run := withPath(r, threadPath(r, text(a.object(), "thread_id"))+"/runs")
					setBody(run, sent)
					a = capture(next, run)
					a.edit(func(run map[string]any) { run["thread_id"] = threadOf(r) })
				}
				a.send(w)
			}),
		},
		{
			Name: "run-is-found-under-any-thread", Breaks: "get run finds a run under any thread of the user", Fails: "AS-RUN-8",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				onUnfound(getRun, w, r, next, func(a *answer) {
					if thread := d.threadOfRun(runOf(r)); thread != "" && thread != threadOf(r) && d.known(threadOf(r)) {
						*a = *do(next, r, http.MethodGet, threadPath(r, thread)+"/runs/"+runOf(r))
					}
				})
			}),
		},
	}
}

// onUnfound changes the 404 of an operation on a run.
func onUnfound(op operation, w http.ResponseWriter, r *http.Request, next http.Handler, change func(a *answer)) {
	if !op.is(r) {
		next.ServeHTTP(w, r)
		return
	}
	a := capture(next, r)
	if a.status == http.StatusNotFound {
		change(a)
	}
	a.send(w)
}
