package faults

import (
	"net/http"
)

// agentAuthBypass returns the faults that bypass authentication in one place.
func agentAuthBypass() []Fault {
	return []Fault{
		{
			Name: "search-for-nothing-is-everybodys", Breaks: "a search without metadata also returns the threads of the first user", Fails: "AS-AUTHZ-3",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				sent, body := bodyOf(r), readBody(r)
				a := capture(next, r)
				if searchThreads.is(r) && a.status == http.StatusOK && sent["metadata"] == nil && sent["ids"] == nil {
					a.json(append(a.array(), capture(next, resent(r, d.owner(r), body)).array()...))
				}
				a.send(w)
			}),
		},
	}
}
