package plane

import (
	"cmp"
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
	Shared string        // in the tags of the features: @shares:history
	lease  chan struct{} // holds a token while nobody changes the deployment
	value  shared.Value[*Deployment]
	make   func(ctx context.Context) (*Deployment, error)
}

// Pool are fixtures that are alike; each is changed by other scenarios.
type Pool [PoolSize]*Fixture

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
	Changing Pool     // created; changed by one scenario at a time
	Leased   Pool     // the same, DEPLOYED
	Updated  *Fixture // DEPLOYED, then updated to another source, and settled
	Long     *Fixture // with more than 20 revisions, all settled
}

func (p *Plane) newFixtures() *Fixtures {
	type maker = func(ctx context.Context) (*Deployment, error)
	made := func(name, shared string, makeIt maker) *Fixture {
		f := &Fixture{Name: name, Shared: shared, make: makeIt, lease: make(chan struct{}, 1)}
		f.lease <- struct{}{}
		return f
	}
	created := func(name, shared, purpose string) *Fixture {
		return made(name, shared, func(ctx context.Context) (*Deployment, error) { return p.Create(ctx, purpose, nil) })
	}
	f := &Fixtures{
		Created:  created("a deployment", "deployment", "shared"),
		Existing: created("another existing deployment", "another", "another"),
		Updated:  made("a deployment that was updated", "updated", p.makeUpdated),
		Long:     made("a deployment with a long history", "history", p.makeLong),
	}
	// from makes a fixture of another one.
	from := func(other *Fixture, do func(ctx context.Context, d *Deployment) (*Deployment, error)) maker {
		return func(ctx context.Context) (*Deployment, error) {
			d, err := p.Shared(ctx, other)
			if err != nil {
				return nil, err
			}
			return do(ctx, d)
		}
	}
	f.Readable = made("a deployment with a retrievable revision", "deployment", from(f.Created, p.firstIsReadable))
	f.Deployed = made("a DEPLOYED deployment", "deployment",
		from(f.Created, func(ctx context.Context, d *Deployment) (*Deployment, error) {
			up := *d // the other fixture's is read by those who do not wait
			return &up, p.reachDeployed(ctx, &up)
		}))
	for n, purpose := range poolNames {
		number := ""
		if n > 0 {
			number = fmt.Sprintf(" %d", n+1)
		}
		changing := created("a deployment that one scenario changes at a time"+number, Changing, purpose)
		f.Changing[n] = changing
		f.Leased[n] = made("a deployment that accepts updates"+number, Changing,
			from(changing, func(ctx context.Context, d *Deployment) (*Deployment, error) {
				up := *d // others change it already
				return d, p.reachDeployed(ctx, &up)
			}))
		f.Leased[n].lease = changing.lease
	}
	return f
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

// poolNames are in the names of the deployments, which hold no spaces (target.RunOf).
var poolNames = [PoolSize]string{"changing", "changing-second", "changing-third"}

// memberKey is for the number of the fixture in its pool.
type memberKey struct{}

// WithMember returns a context in which [Plane.Lease] takes this member of a pool, from 0. Which one a scenario takes
// is decided before the run: reports do not depend on the pace of the target.
func WithMember(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, memberKey{}, n)
}

// Shared returns the fixture's deployment, made by whoever comes first, with what the fixture may create.
func (p *Plane) Shared(ctx context.Context, f *Fixture) (*Deployment, error) {
	if err := cmp.Or(mayUse(ctx, f), p.Sources.CanCreate()); err != nil {
		return nil, err
	}
	d, err := f.value.Get(ctx, p.maker, f.Name, func(ctx context.Context) (*Deployment, error) {
		return f.make(WithAllowance(ctx, f.Name, SharedCost(f.Shared), []string{f.Shared}))
	})
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("fixture: %s: %w", f.Name, err)
	}
	return d, err
}

// Lease returns the deployment of the member of a pool that the context names, or of the first. Nobody else changes it
// until it is given back.
func (p *Plane) Lease(ctx context.Context, pool Pool) (d *Deployment, giveBack func(), err error) {
	n, _ := ctx.Value(memberKey{}).(int)
	f := pool[n]
	if d, err = p.Shared(ctx, f); err != nil {
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
	if err := p.Sources.LongHistoryFits(); err != nil {
		return nil, err
	}
	d, err := p.CreateDeployed(ctx, "history")
	if err != nil {
		return nil, err
	}
	if broken, _ := p.Sources.Broken(); broken != nil {
		if err := p.Update(ctx, d, broken); err != nil {
			return nil, err
		}
		p.ExpectsFailure(d.Latest())
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
	if late != nil && late.Ending != TimedOut {
		return nil, p.Unjudged(late)
	}
	if late != nil {
		return nil, outcome.Blocked("revision %s did not settle in %s: it is %s",
			late.revision, p.target.Config.Timeouts.Poll, late.Final)
	}
	if err := p.AwaitListed(ctx, d.ID, d.Revisions...); err != nil {
		return nil, err
	}
	return d, p.noUnknownRevisions(ctx, d)
}

// LongHistoryFits skips where the budget is too small for it.
func (s Sources) LongHistoryFits() error {
	most := s.config.MaxRevisions
	if most == 0 || most >= longHistory {
		return nil
	}
	return outcome.OverBudget("max_revisions", "the budget is too small: raise max_revisions to %d (now %d)",
		longHistory, most)
}

// noUnknownRevisions refuses a history with revisions that nobody asked for: the lists could not be judged. A list
// alone is no proof of one, since lists are what is to be judged.
func (p *Plane) noUnknownRevisions(ctx context.Context, d *Deployment) error {
	rows, _, err := p.ListAll(ctx, d.ID, "")
	if err != nil {
		return nil // a list that cannot be read is for the scenarios to find
	}
	unknown := slices.DeleteFunc(IDs(rows), func(id string) bool { return slices.Contains(d.Revisions, id) })
	for _, id := range unknown[:min(len(unknown), 5)] { // a hostile list may name any number
		a, err := p.GetRevision(ctx, d.ID, id)
		if err == nil && a.OK() && a.Get("id").String() == id {
			return outcome.Blocked("the deployment has the revision %s, which no request of this run created", id)
		}
	}
	return nil
}
