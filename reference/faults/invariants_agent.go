package faults

import (
	"net/http"
	"sync"

	"github.com/agentconform/agentconform/reference/deviate"
)

// agentInvariants returns the faults of the agent server that only the record of a whole run shows.
func agentInvariants() []Fault {
	return []Fault{
		{
			Name: "state-shows-anothers-token", Breaks: "get state has a field with the Authorization header of another user", Fails: "AS-INVARIANT-4",
			Apply: fresh(func() Layer {
				var callers sync.Map // the Authorization headers of those who created threads
				return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					who := r.Header.Get("Authorization")
					a := deviate.Capture(next, r)
					if createThread.is(r) && a.Status == http.StatusOK {
						callers.Store(who, true)
					}
					if getState.is(r) && a.Status == http.StatusOK {
						a.Edit(func(state map[string]any) {
							callers.Range(func(other, _ any) bool {
								if other != who {
									state["trace"] = other
								}
								return true
							})
						})
					}
					a.Send(w)
				})
			}),
		},
		{
			Name: "state-shows-what-others-said", Breaks: "get state has a field with the last text that another user sent", Fails: "AS-INVARIANT-4",
			Elsewhere: true,
			Apply:     showingOthersText(func(state map[string]any, text any) { state["recent"] = text }),
		},
		{
			Name: "run-names-the-one-it-replaced", Breaks: "get run of a completed run with rollback has a field with the id of the run that it replaced", Fails: "AS-INVARIANT-5",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getRun.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := deviate.Capture(next, r)
				a.Edit(func(run map[string]any) {
					before := ""
					for _, each := range d.rollbacks(threadOf(r)) {
						if each.id == text(run, "run_id") && before != "" {
							run["replaced"] = before
						}
						before = each.id
					}
				})
				a.Send(w)
			}),
		},
		{
			Name: "state-keeps-replaced-inputs", Breaks: "get state has a field with the inputs of runs that were rolled back", Fails: "AS-INVARIANT-5",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !getState.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := deviate.Capture(next, r)
				a.Edit(func(state map[string]any) {
					if all := d.rollbacks(threadOf(r)); len(all) > 1 && a.Status == http.StatusOK {
						state["replaced"] = []any{all[len(all)-2].said}
					}
				})
				a.Send(w)
			}),
		},
	}
}

// showingOthersText shows in every state the last text that another user has sent.
func showingOthersText(show func(state map[string]any, text any)) Layer {
	return fresh(func() Layer {
		var said sync.Map // text by Authorization
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			who := r.Header.Get("Authorization")
			if !getState.is(r) && !createRun.is(r) {
				next.ServeHTTP(w, r)
				return
			}
			sent := items(object(bodyOf(r)["input"])["messages"])
			a := deviate.Capture(next, r)
			if createRun.is(r) {
				for _, m := range sent {
					if a.Status < http.StatusMultipleChoices { // whoever is refused is no user
						said.Store(who, text(m, "content"))
					}
				}
				a.Send(w)
				return
			}
			a.Edit(func(state map[string]any) {
				said.Range(func(other, text any) bool {
					if other != who && a.Status == http.StatusOK {
						show(state, text)
					}
					return true
				})
			})
			a.Send(w)
		})
	})
}
