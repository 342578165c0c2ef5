package plane

import (
	"context"
	"fmt"

	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/slots"
)

// Fixture is a deployment that scenarios share: made once, by the first that needs it.
type Fixture struct {
	Name  string
	Cost  Cost          // of making it, beside that of the fixture below it
	Lacks func() error  // skips where deployments cannot be created
	below *Fixture      // the fixture that it is made from, if there is one
	lease chan struct{} // holds a token while nobody changes the deployment
	value shared.Value[*Deployment]
	make  func(ctx context.Context) (*Deployment, error)
}

// Fixtures are the deployments that scenarios share. At a real target each takes minutes.
type Fixtures struct {
	Created  *Fixture // created; perhaps not DEPLOYED yet
	Deployed *Fixture // the same, DEPLOYED; nobody ever changes it
	Existing *Fixture // created; nothing that is judged depends on its revisions
	Changing *Fixture // created; changed by one scenario at a time
	Leased   *Fixture // the same, DEPLOYED
	Updated  *Fixture // DEPLOYED, then updated to another source, and settled
	Long     *Fixture // with more than 20 revisions, all settled
}

func (p *Plane) newFixtures() *Fixtures {
	made := func(name string, cost Cost, makeIt func(ctx context.Context) (*Deployment, error)) *Fixture {
		f := &Fixture{Name: name, Cost: cost, Lacks: p.Sources.CanCreate, make: makeIt, lease: make(chan struct{}, 1)}
		f.lease <- struct{}{}
		return f
	}
	one := Cost{Deployments: 1}
	f := &Fixtures{}
	f.Created = made("a deployment", one, func(ctx context.Context) (*Deployment, error) { return p.Create(ctx, "shared", nil) })
	f.Deployed = made("a DEPLOYED deployment", Cost{}, func(ctx context.Context) (*Deployment, error) {
		d, err := p.Shared(ctx, f.Created)
		if err != nil {
			return nil, err
		}
		up := *d // the other fixture's is read by those who do not wait
		return &up, p.reachDeployed(ctx, &up)
	})
	f.Deployed.below = f.Created
	f.Existing = made("another existing deployment", one, func(ctx context.Context) (*Deployment, error) { return p.Create(ctx, "another", nil) })
	f.Changing = made("a deployment that one scenario changes at a time", one, func(ctx context.Context) (*Deployment, error) { return p.Create(ctx, "changing", nil) })
	f.Leased = made("a deployment that accepts updates", Cost{}, func(ctx context.Context) (*Deployment, error) {
		d, err := p.Shared(ctx, f.Changing)
		if err != nil {
			return nil, err
		}
		return d, p.reachDeployed(ctx, d)
	})
	f.Leased.below, f.Leased.lease = f.Changing, f.Changing.lease
	f.Updated = made("a deployment that was updated", Cost{Deployments: 1, Revisions: 1}, p.makeUpdated)
	f.Long = made("a deployment with a long history", Cost{Deployments: 1, Revisions: longHistory - 1}, p.makeLong)
	return f
}

// All returns every fixture.
func (fs *Fixtures) All() []*Fixture {
	return []*Fixture{fs.Created, fs.Deployed, fs.Existing, fs.Changing, fs.Leased, fs.Updated, fs.Long}
}

// Needed is the cost of a sentence that needs the fixture: its own, and that of the one below it.
func (f *Fixture) Needed() []Cost {
	own := f.Cost
	own.Fixture = f.Name
	if f.below == nil {
		return []Cost{own}
	}
	return append(f.below.Needed(), own)
}

// Shared returns the fixture's deployment, made by whoever comes first.
func (p *Plane) Shared(ctx context.Context, f *Fixture) (*Deployment, error) {
	if err := f.Lacks(); err != nil {
		return nil, err
	}
	if err := mayUse(ctx, f); err != nil {
		return nil, err
	}
	d, err := f.value.Get(ctx, p.maker, f.Name, f.build)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("fixture: %s: %w", f.Name, err)
	}
	return d, err
}

// Begin has the fixture made before a scenario asks for it, and returns what is closed when it is there or has failed; nil where
// deployments cannot be created.
func (p *Plane) Begin(f *Fixture) (ready <-chan struct{}) {
	if f.Lacks() != nil {
		return nil
	}
	return f.value.Begin(p.maker, f.Name, f.build)
}

// build makes the fixture with what it may create.
func (f *Fixture) build(ctx context.Context) (*Deployment, error) {
	costs := []Cost{f.Cost}
	if f.below != nil {
		costs = append(costs, f.below.Needed()...)
	}
	return f.make(WithAllowance(ctx, f.Name, costs...))
}

// Lease returns the fixture's deployment, which nobody else changes until it is given back.
func (p *Plane) Lease(ctx context.Context, f *Fixture) (d *Deployment, giveBack func(), err error) {
	if d, err = p.Shared(ctx, f); err != nil {
		return nil, nil, err
	}
	giveBack = func() { f.lease <- struct{}{} }
	select {
	case <-f.lease:
		return d, giveBack, nil
	default:
	}
	leased := false
	err = slots.Away(ctx, func() error {
		select {
		case <-f.lease:
			leased = true
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	if err != nil {
		if leased {
			giveBack()
		}
		return nil, nil, err
	}
	return d, giveBack, nil
}

func (p *Plane) makeUpdated(ctx context.Context) (*Deployment, error) {
	change, key := p.Sources.Another()
	if change == nil {
		return nil, outcome.Needs(key)
	}
	d, err := p.CreateDeployed(ctx, "updated")
	if err != nil {
		return nil, err
	}
	if d.Original, err = p.Get(ctx, RevisionPath(d.ID, d.First), ""); err != nil {
		return nil, err
	}
	if err := p.Update(ctx, d, change); err != nil {
		return nil, err
	}
	d.Update = change
	if _, err = p.Poll(ctx, d.ID, d.Latest(), p.Statuses.settled); err != nil {
		return nil, err
	}
	return d, p.AwaitListed(ctx, d.ID, d.Revisions...)
}
