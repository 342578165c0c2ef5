package plane

import (
	"context"
	"errors"
	"slices"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

// Fixture is a deployment that scenarios share. It is made when the first scenario needs it.
type Fixture struct {
	Name   string
	Shared string // the name in the tags of the features: history in @shares:history
	make   makeFunc
}

// makeFunc makes the deployment of a fixture.
type makeFunc func(ctx context.Context) (*Deployment, error)

// member is one of the deployments in the pool for scenarios that change a deployment. Each is changed by one scenario at
// a time.
type member struct {
	created  *Fixture // may not be DEPLOYED yet
	deployed *Fixture
	lease    chan struct{} // contains a token while no scenario changes the deployment
}

// Changing is the name of the pool in the tags of the features: shared deployments that scenarios change one after the
// other.
const Changing = "changing"

// Events is the name, in the tags of the features, of the shared deployments to which events happen.
const Events = "situations"

// SharedCost returns the cost of a shared deployment, by its name in the tags of the features.
func SharedCost(name string) Cost {
	switch name {
	case "updated":
		return Cost{Deployments: 1, Revisions: 1}
	case "history":
		return Cost{Deployments: 1, Revisions: longHistory - 1}
	case Events:
		return Cost{Deployments: 1 + SituationDeployments, Revisions: 12}
	}
	return Cost{Deployments: 1}
}

// Fixtures are the deployments that scenarios share, because at a real target each takes minutes.
type Fixtures struct {
	Created  *Fixture // may not be DEPLOYED yet
	Readable *Fixture // the same deployment, once its first revision can be retrieved
	Deployed *Fixture // the same deployment, once it is DEPLOYED; no scenario changes it
	Existing *Fixture // another deployment; no judgement depends on its revisions
	Updated  *Fixture // was DEPLOYED, then updated to another source, and has settled
	Long     *Fixture // has more than 20 revisions, all settled
	Failed   *Fixture // its first build has failed

	changing   [PoolSize]member             // see [Plane.Lease]
	situations [SituationDeployments]member // see [Plane.LeaseSituation]
}

func (p *Plane) newFixtures() *Fixtures {
	create := func(purpose string) makeFunc {
		return func(ctx context.Context) (*Deployment, error) { return p.Create(ctx, purpose, nil) }
	}
	f := &Fixtures{
		Created:  &Fixture{"a deployment", "deployment", create("shared")},
		Existing: &Fixture{"another existing deployment", "another", create("another")},
		Updated:  &Fixture{"a deployment that was updated", "updated", p.makeUpdated},
		Long:     &Fixture{"a deployment with a long history", "history", p.makeLong},
		Failed:   &Fixture{"a deployment whose first build has failed", Events, p.makeFailed},
	}
	f.Readable = &Fixture{"a deployment with a retrievable revision", "deployment",
		p.makeFrom(f.Created, func(ctx context.Context, d *Deployment) (*Deployment, error) {
			return d, p.awaitFirst(ctx, d)
		})}
	f.Deployed = &Fixture{"a DEPLOYED deployment", "deployment",
		p.makeFrom(f.Created, func(ctx context.Context, d *Deployment) (*Deployment, error) {
			deployed := *d // a copy, because scenarios with the fixture Created read d meanwhile
			return &deployed, p.reachDeployed(ctx, &deployed)
		})}
	newMember := func(shared, purpose, whenCreated, whenDeployed string) member {
		created := &Fixture{whenCreated, shared, create(purpose)}
		deployed := &Fixture{whenDeployed, shared,
			p.makeFrom(created, func(ctx context.Context, d *Deployment) (*Deployment, error) {
				deployed := *d // a copy, because a scenario with a lease may change d meanwhile
				return d, p.reachDeployed(ctx, &deployed)
			})}
		m := member{created, deployed, make(chan struct{}, 1)}
		m.lease <- struct{}{}
		return m
	}
	for n, name := range poolNames {
		f.changing[n] = newMember(Changing, name.purpose, "a deployment that one scenario changes at a time"+name.number,
			"a deployment that accepts updates"+name.number)
	}
	for n, purpose := range situationNames {
		f.situations[n] = newMember(Events, purpose, "a new deployment for "+purpose, "a deployment for "+purpose)
	}
	return f
}

// makeFrom returns a function that makes a fixture from the deployment of another fixture.
func (p *Plane) makeFrom(other *Fixture, do func(ctx context.Context, d *Deployment) (*Deployment, error)) makeFunc {
	return func(ctx context.Context) (*Deployment, error) {
		d, err := p.Shared(ctx, other)
		if err != nil {
			return nil, err
		}
		return do(ctx, d)
	}
}

// awaitFirst waits until the first revision can be retrieved.
func (p *Plane) awaitFirst(ctx context.Context, d *Deployment) error {
	a, err := p.AwaitFound(ctx, RevisionPath(d.ID, d.First))
	if err == nil && !a.OK() {
		return outcome.Blocked("revision %s cannot be retrieved: %s", d.First, outcome.Seen(a))
	}
	return err
}

// PoolSize is the maximum number of deployments in the pool. With one deployment, scenarios would wait for each other,
// because each update takes a build. More deployments cost the target's resources.
const PoolSize = 3

// poolNames are parts of the names of deployments (without spaces, see target.RunOf) and of fixtures.
var poolNames = [PoolSize]struct{ purpose, number string }{
	{"changing", ""}, {"changing-second", " 2"}, {"changing-third", " 3"}}

// SituationDeployments is the number of deployments to which events happen one after the other.
const SituationDeployments = 2

// situationNames are parts of their names.
var situationNames = [SituationDeployments]string{"events", "builds"}

// Shared returns the deployment of a fixture. The first call makes it.
func (p *Plane) Shared(ctx context.Context, f *Fixture) (*Deployment, error) {
	a := allowanceIn(ctx)
	if a != nil && !slices.Contains(a.Shares, f.Shared) {
		return nil, a.exceeded("uses " + f.Name + "; add the tag @shares:" + f.Shared + " to the scenario or its rule")
	}
	if err := p.Sources.CanCreate(); err != nil {
		return nil, err
	}
	return shared.Keep(ctx, p.maker, f.Name, func(ctx context.Context) (*Deployment, error) {
		a := &Allowance{Name: f.Name, Cost: SharedCost(f.Shared), Shares: []string{f.Shared}}
		return f.make(a.Within(ctx))
	})
}

// Lease returns the member of the pool that the allowance names, or the first one without an allowance. If deployed is
// set, it waits until the deployment is DEPLOYED. No other scenario changes the deployment until giveBack is called.
func (p *Plane) Lease(ctx context.Context, deployed bool) (d *Deployment, giveBack func(), err error) {
	m := p.Fixtures.changing[0]
	if a := allowanceIn(ctx); a != nil {
		m = p.Fixtures.changing[a.Member]
	}
	if deployed {
		return p.leaseFrom(ctx, m, m.deployed)
	}
	return p.leaseFrom(ctx, m, m.created)
}

// LeaseSituation returns one of the deployments to which events happen, once it is DEPLOYED. No other scenario changes it
// until giveBack is called.
func (p *Plane) LeaseSituation(ctx context.Context, n int) (d *Deployment, giveBack func(), err error) {
	m := p.Fixtures.situations[n]
	return p.leaseFrom(ctx, m, m.deployed)
}

// leaseFrom returns the deployment of a member of a pool, once its fixture f is made and no other scenario changes it.
func (p *Plane) leaseFrom(ctx context.Context, m member, f *Fixture) (d *Deployment, giveBack func(), err error) {
	d, err = p.Shared(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	select {
	case <-m.lease:
		client.Prioritize(ctx) // others wait for the deployment
		return d, func() { m.lease <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

func (p *Plane) makeUpdated(ctx context.Context) (*Deployment, error) {
	change, _ := p.Sources.Another()
	d, err := p.CreateDeployed(ctx, "updated")
	if err != nil {
		return nil, err
	}
	d.Original, err = p.GetRevision(ctx, d.ID, d.First)
	if err != nil {
		return nil, err
	}
	if err := p.Update(ctx, d, change); err != nil {
		return nil, err
	}
	if _, err = p.Poll(ctx, d.ID, d.Latest(), IsSettled); err != nil {
		return nil, err
	}
	return d, p.awaitShown(ctx, d)
}

// awaitShown waits until every response shows all revisions and their statuses, because the list of a target with
// replicas may be as old as patience.
func (p *Plane) awaitShown(ctx context.Context, d *Deployment) error {
	if err := p.AwaitListed(ctx, d.ID, d.Revisions...); err != nil {
		return err
	}
	return client.Sleep(ctx, p.target.Config.Patience)
}

// makeFailed creates a deployment from a source that cannot be built, and waits until its build has failed.
func (p *Plane) makeFailed(ctx context.Context) (*Deployment, error) {
	broken, key := p.Sources.Broken()
	if broken == nil {
		return nil, outcome.Needs(key)
	}
	d, err := p.Create(ctx, "failed", SourceUpdate(broken))
	if err != nil {
		return nil, err
	}
	p.ExpectFailure(d.First)
	h, err := p.Poll(ctx, d.ID, d.First, IsSettled)
	if err != nil {
		return nil, err
	}
	if !IsFailed(CanonicalStatus(h.Final)) {
		return nil, outcome.Inapplicable("CP-POLL-4", "the revision from the broken source does not fail (CP-POLL-4): it is %s", h.Final)
	}
	return d, nil
}

// longHistory is the number of revisions of the deployment with a long history: more than the default limit of a list
// (20, section 8), and not a multiple of the page sizes that scenarios use.
const longHistory = 23

// lateFailure is the number of revisions in a long history before its second failed revision. A few newer ones follow, so
// that the first page of a list with a filter by another status omits a revision in the middle of the list.
const lateFailure = longHistory - 4

// makeLong makes a deployment with a long history. If the configuration names a source that cannot be built and the target
// accepts it, one of the revisions fails, so that filters by status can be judged.
func (p *Plane) makeLong(ctx context.Context) (*Deployment, error) {
	d, err := p.CreateDeployed(ctx, "history")
	if err != nil {
		return nil, err
	}
	for _, n := range []int{lateFailure, longHistory} { // after each failure, updates up to this number of revisions
		if err := p.failOnce(ctx, d); err != nil {
			return nil, err
		}
		for len(d.Revisions) < n {
			if err := p.Update(ctx, d, p.Sources.Next(len(d.Revisions))); err != nil {
				return nil, err
			}
		}
	}
	late, err := p.AwaitSettled(ctx, d)
	if err != nil {
		return nil, err
	}
	if late != nil {
		if o := p.CheckWhole(late); o != nil {
			return nil, o
		}
		return nil, outcome.Blocked("revision %s did not settle in %s: it is %s",
			late.revision, p.target.Config.Timeouts.Poll, late.Final)
	}
	if err := p.awaitShown(ctx, d); err != nil {
		return nil, err
	}
	return d, p.checkNoForeignRevisions(ctx, d)
}

// failOnce adds a revision that fails if the configuration names a source that cannot be built and the target accepts it.
func (p *Plane) failOnce(ctx context.Context, d *Deployment) error {
	broken, _ := p.Sources.Broken()
	if broken == nil {
		return nil
	}
	err := p.Update(ctx, d, broken)
	o, is := errors.AsType[*outcome.Outcome](err)
	if is && slices.ContainsFunc(o.Violations, func(v outcome.Violation) bool { return v.Kind == outcome.Refused }) {
		p.returnRevision(ctx, d)
		return nil
	}
	if err != nil {
		return err
	}
	p.ExpectFailure(d.Latest())
	_, err = p.Poll(ctx, d.ID, d.Latest(), IsSettled)
	return err
}

// checkNoForeignRevisions blocks if the deployment has revisions that the suite did not create, because its lists could
// not be judged. Such a revision must be both in the list and retrievable, because scenarios judge wrong lists.
func (p *Plane) checkNoForeignRevisions(ctx context.Context, d *Deployment) error {
	const maxRetrieved = 5 // a hostile list may name any number of revisions
	all, err := p.ListAll(ctx, d.ID, "")
	if err != nil {
		return nil // scenarios judge a list that cannot be read
	}
	own := exchange.IDKeys(d.Revisions)
	retrieved := 0
	for _, id := range all.IDs() {
		if slices.Contains(own, exchange.IDKey(id)) {
			continue
		}
		if retrieved == maxRetrieved {
			return nil
		}
		retrieved++
		a, err := p.GetRevision(ctx, d.ID, id)
		if err == nil && a.OK() && exchange.SameID(a.Get("id").String(), id) {
			return outcome.Blocked("the deployment has the revision %s, which no request of this test run created", id)
		}
	}
	return nil
}
