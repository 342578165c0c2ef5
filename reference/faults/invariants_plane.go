package faults

import (
	"time"
)

// planeInvariants returns the faults of the control plane that only the record of a whole run shows.
func planeInvariants() []Fault {
	return []Fault{
		{
			Name: "created-is-unknown-at-first", Breaks: "reads of a new deployment return 404 for half a second", Fails: "CP-INVARIANT-8",
			Hangs: true,
			Apply: delayedCreations(500 * time.Millisecond),
		},
		{
			Name: "updated-is-as-before-at-first", Breaks: "reads show a deployment as before an update for half a second", Fails: "CP-INVARIANT-8",
			Hangs: true,
			Apply: delayedUpdates(500*time.Millisecond, false),
		},
	}
}
