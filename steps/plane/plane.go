// Package plane is the driver of a control plane, without Gherkin: it creates deployments, updates them, polls their
// revisions until they settle, and reads lists page by page (sections 1 to 4 of the interface). It keeps the deployments
// that scenarios share, and the facts that the test run has learned about the control plane. Start with [Plane].
//
// Most errors are an *outcome.Outcome. The step definitions decide how they affect the verdict.
//
// A deployment takes minutes at a real target. Scenarios that read share a deployment ([Plane.Shared]). Scenarios that
// change one lease a deployment of a small pool ([Plane.Lease]). If no deployment can be created, scenarios that read use
// one from before the test run ([Existing]), and requests that must be refused go to unknown ids. An existing deployment
// is never changed or removed.
//
// One fault must not hide the others. If the response to a creation lacks ids, they are read from the deployment or the
// list. A status in a different spelling is treated like the correct status, so that only the requirement about statuses
// fails. If a revision was not DEPLOYED within timeouts.poll, later polls for the same need get a part of that time. They
// can block a scenario but never fail it.
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

// Plane is the control plane of a target in one test run. It may be used by many goroutines.
type Plane struct {
	Fixtures *Fixtures
	Sources  Sources

	Existing *Existing // deployments that existed before the test run

	target *target.Target
	maker  *shared.Maker
	*polls

	endlessList     atomic.Bool // a list of revisions did not end
	noFirstRevision atomic.Bool // the first revision of some deployment was not found

	mu            sync.Mutex
	noRevisionFor map[string]bool // kinds of updates; one update of this kind created no revision in time
	updated       map[string]bool // keys of revisions that were the latest before an update
}

// New returns the control plane of the target. start is the zero of the timeline.
func New(t *target.Target, maker *shared.Maker, start time.Time) *Plane {
	p := &Plane{
		Sources: SourcesOf(t.Config), Existing: NoneExisting(t.Config), target: t, maker: maker,
		polls:         newPolls(start, t.Config.Timeouts.Poll),
		noRevisionFor: map[string]bool{},
		updated:       map[string]bool{},
	}
	p.Fixtures = p.newFixtures()
	return p
}

type allowanceKey struct{}

// Allowance is the maximum that a scenario, or the maker of a shared deployment, may create and use. Exceeding it is an
// error of the suite, because the plan of the test run uses the same numbers.
type Allowance struct {
	Cost
	Name   string   // name of the scenario or the deployment
	Shares []string // names of shared deployments, in the tags of the features
	Member int      // index of the deployment that [Plane.Lease] returns

	deployments, revisions atomic.Int64 // the number that were created
}

// Within returns a context that has the allowance.
func (a *Allowance) Within(ctx context.Context) context.Context {
	return context.WithValue(ctx, allowanceKey{}, a)
}

func allowanceIn(ctx context.Context) *Allowance {
	a, _ := ctx.Value(allowanceKey{}).(*Allowance)
	return a
}

func (a *Allowance) exceeded(how string) error { return outcome.SuiteError("%s: it %s", a.Name, how) }

// Cost is the maximum number of deployments and revisions that are created.
type Cost struct {
	Deployments int
	Revisions   int // the first revision of each deployment is not counted
}

// TakeDeployment counts a deployment against the allowance, before it is created. max_deployments was distributed before
// the test run.
func (p *Plane) TakeDeployment(ctx context.Context) error {
	a := allowanceIn(ctx)
	if a != nil && int(a.deployments.Add(1)) > a.Deployments {
		return a.exceeded("creates one deployment more than its tag @creates, or SharedCost, allows")
	}
	return nil
}

// TakeRevision counts a revision against the allowance and the budget max_revisions, before the update that creates it.
// The first revision of a deployment is not counted against the allowance.
func (p *Plane) TakeRevision(ctx context.Context, d *Deployment) error {
	a := allowanceIn(ctx)
	if a != nil && int(a.revisions.Add(1)) > a.Revisions {
		return a.exceeded("creates one revision more than its tag @creates, or SharedCost, allows")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d.updates++
	most := p.target.Config.MaxRevisions
	if most > 0 && d.updates+1 > most {
		return outcome.OverBudget("max_revisions", most)
	}
	return nil
}

// returnRevision undoes [Plane.TakeRevision] after a refused update.
func (p *Plane) returnRevision(ctx context.Context, d *Deployment) {
	if a := allowanceIn(ctx); a != nil {
		a.revisions.Add(-1)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d.updates--
}
