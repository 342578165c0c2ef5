package target

import (
	"time"

	"github.com/agentconform/agentconform/reports"
)

// EventKind says what happened in a run.
type EventKind int

// The events of a run.
const (
	Planned   EventKind = iota // the run begins; Total scenarios are selected
	Started                    // a scenario begins
	Ended                      // a scenario has its verdict
	Polled                     // a revision's status was read
	Throttled                  // the target asked the client to wait
	Named                      // the control plane has named the agent server that is judged
)

// Event is shown to people who watch a run.
type Event struct {
	Kind    EventKind
	Name    string // of the target, the scenario, or the revision that is polled; the address that was named
	Text    string // the requirement of a scenario, the status of a revision
	Verdict reports.Verdict
	Reason  string
	// BlockedBy is what kept a scenario from being judged: many have one cause.
	BlockedBy []reports.Blocker
	Total     int
	Seed      int64
	// Deployments is how many deployments the selected scenarios are going to create at most.
	Deployments int
	Elapsed     time.Duration // since a poll began; or for how long the target asked the client to wait
	Left        time.Duration // for how long the revision is polled at most from now on
	Over        bool          // the poll has ended
	Refused     bool          // the client does not wait, because that is longer than it may
}
