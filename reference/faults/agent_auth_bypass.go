package faults

import (
	"net/http"

	"github.com/agentconform/agentconform/reference/deviate"
)

// agentAuthBypass returns the faults that bypass authentication in one place.
func agentAuthBypass() []Fault {
	return []Fault{
		{
			Name: "search-for-nothing-is-everybodys", Breaks: "a search without metadata also returns the threads of the first user", Fails: "AS-AUTHZ-3",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				sent, body := bodyOf(r), readBody(r)
				a := deviate.Capture(next, r)
				if searchThreads.is(r) && a.Status == http.StatusOK && sent["metadata"] == nil && sent["ids"] == nil {
					mine, _ := deviate.Value(a.Body).([]any)
					first, _ := deviate.Value(deviate.Capture(next, resent(r, d.owner(r), body)).Body).([]any)
					a.JSON(append(mine, first...))
				}
				a.Send(w)
			}),
		},
	}
}
