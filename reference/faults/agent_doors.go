package faults

import (
	"net/http"
	"strings"
	"sync"
)

// agentDoors holds the faults that open a way into an agent server beside the usual one.
func agentDoors() []Fault {
	return []Fault{
		{
			Name: "update-forgets-the-handler", Breaks: "the agent server of a deployment that was updated serves callers without credentials as if they were the first user", Fails: "AS-AUTH-1",
			Apply: openedByUpdate(withoutToken),
		},
		{
			Name: "anonymous-searches-threads", Breaks: "the search for threads is served without credentials, and the plain list is not", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, searchThreads),
		},
		{
			Name: "unknown-token-searches-threads", Breaks: "the search for threads looks whether there is a token, and not whose it is", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, withUnknownToken, searchThreads),
		},
		{
			Name: "unknown-thread-comes-first", Breaks: "whether a thread exists is looked up before the credentials: an unknown one is 404 for everybody", Fails: "AS-AUTH-1",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := capture(next, r)
				if thread := threadOf(r); oneOf([]operation{createRun, getRun, joinRun, getState}, r) && a.status == http.StatusUnauthorized && !d.known(thread) {
					a.refuse(http.StatusNotFound, "Thread "+thread+" not found")
				}
				a.send(w)
			}),
		},
		{
			Name: "token-is-compared-by-its-beginning", Breaks: "a token opens the door that begins with a valid one", Fails: "AS-AUTH-2",
			Apply: servedAsNearly(strings.HasPrefix),
		},
		{
			Name: "case-of-a-token-is-ignored", Breaks: "a token opens the door that differs from a valid one in its case only", Fails: "AS-AUTH-2",
			Apply: servedAsNearly(strings.EqualFold),
		},
		{
			Name: "search-for-nothing-is-everybodys", Breaks: "a search for threads that names no metadata shows those of the first user, too", Fails: "AS-AUTHZ-3",
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

// servedAsNearly serves callers whose Authorization is like that of somebody who has created a thread.
func servedAsNearly(like func(sent, known string) bool) Layer {
	return directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		sent, body := r.Header.Get("Authorization"), readBody(r)
		a := capture(next, r)
		if known := d.owner(r); a.status == http.StatusUnauthorized && known != "" && like(sent, known) {
			a = capture(next, resent(r, known, body))
		}
		a.send(w)
	})
}

// openedByUpdate has the agent servers of deployments that were updated serve callers as if they were the owner.
func openedByUpdate(who func(*http.Request) bool) Layer {
	return fresh(func() Layer {
		var updated sync.Map // by deployment
		return both(
			onAnswer(updateDeployment, func(r *http.Request, a *answer) {
				if a.status < 300 {
					updated.Store(deploymentOf(r), true)
				}
			}),
			servedAsOwner(http.StatusUnauthorized, func(r *http.Request) bool {
				_, open := updated.Load(segment(r, 2))
				return open && who(r)
			}, agentOperations...),
		)
	})
}
