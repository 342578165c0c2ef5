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
		Sources: Sources{t.Config}, Statuses: statusesOfContract(), target: t, maker: maker, reader: reader{t},
		timeline: timeline{start: start, seen: map[string]bool{}}, reads: reads{of: map[string]Read{}}, looks: looks{at: map[string]*look{}},
		waits: newWaits(), noRevisionFor: map[string]bool{},
	}
	p.Existing = noneExisting(p)
	p.Fixtures = p.newFixtures()
	return p
}

// allowanceKey is for the allowance in a context.
type allowanceKey struct{}

// allowance is what a step may still create.
type allowance struct {
	what     string
	fixtures map[string]bool

	mu                     sync.Mutex
	deployments, revisions int
}

// WithAllowance returns a context in which at most the costs may be created: those that are declared for a sentence, or
// for a fixture. What goes beyond is a mistake of the suite, since the plan of the run does not know of it.
func WithAllowance(ctx context.Context, what string, costs ...Cost) context.Context {
	a := &allowance{what: what, fixtures: map[string]bool{}}
	for _, c := range costs {
		if c.Fixture != "" {
			a.fixtures[c.Fixture] = true
			continue
		}
		a.deployments += c.Deployments
		a.revisions += c.Revisions
	}
	return context.WithValue(ctx, allowanceKey{}, a)
}

// Cost is what a sentence or a fixture creates at most.
type Cost struct {
	Fixture     string // the shared deployment that it needs, whose cost is paid once in a run
	Deployments int
	Revisions   int // beside the first one of each deployment
}
