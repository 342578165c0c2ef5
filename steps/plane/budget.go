package plane

import (
	"context"
	"slices"

	"github.com/agentconform/agentconform/steps/outcome"
)

// TakeDeployment counts a deployment against the budget, before it is created. It skips where none can be created.
func (p *Plane) TakeDeployment(ctx context.Context) error {
	if err := p.Sources.CanCreate(); err != nil {
		return err
	}
	if err := spend(ctx, "deployment", func(a *allowance) *int { return &a.deployments }); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deployments++
	if most := p.target.Config.MaxDeployments; p.deployments > most && most > 0 {
		return outcome.OverBudget("max_deployments", "the budget is used up: raise max_deployments (now %d)", most)
	}
	return nil
}

// TakeRevision counts a revision against the budget, before it is asked for. The first came with the deployment.
func (p *Plane) TakeRevision(ctx context.Context, d *Deployment) error {
	if err := spend(ctx, "revision", func(a *allowance) *int { return &a.revisions }); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d.asked++
	if most := p.target.Config.MaxRevisions; most > 0 && d.asked+1 > most {
		return outcome.OverBudget("max_revisions", "the budget is used up: raise max_revisions (now %d)", most)
	}
	return nil
}

// mayUse holds the use of a shared deployment to the tags of the scenario.
func mayUse(ctx context.Context, f *Fixture) error {
	a, _ := ctx.Value(allowanceKey{}).(*allowance)
	if a == nil || slices.Contains(a.shares, f.Shared) {
		return nil
	}
	return outcome.SuiteError("%q uses %s without the tag @shares:%s", a.what, f.Name, f.Shared)
}

// spend holds a creation to the tags of the scenario, or to the cost of the shared deployment that it is for.
func spend(ctx context.Context, what string, part func(*allowance) *int) error {
	a, _ := ctx.Value(allowanceKey{}).(*allowance)
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	left := part(a)
	if *left--; *left < 0 {
		return outcome.SuiteError("%q creates one %s more than its tag @creates, or SharedCost, says", a.what, what)
	}
	return nil
}
