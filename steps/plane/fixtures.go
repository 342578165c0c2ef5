package plane

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
)

// Fixture is a deployment that scenarios share: made once, by the first that needs it.
type Fixture struct {
	Name   string
	Shared string // in the tags of the features: @shares:history
	make   maker
}

// maker makes the deployment of a fixture.
type maker func(ctx context.Context) (*Deployment, error)

// member is one of several deployments that are alike; each is changed by other scenarios, by one at a time.
type member struct {
	created  *Fixture // perhaps not DEPLOYED yet
	deployed *Fixture
	lease    chan struct{} // holds a token while nobody changes the deployment
}

// Changing is the shared deployment that scenarios change in turn, in the tags of the features.
const Changing = "changing"

// SharedCost is what a shared deployment costs, by its name in the tags of the features.
func SharedCost(name string) Cost {
	return Cost{Deployments: 1, Revisions: map[string]int{"updated": 1, "history": longHistory - 1}[name]}
}

// Fixtures are the deployments that scenarios share. At a real target each takes minutes.
type Fixtures struct {
	Created  *Fixture // created; perhaps not DEPLOYED yet
	Readable *Fixture // the same, when its first revision can be retrieved
	Deployed *Fixture // the same, DEPLOYED; nobody ever changes it
	Existing *Fixture // created; nothing that is judged depends on its revisions
	Updated  *Fixture // DEPLOYED, then updated to another source, and settled
	Long     *Fixture // with more than 20 revisions, all settled

	changing [PoolSize]member // see [Plane.Lease]
}

func (p *Plane) newFixtures() *Fixtures {
	made := func(name, shared string, make maker) *Fixture {
		return &Fixture{Name: name, Shared: shared, make: make}
	}
	create := func(purpose string) maker {
		return func(ctx context.Context) (*Deployment, error) { return p.Create(ctx, purpose, nil) }
	}
	f := &Fixtures{
		Created:  made("a deployment", "deployment", create("shared")),
		Existing: made("another existing deployment", "another", create("another")),
		Updated:  made("a deployment that was updated", "updated", p.makeUpdated),
		Long:     made("a deployment with a long history", "history", p.makeLong),
	}
	f.Readable = made("a deployment with a retrievable revision", "deployment",
		p.from(f.Created, p.firstIsReadable))
	f.Deployed = made("a DEPLOYED deployment", "deployment",
		p.from(f.Created, func(ctx context.Context, d *Deployment) (*Deployment, error) {
			up := *d // the other fixture's is read by those who do not wait
			return &up, p.reachDeployed(ctx, &up)
		}))
	for n, name := range poolNames {
		created := made("a deployment that one scenario changes at a time"+name.number, Changing, create(name.purpose))
		deployed := made("a deployment that accepts updates"+name.number, Changing,
			p.from(created, func(ctx context.Context, d *Deployment) (*Deployment, error) {
				up := *d // others change it already
				return d, p.reachDeployed(ctx, &up)
			}))
		f.changing[n] = member{created, deployed, make(chan struct{}, 1)}
		f.changing[n].lease <- struct{}{}
	}
	return f
}

// from makes a fixture of another one.
func (p *Plane) from(other *Fixture, do func(ctx context.Context, d *Deployment) (*Deployment, error)) maker {
	return func(ctx context.Context) (*Deployment, error) {
		d, err := p.Shared(ctx, other)
		if err != nil {
			return nil, err
		}
		return do(ctx, d)
	}
}

func (p *Plane) firstIsReadable(ctx context.Context, d *Deployment) (*Deployment, error) {
	a, err := p.AwaitFound(ctx, RevisionPath(d.ID, d.First))
	if err == nil && !a.OK() {
		err = outcome.Blocked("revision %s cannot be retrieved: %s", d.First, outcome.Seen(a))
	}
	return d, err
}

// PoolSize is how many deployments there are at most of which each is changed by one scenario at a time.
const PoolSize = 3

// poolNames tell them apart, in the names of deployments (which hold no spaces, see target.RunOf) and of fixtures.
var poolNames = [PoolSize]struct{ purpose, number string }{
	{"changing", ""}, {"changing-second", " 2"}, {"changing-third", " 3"}}

// Shared returns the fixture's deployment, made by whoever comes first, with what the fixture may create.
func (p *Plane) Shared(ctx context.Context, f *Fixture) (*Deployment, error) {
	if a := allowanceIn(ctx); a != nil && !slices.Contains(a.Shares, f.Shared) {
		return nil, a.exceeded("uses " + f.Name + " without the tag @shares:" + f.Shared)
	}
	if err := p.Sources.CanCreate(); err != nil {
		return nil, err
	}
	d, err := shared.Get(ctx, p.maker, f.Name, func(ctx context.Context) (*Deployment, error) {
		own := &Allowance{What: f.Name, Cost: SharedCost(f.Shared), Shares: []string{f.Shared}}
		return f.make(own.Within(ctx))
	})
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("fixture: %s: %w", f.Name, err)
	}
	return d, err
}

// Lease returns one of the deployments that scenarios change, as the allowance says, or the first; once it is DEPLOYED
// where that is wanted. Nobody else changes it until it is given back.
func (p *Plane) Lease(ctx context.Context, deployed bool) (d *Deployment, giveBack func(), err error) {
	m := p.Fixtures.changing[0]
	if a := allowanceIn(ctx); a != nil {
		m = p.Fixtures.changing[a.Member]
	}
	f := m.created
	if deployed {
		f = m.deployed
	}
	if d, err = p.Shared(ctx, f); err != nil {
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
	if d.Original, err = p.GetRevision(ctx, d.ID, d.First); err != nil {
		return nil, err
	}
	if err := p.Update(ctx, d, change); err != nil {
		return nil, err
	}
	d.Update = change
	if _, err = p.Poll(ctx, d.ID, d.Latest(), IsSettled); err != nil {
		return nil, err
	}
	return d, p.AwaitListed(ctx, d.ID, d.Revisions...)
}

// longHistory is how many revisions the deployment with a long history gets: more than the default limit of a list
// (20, section 8), and no multiple of the page sizes that are tried.
const longHistory = 23

// makeLong makes a deployment with a long history. Where the configuration names a source that cannot be built, one
// of the revisions fails, so that the revisions do not all end in the same status.
func (p *Plane) makeLong(ctx context.Context) (*Deployment, error) {
	d, err := p.CreateDeployed(ctx, "history")
	if err != nil {
		return nil, err
	}
	if broken, _ := p.Sources.Broken(); broken != nil {
		if err := p.Update(ctx, d, broken); err != nil {
			return nil, err
		}
		p.ExpectFailure(d.Latest())
		if _, err := p.Poll(ctx, d.ID, d.Latest(), IsSettled); err != nil {
			return nil, err
		}
	}
	for len(d.Revisions) < longHistory {
		if err := p.Update(ctx, d, p.Sources.Next(len(d.Revisions))); err != nil {
			return nil, err
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
	if err := p.AwaitListed(ctx, d.ID, d.Revisions...); err != nil {
		return nil, err
	}
	return d, p.noUnknownRevisions(ctx, d)
}

// noUnknownRevisions refuses a history with revisions that nobody asked for: the lists could not be judged. A list
// alone is no proof of one, since lists are what is to be judged.
func (p *Plane) noUnknownRevisions(ctx context.Context, d *Deployment) error {
	all, err := p.ListAll(ctx, d.ID, "")
	if err != nil {
		return nil // a list that cannot be read is for the scenarios to find
	}
	unknown := slices.DeleteFunc(all.IDs(), func(id string) bool { return slices.Contains(d.Revisions, id) })
	for _, id := range unknown[:min(len(unknown), 5)] { // a hostile list may name any number
		a, err := p.GetRevision(ctx, d.ID, id)
		if err == nil && a.OK() && a.Get("id").String() == id {
			return outcome.Blocked("the deployment has the revision %s, which no request of this run created", id)
		}
	}
	return nil
}
