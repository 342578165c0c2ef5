package faults

import (
	"net/http"
	"strings"
	"sync"
)

// agentAuthBypass returns the faults that bypass authentication in one place.
func agentAuthBypass() []Fault {
	return []Fault{
		{
			Name: "update-forgets-the-handler", Breaks: "after an update of the deployment, requests without credentials are served as the thread's owner", Fails: "AS-AUTH-1",
			Apply: bypassedAfterUpdate(withoutToken),
		},
		{
			Name: "anonymous-searches-threads", Breaks: "search threads succeeds without credentials; list threads does not", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, searchThreads),
		},
		{
			Name: "unknown-token-searches-threads", Breaks: "search threads accepts any token", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, withUnknownToken, searchThreads),
		},
		{
			Name: "unknown-thread-comes-first", Breaks: "a request without valid credentials gets 404 instead of 401 if the thread does not exist", Fails: "AS-AUTH-1",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := capture(next, r)
				if thread := threadOf(r); oneOf([]operation{createRun, getRun, joinRun, getState}, r) && a.status == http.StatusUnauthorized && !d.known(thread) {
					a.refuse(http.StatusNotFound, "Thread "+thread+" not found")
				}
				a.send(w)
			}),
		},
		{
			Name: "token-is-compared-by-its-beginning", Breaks: "a token that starts with a valid token is accepted", Fails: "AS-AUTH-2",
			Apply: servedForSimilarToken(strings.HasPrefix),
		},
		{
			Name: "case-of-a-token-is-ignored", Breaks: "tokens are compared case-insensitively", Fails: "AS-AUTH-2",
			Apply: servedForSimilarToken(strings.EqualFold),
		},
		{
			Name: "beginning-of-a-token-is-accepted", Breaks: "a token that is the beginning of a valid token is accepted", Fails: "AS-AUTH-2",
			Apply: servedForSimilarToken(func(sent, known string) bool {
				return len(sent) > len("Bearer ") && strings.HasPrefix(known, sent)
			}),
		},
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

// bypassedAfterUpdate serves callers as if they were the owner, on the agent servers of deployments that were updated.
func bypassedAfterUpdate(who func(*http.Request) bool) Layer {
	return fresh(func() Layer {
		var updated sync.Map // by deployment
		return compose(
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
