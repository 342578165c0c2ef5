package agent

import (
	"sync/atomic"

	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// Agents are the agent servers of a target, as one run knows them. It may be used by many goroutines.
type Agents struct {
	Pace Pace // how fast they answer

	target *target.Target
	plane  *plane.Plane
	maker  *shared.Maker

	noAddress atomic.Bool        // a DEPLOYED deployment was seen not to tell the address of its agent server
	threads   shared.Set[string] // that were given: the address of their agent server, and their id
	learned   learned            // of the one that is judged
}

// learned is what scenarios share of the agent server that is judged.
type learned struct {
	server       shared.Value[*Server]
	completedRun shared.Value[*GraphRun] // completed, on a thread that no scenario changes
	rolledBack   shared.Value[*Rollback] // a run that had written made room for another one
	verified     shared.Value[*Rollback] // the same, seen to be gone
	pending      shared.Value[*Rollback] // a run made room for another one as soon as it was accepted
	additive     shared.Value[bool]      // whether a second run adds to the messages of the first
	otherServed  shared.Value[bool]      // the other user was served what is their own
	enqueues     shared.Value[bool]      // whether a run can be asked to wait behind another one
	otherListing shared.Value[bool]      // whether the user is served by the listing call that is not configured
	joinHangs    atomic.Bool             // a join was seen not to answer although the run was over
}

// New returns the agent servers of the target, whose addresses the control plane may name.
func New(t *target.Target, p *plane.Plane, maker *shared.Maker) *Agents {
	return &Agents{target: t, plane: p, maker: maker}
}

// Server is one deployed agent server at its address ({deployment_url}).
type Server struct {
	Base string

	agents *Agents
	target *target.Target
}
