package faults

import (
	"net/http"
	"regexp"
)

// Vendor extensions that name a thread.
var (
	getThread = operation{http.MethodGet, deleteThread.path}
	listRuns  = operation{http.MethodGet, createRun.path}
	cancelRun = operation{http.MethodPost, regexp.MustCompile(`^/agents/[^/]+/threads/[^/]+/runs/[^/]+/cancel$`)}
)

// agentExtensions returns the faults in which vendor extensions serve those who do not own a thread.
func agentExtensions() []Fault {
	return []Fault{
		{
			Name: "foreign-runs-are-listed", Breaks: "list runs succeeds on another user's thread", Fails: "AS-AUTHZ-6",
			Apply: servedAsOwner(http.StatusNotFound, anybody, listRuns),
		},
		{
			Name: "anonymous-retrieves-threads", Breaks: "get thread succeeds without credentials", Fails: "AS-AUTHZ-6",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, getThread),
		},
		{
			Name: "foreign-thread-is-deleted", Breaks: "delete thread succeeds on another user's thread", Fails: "AS-AUTHZ-6",
			Apply: servedAsOwner(http.StatusNotFound, anybody, deleteThread),
		},
		{
			Name: "foreign-thread-is-refused-and-deleted", Breaks: "delete thread of another user's thread gets 404, but deletes the thread", Fails: "AS-AUTHZ-6",
			Apply: refusedAndDone(http.StatusNotFound, anybody, deleteThread),
		},
		{
			Name: "foreign-run-is-cancelled", Breaks: "cancel run succeeds on another user's run", Fails: "AS-AUTHZ-6",
			Apply: servedAsOwner(http.StatusNotFound, anybody, cancelRun),
		},
		{
			Name: "second-users-threads-are-deleted", Breaks: "delete thread succeeds for the first user on the threads of other users", Fails: "AS-AUTHZ-6",
			Apply: servedToFirst(deleteThread),
		},
	}
}

// ofForeign answers a request about a thread that does not exist for the caller with 200 and a body that holds nothing.
func ofForeign(op operation, body any) Layer {
	return onStatus(op, http.StatusNotFound, func(_ *http.Request, a *answer) {
		a.status = http.StatusOK
		a.json(body)
	})
}
