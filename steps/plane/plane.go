// Package plane speaks with a control plane, without Gherkin: it creates deployments, updates them, polls their
// revisions until they settle, and reads lists page by page (sections 1 to 4 of the interface). It keeps the
// deployments that scenarios share, and what the run has learned about how this control plane behaves.
//
// What it cannot bring about is an error, mostly an *outcome.Outcome; the sentences say what that means for a verdict.
//
// A deployment takes minutes at a real target. Scenarios that read share one ([Plane.Shared]); scenarios that change
// one lease one of a few in turn ([Plane.Lease]). If no deployment can be created, scenarios that read use one from
// before the test run ([Existing]), and requests that must be refused go to unknown ids. Such a deployment is never
// changed or removed.
//
// One fault must not hide the others. What the response to a creation lacks is read from the deployment or the list.
// A status in a different spelling counts as the status that it means, and only the requirement about statuses
// fails. If a revision was not DEPLOYED in timeouts.poll, later polls for the same need get a part of it; they can
// block a scenario, and never fail it.
package plane

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// Plane is the control plane of a target, as one run knows it. It may be used by many goroutines.
type Plane struct {
	Fixtures *Fixtures
	Sources  Sources

	Existing *Existing // what was there before the run, where scenarios may read it

	target *target.Target
	maker  *shared.Maker
	*polls

	endless atomic.Bool // a list of revisions did not end
	noFirst atomic.Bool // the first revision of a deployment could not be learned

	mu            sync.Mutex
	noRevisionFor map[string]bool // kinds of updates of which one made no revision in time
}

// New returns the control plane of the target. Times of the timeline count from the start.
func New(t *target.Target, maker *shared.Maker, start time.Time) *Plane {
	p := &Plane{
		Sources: SourcesOf(t.Config), Existing: NoneExisting(t.Config), target: t, maker: maker,
		polls:         newPolls(start, t.Config.Timeouts.Poll),
		noRevisionFor: map[string]bool{},
	}
	p.Fixtures = p.newFixtures()
	return p
}

// allowanceKey is for the allowance in a context.
type allowanceKey struct{}

// Allowance is what a scenario, or the making of a shared deployment, may create and use. What goes beyond is a mistake
// of the suite, since the plan of the run does not know of it.
type Allowance struct {
	Cost
	What   string   // the scenario or the deployment
	Shares []string // names of shared deployments, in the tags of the features
	Member int      // which deployment [Plane.Lease] takes, from 0: reports do not depend on the pace of the target

	deployments, revisions atomic.Int64 // that were created
}

// Within returns a context in which no more is created and used.
func (a *Allowance) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, allowanceKey{}, a)
}

func allowanceIn(ctx context.Context) *Allowance {
	a, _ := ctx.Value(allowanceKey{}).(*Allowance)
	return a
}

func (a *Allowance) exceeded(how string) error { return outcome.SuiteError("%q %s", a.What, how) }

// Cost is what is created at most.
type Cost struct {
	Deployments int
	Revisions   int // beside the first one of each deployment
}

// TakeDeployment counts a deployment against what the scenario may create, before it is created. The budget was given
// out before the run.
func (p *Plane) TakeDeployment(ctx context.Context) error {
	if a := allowanceIn(ctx); a != nil && int(a.deployments.Add(1)) > a.Deployments {
		return a.exceeded("creates one deployment more than its tag @creates, or SharedCost, says")
	}
	return nil
}

// TakeRevision counts a revision against what the scenario may create and the budget, before it is asked for. The first
// came with the deployment.
func (p *Plane) TakeRevision(ctx context.Context, d *Deployment) error {
	if a := allowanceIn(ctx); a != nil && int(a.revisions.Add(1)) > a.Revisions {
		return a.exceeded("creates one revision more than its tag @creates, or SharedCost, says")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d.asked++
	if most := p.target.Config.MaxRevisions; most > 0 && d.asked+1 > most {
		return outcome.OverBudget("max_revisions", most)
	}
	return nil
}
