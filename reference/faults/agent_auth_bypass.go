package faults

import (
	"net/http"
)

// agentAuthBypass returns the faults that bypass authentication in one place.
func agentAuthBypass() []Fault {
	return []Fault{
		{
			Name: "end-of-a-token-is-not-compared", Breaks: "tokens of the same length are compared without their last character", Fails: "AS-AUTH-2",
			Apply: servedForSimilarToken(differsAtTheEnd),
		},
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

// differsAtTheEnd tells whether two values differ in their last byte only.
func differsAtTheEnd(given, valid string) bool {
	n := len(valid) - 1
	return n > 0 && len(given) == n+1 && given[:n] == valid[:n]
}

// servedForSimilarToken serves callers whose Authorization is similar to that of a thread owner: at the operations, or at all.
func servedForSimilarToken(like func(sent, known string) bool, ops ...operation) Layer {
	return directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if len(ops) > 0 && !oneOf(ops, r) {
			next.ServeHTTP(w, r)
			return
		}
		sent, body := r.Header.Get("Authorization"), readBody(r)
		a := capture(next, r)
		if known := d.owner(r); a.status == http.StatusUnauthorized && known != "" && like(sent, known) {
			a = capture(next, resent(r, known, body))
		}
		a.send(w)
	})
}
