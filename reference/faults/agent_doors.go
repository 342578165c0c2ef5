package faults

import (
	"net/http"
	"sync"
)

// agentDoors holds the faults that open a way into an agent server beside the usual one.
func agentDoors() []Fault {
	return []Fault{
		{
			Name: "update-forgets-the-handler", Breaks: "the agent server of a deployment that was updated serves callers without credentials as if they were the first user", Fails: "AS-AUTH-1",
			Apply: openedByUpdate(withoutToken),
		},
	}
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
