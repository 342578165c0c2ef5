package faults

import (
	"net/http"
	"strings"
)

func agentRuns() []Fault {
	return []Fault{
		{
			Name: "run-is-answered-when-it-is-over", Breaks: "a run is accepted only when it is over", Fails: "AS-RUN-1",
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
			Name: "run-id-is-empty", Breaks: "the answer is written before the run has got its id", Fails: "AS-RUN-1",
			Apply: onObject(createRun, func(r map[string]any) { r["run_id"] = "" }),
		},
		{
			Name: "run-in-progress-is-not-found", Breaks: "a run is found only once it is over", Fails: "AS-RUN-2",
			Apply: onAnswer(getRun, func(r *http.Request, a *answer) {
				if status := text(a.object(), "status"); status == "pending" || status == "running" {
					a.refuse(http.StatusNotFound, "Run "+runOf(r)+" not found")
				}
			}),
		},
		{
			Name: "run-id-changes-its-form", Breaks: "the id of a run comes back without its hyphens", Fails: "AS-RUN-2",
			Apply: onObject(getRun, func(r map[string]any) { r["run_id"] = strings.ReplaceAll(text(r, "run_id"), "-", "") }),
		},
		{
			Name: "run-comes-in-an-envelope", Breaks: "the run stands below a key of its own", Fails: "AS-RUN-2",
			Also: map[string]string{"AS-CONTRACT-get-run": "the contract asks for the run_id, too"},
			Apply: onStatus(getRun, http.StatusOK, func(_ *http.Request, a *answer) {
				a.json(map[string]any{"run": a.object()})
			}),
		},
		{
			Name: "unknown-run-is-pending", Breaks: "a run that never was is taken for one that is still on its way to the store", Fails: "AS-RUN-3",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				onUnfound(w, r, next, func(a *answer) {
					if d.home(runOf(r)) == "" && d.known(threadOf(r)) {
						a.status = http.StatusOK
						a.json(map[string]any{"run_id": runOf(r), "thread_id": threadOf(r), "status": "pending"})
					}
				})
			}),
		},
		{
			Name: "run-of-unknown-thread-is-found", Breaks: "a run is found under a thread that does not exist", Fails: "AS-RUN-3",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				onUnfound(w, r, next, func(a *answer) {
					if home := d.home(runOf(r)); home != "" && !d.known(threadOf(r)) {
						*a = *do(next, r, http.MethodGet, threadPath(r, home)+"/runs/"+runOf(r))
					}
				})
			}),
		},
		{
			Name: "run-makes-its-thread", Breaks: "a run on an unknown thread creates the thread", Fails: "AS-RUN-3",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !createRun.is(r) || d.known(threadOf(r)) {
					next.ServeHTTP(w, r)
					return
				}
				made := withPath(r, strings.TrimSuffix(threadPath(r, ""), "/"))
				sent := readBody(r)
				setBody(made, []byte(`{"thread_id":"`+threadOf(r)+`"}`))
				capture(next, made)
				setBody(r, sent)
				next.ServeHTTP(w, r)
			}),
		},
		{
			Name: "run-is-found-under-any-thread", Breaks: "a run is looked up by its id alone, under whichever thread of the user", Fails: "AS-RUN-8",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				onUnfound(w, r, next, func(a *answer) {
					if home := d.home(runOf(r)); home != "" && home != threadOf(r) && d.known(threadOf(r)) {
						*a = *do(next, r, http.MethodGet, threadPath(r, home)+"/runs/"+runOf(r))
					}
				})
			}),
		},
	}
}

// onUnfound changes the answer where a run is retrieved and not found.
func onUnfound(w http.ResponseWriter, r *http.Request, next http.Handler, change func(a *answer)) {
	if !getRun.is(r) {
		next.ServeHTTP(w, r)
		return
	}
	a := capture(next, r)
	if a.status == http.StatusNotFound {
		change(a)
	}
	a.send(w)
}
