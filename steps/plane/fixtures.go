package plane

import (
	"context"
	"fmt"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

// Fixture is a deployment that scenarios share: made once, by the first that needs it.
type Fixture struct {
	Name  string
	Cost  Cost          // of making it, beside that of the fixture below it
	Lacks func() error  // skips where deployments cannot be created
	below *Fixture      // the fixture that it is made from, if there is one
	pool  []*Fixture    // those that are like this one, itself the first; each is changed by other scenarios
	lease chan struct{} // holds a token while nobody changes the deployment
	value shared.Value[*Deployment]
	make  func(ctx context.Context) (*Deployment, error)
}

// Fixtures are the deployments that scenarios share. At a real target each takes minutes.
type Fixtures struct {
	Created  *Fixture // created; perhaps not DEPLOYED yet
	Deployed *Fixture // the same, DEPLOYED; nobody ever changes it
	Existing *Fixture // created; nothing that is judged depends on its revisions
	Changing *Fixture // created; changed by one scenario at a time; the first of a pool
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
	for n := range PoolSize {
		changing := made(numbered("a deployment that one scenario changes at a time", n), one, func(ctx context.Context) (*Deployment, error) {
			return p.Create(ctx, poolNames[n], nil)
		})
		leased := made(numbered("a deployment that accepts updates", n), Cost{}, func(ctx context.Context) (*Deployment, error) {
			d, err := p.Shared(ctx, changing)
			if err != nil {
				return nil, err
			}
			up := *d // others change it already
			return d, p.reachDeployed(ctx, &up)
		})
		leased.below, leased.lease = changing, changing.lease
		if n == 0 {
			f.Changing, f.Leased = changing, leased
		}
		f.Changing.pool, f.Leased.pool = append(f.Changing.pool, changing), append(f.Leased.pool, leased)
	}
	f.Updated = made("a deployment that was updated", Cost{Deployments: 1, Revisions: 1}, p.makeUpdated)
	f.Long = made("a deployment with a long history", Cost{Deployments: 1, Revisions: longHistory - 1}, p.makeLong)
	return f
}

// PoolSize is how many deployments there are at most of which each is changed by one scenario at a time.
const PoolSize = 3

// poolNames are in the names of the deployments, which hold no spaces (target.RunOf).
var poolNames = [PoolSize]string{"changing", "changing-second", "changing-third"}

// numbered is the name of the member of a pool, from 0.
func numbered(name string, n int) string {
	if n == 0 {
		return name
	}
	return fmt.Sprintf("%s %d", name, n+1)
}

// Leases tells whether scenarios change a fixture of the name in turn.
func (fs *Fixtures) Leases(name string) bool {
	return name == fs.Changing.Name || name == fs.Leased.Name
}

// Member is the name of the fixture that is used in place of one that scenarios change in turn, from 0. Other names stay.
func (fs *Fixtures) Member(name string, n int) string {
	if fs.Leases(name) {
		return numbered(name, n)
	}
	return name
}

// memberKey is for the number of the fixture in its pool.
type memberKey struct{}

// WithMember returns a context in which [Plane.Lease] takes this member of a pool, from 0. Which one a scenario takes is decided
// before the run: reports do not depend on the pace of the target.
func WithMember(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, memberKey{}, n)
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
	if err := mayUse(ctx, f); err != nil {
		return nil, err
	}
	return p.made(ctx, f)
}

func (p *Plane) made(ctx context.Context, f *Fixture) (*Deployment, error) {
	if err := f.Lacks(); err != nil {
		return nil, err
	}
	d, err := f.value.Get(ctx, p.maker, f.Name, f.build)
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("fixture: %s: %w", f.Name, err)
	}
	return d, err
}

// build makes the fixture with what it may create.
func (f *Fixture) build(ctx context.Context) (*Deployment, error) {
	costs := []Cost{f.Cost}
	if f.below != nil {
		costs = append(costs, f.below.Needed()...)
	}
	return f.make(WithAllowance(ctx, f.Name, costs...))
}

// Lease returns the deployment of the fixture, or of the member of its pool that the context names. Nobody else changes it until it is
// given back.
func (p *Plane) Lease(ctx context.Context, f *Fixture) (d *Deployment, giveBack func(), err error) {
	if err := mayUse(ctx, f); err != nil {
		return nil, nil, err
	}
	n, _ := ctx.Value(memberKey{}).(int)
	f = f.pool[n]
	if d, err = p.made(ctx, f); err != nil {
		return nil, nil, err
	}
	select {
	case <-f.lease:
		client.Hurry(ctx, client.AwaitedByOther)
		return d, func() { f.lease <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
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
