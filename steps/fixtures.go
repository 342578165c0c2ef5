package steps

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/evidence"
)

// deployment is one that the run created, with what it was asked to be.
type deployment struct {
	id        string
	first     string         // id of its first revision
	body      map[string]any // of the request
	answer    *client.Answer // of the creation
	update    map[string]any // what an update asked of the source revision configuration, if there was one
	original  *client.Answer // the first revision as it was before that update
	naming    *client.Answer // the deployment as it first named the latest revision, where that came with an update
	revisions []string       // ids of all revisions, in the order in which they were made
	asked     int            // how many further revisions were asked for, for the budget; the run's lock guards it
}

// latest is the id of the newest revision that the run knows of.
func (d *deployment) latest() string { return d.revisions[len(d.revisions)-1] }

// fixture is a deployment that scenarios share: made once, by the first that needs it.
type fixture struct {
	name string
	make func(ctx context.Context) (*deployment, error)

	once       sync.Once
	ready      chan struct{}
	deployment *deployment
	err        error
	lease      chan struct{} // holds a token while nobody changes the deployment
}

// fixtures are the deployments that scenarios share. Deployments are dear: at a real target each takes minutes.
type fixtures struct {
	created *fixture // created; perhaps not up yet
	up      *fixture // the same, DEPLOYED; nobody ever changes it
	spare   *fixture // up; nothing that is judged depends on its revisions
	leased  *fixture // up; changed by one scenario at a time
	updated *fixture // up, then updated to another source, and settled
	long    *fixture // with more than 20 revisions, all settled
}

func (r *run) newFixtures() *fixtures {
	made := func(name string, makeIt func(ctx context.Context) (*deployment, error)) *fixture {
		f := &fixture{name: "fixture: " + name, make: makeIt, ready: make(chan struct{}), lease: make(chan struct{}, 1)}
		f.lease <- struct{}{}
		return f
	}
	f := &fixtures{}
	f.created = made("a deployment", func(ctx context.Context) (*deployment, error) { return r.create(ctx, "shared", nil) })
	f.up = made("a deployment that is up", func(ctx context.Context) (*deployment, error) {
		d, err := r.shared(ctx, f.created)
		if err != nil {
			return nil, err
		}
		up := *d // the other fixture's is read by those who do not wait
		return &up, r.bringUp(ctx, &up)
	})
	f.spare = made("a spare deployment", func(ctx context.Context) (*deployment, error) { return r.createUp(ctx, "spare") })
	f.leased = made("a deployment that takes updates", func(ctx context.Context) (*deployment, error) { return r.createUp(ctx, "changing") })
	f.updated = made("a deployment that was updated", r.makeUpdated)
	f.long = made("a deployment with a long history", r.makeLong)
	return f
}

// shared returns the fixture's deployment, made by whoever comes first. It is made under the run's context, not the
// scenario's, since others depend on it too.
func (r *run) shared(ctx context.Context, f *fixture) (*deployment, error) {
	f.once.Do(func() {
		r.background.Go(func() {
			defer close(f.ready)
			f.deployment, f.err = f.make(evidence.WithScenario(r.ctx, f.name, 0))
		})
	})
	select {
	case <-f.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if f.err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, f.err)
	}
	return f.deployment, nil
}

// borrow returns a shared deployment that nobody else changes until the scenario ends.
func (w *World) borrow(ctx context.Context, f *fixture) (*deployment, error) {
	d, err := w.run.shared(ctx, f)
	if err != nil {
		return nil, err
	}
	select {
	case <-f.lease:
		w.atEnd(func() { f.lease <- struct{}{} })
		return d, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// takeDeployment counts a deployment against the budget, before it is created.
func (r *run) takeDeployment() error {
	if most := int64(r.config.MaxDeployments); atomic.AddInt64(&r.deployments, 1) > most && most > 0 {
		return skipped("the budget is used up: raise max_deployments (now %d)", most)
	}
	return nil
}

// create makes a deployment for the run's own use. Whatever prevents it is the error; only the requirement about
// creation itself judges it.
func (r *run) create(ctx context.Context, purpose string, changes map[string]any) (*deployment, error) {
	if err := r.takeDeployment(); err != nil {
		return nil, err
	}
	d := &deployment{body: r.template(r.name(purpose), changes)}
	a, err := r.client.Do(ctx, r.toControlPlane(theClient, http.MethodPost, deploymentsPath, d.body))
	if err != nil {
		return nil, err
	}
	if err := r.noteCreated(ctx, d, a); err != nil {
		return nil, err
	}
	_, err = r.awaitFound(ctx, deploymentPath(d.id))
	return d, err
}

// noteCreated takes the ids from the answer to a creation and enters the deployment in the ledger.
func (r *run) noteCreated(ctx context.Context, d *deployment, a *client.Answer) error {
	d.answer, d.id, d.first = a, a.Get("id").String(), a.Get("latest_revision_id").String()
	d.revisions = []string{d.first}
	if d.id != "" {
		if err := r.ledger.Created("deployment", d.id, evidence.Scenario(ctx)); err != nil {
			return err
		}
	}
	if !a.OK() || d.id == "" || d.first == "" {
		return violated(a, "a deployment with id and latest_revision_id", "%s", seen(a))
	}
	return nil
}

func (r *run) createUp(ctx context.Context, purpose string) (*deployment, error) {
	d, err := r.create(ctx, purpose, nil)
	if err != nil {
		return nil, err
	}
	return d, r.bringUp(ctx, d)
}

func (r *run) bringUp(ctx context.Context, d *deployment) error {
	h, err := r.poll(ctx, d.id, d.latest(), r.done)
	if err != nil {
		return err
	}
	return r.deployed(h)
}

// update sends an update by the client and waits until the deployment names a new latest revision.
func (r *run) update(ctx context.Context, d *deployment, change map[string]any) error {
	if err := r.takeRevision(d); err != nil {
		return err
	}
	a, err := r.sendUpdate(ctx, d.id, change)
	if err == nil && a.Refused() { // it may be busy with the revision before
		if err := r.settle(ctx, d.id); err != nil {
			return err
		}
		a, err = r.sendUpdate(ctx, d.id, change)
	}
	if err != nil {
		return err
	}
	if !a.OK() {
		return violated(a, "the update to be accepted", "%s", seen(a))
	}
	latest, naming, err := r.awaitLatest(ctx, a, kindOf(change), d.id, d.latest())
	if err != nil {
		return err
	}
	if latest == d.latest() {
		return violated(a, "a new latest revision after the update", "still %s", latest)
	}
	d.revisions, d.naming = append(d.revisions, latest), naming
	return nil
}

func (r *run) sendUpdate(ctx context.Context, id string, change map[string]any) (*client.Answer, error) {
	return r.client.Do(ctx, r.toControlPlane(theClient, http.MethodPatch, deploymentPath(id), sourceUpdate(change)))
}

// takeRevision counts a revision against the budget, before it is asked for. The first came with the deployment.
func (r *run) takeRevision(d *deployment) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	d.asked++
	if most := r.config.MaxRevisions; most > 0 && d.asked+1 > most {
		return skipped("the budget is used up: raise max_revisions (now %d)", most)
	}
	return nil
}

func (r *run) makeUpdated(ctx context.Context) (*deployment, error) {
	change, key := r.anotherSource()
	if change == nil {
		return nil, needs(key)
	}
	d, err := r.createUp(ctx, "updated")
	if err != nil {
		return nil, err
	}
	if d.original, err = r.get(ctx, revisionPath(d.id, d.first), ""); err != nil {
		return nil, err
	}
	if err := r.update(ctx, d, change); err != nil {
		return nil, err
	}
	d.update = change
	if _, err = r.poll(ctx, d.id, d.latest(), r.settled); err != nil {
		return nil, err
	}
	return d, r.awaitListed(ctx, d.id, d.revisions...)
}

// find returns the row of a list that has the id.
func find(rows []gjson.Result, id string) (gjson.Result, bool) {
	for _, row := range rows {
		if row.Get("id").String() == id {
			return row, true
		}
	}
	return gjson.Result{}, false
}
