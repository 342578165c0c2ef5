package plane

import (
	"context"
	"sync"
	"time"

	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// Plane is the control plane of a target, as one run knows it. It may be used by many goroutines.
type Plane struct {
	Fixtures *Fixtures
	Sources  Sources

	Existing *Existing // what was there before the run, where scenarios may read it
	Statuses Statuses

	target *target.Target
	maker  *shared.Maker
	reader
	timeline
	reads
	looks
	*waits

	mu            sync.Mutex
	deployments   int             // how many were asked for, for the budget
	noRevisionFor map[string]bool // kinds of updates of which one made no revision in time
	noFirst       bool            // the first revision of a deployment could not be learned
}

// New returns the control plane of the target. Shared deployments are made by the maker; times of the timeline count from
// the start.
func New(t *target.Target, maker *shared.Maker, start time.Time) *Plane {
	p := &Plane{
		Sources: SourcesOf(t.Config), Statuses: statusesOfContract(), target: t, maker: maker, reader: reader{t},
		timeline: timeline{start: start, seen: map[string]bool{}}, reads: reads{of: map[string]Read{}}, looks: looks{at: map[string]*look{}},
		waits: newWaits(), noRevisionFor: map[string]bool{},
	}
	p.Existing = NoneExisting(t.Config)
	p.Fixtures = p.newFixtures()
	return p
}

// allowanceKey is for the allowance in a context.
type allowanceKey struct{}

// allowance is what a scenario, or the making of a shared deployment, may still create.
type allowance struct {
	what   string
	shares []string

	mu                     sync.Mutex
	deployments, revisions int
}

// WithAllowance returns a context in which at most the cost may be created, and the shared deployments with these names used. What
// goes beyond is a mistake of the suite, since the plan of the run does not know of it.
func WithAllowance(ctx context.Context, what string, c Cost, shares []string) context.Context {
	return context.WithValue(ctx, allowanceKey{}, &allowance{what: what, shares: shares, deployments: c.Deployments, revisions: c.Revisions})
}

// Cost is what is created at most.
type Cost struct {
	Deployments int
	Revisions   int // beside the first one of each deployment
}
