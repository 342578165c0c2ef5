package plane

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Deployment is one that the run created, with what it was asked to be, or one that was there before.
type Deployment struct {
	ID        string
	First     string             // id of its first revision
	Body      map[string]any     // of the request
	Update    map[string]any     // what an update asked of the source revision configuration, if there was one
	Original  *exchange.Response // the first revision as it was before that update
	Naming    *exchange.Response // the deployment as it first named the latest revision that came with an update
	Revisions []string           // ids of all revisions, in the order in which they were made
	Found     bool               // it was there before the run: it is only read
	statuses  map[string]bool    // of the revisions of one that was found; nil where these cannot be listed
	asked     int                // how many further revisions were asked for, for the budget; the run's lock guards it
}

// Latest is the id of the newest revision that the run knows of.
func (d *Deployment) Latest() string { return d.Revisions[len(d.Revisions)-1] }

// Source is that of its creation, or as it was shown; "" where it is not known.
func (d *Deployment) Source() string {
	source, _ := d.Body["source"].(string)
	return source
}

// Create makes a deployment for the run's own use. Whatever prevents it is the error; only the requirement about
// creation itself judges it.
func (p *Plane) Create(ctx context.Context, purpose string, changes map[string]any) (*Deployment, error) {
	if err := p.TakeDeployment(ctx); err != nil {
		return nil, err
	}
	d := &Deployment{Body: p.Sources.Body(p.target.Name(purpose), changes)}
	a, err := p.send(ctx, http.MethodPost, DeploymentsPath, d.Body)
	if err != nil {
		return nil, err
	}
	if err := p.NoteCreated(ctx, d, a); err != nil {
		return nil, err
	}
	_, err = p.AwaitFound(ctx, DeploymentPath(d.ID))
	return d, err
}

// noteDuplicates enters all deployments with the name in the ledger: the server may have carried out a repeated request
// twice. It ignores errors, because not every server lists deployments.
func (p *Plane) noteDuplicates(ctx context.Context, name string) {
	_, _, _ = p.Named(ctx, name)
}

// NoteCreated takes the ids from the answer to a creation and enters the deployment in the ledger. An id that the
// answer does not tell is learned elsewhere: that the answer lacks it is for CP-CREATE-1 to judge.
func (p *Plane) NoteCreated(ctx context.Context, d *Deployment, a *exchange.Response) error {
	d.ID, d.First = a.Get("id").String(), a.Get("latest_revision_id").String()
	if a.OK() {
		if id := p.createdAs(ctx, d); id != d.ID {
			d.ID, d.First = id, ""
		}
	}
	if err := p.enter(ctx, d.ID); err != nil {
		return err
	}
	if name, _ := d.Body["name"].(string); a.Request.Repeated && name != "" {
		p.noteDuplicates(ctx, name)
	}
	if a.OK() && d.ID != "" && d.First == "" {
		d.First = p.firstOf(ctx, d.ID)
	}
	d.Revisions = []string{d.First}
	p.polls.setOwner(d.First, ownerOfCreation)
	if a.OK() && d.ID != "" && d.First != "" {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{Kind: outcome.Unserved(a), Summary: "POST creates no deployment",
		Expected: "a deployment with id and latest_revision_id"})
}

// CreateDeployed is Create for a deployment that is DEPLOYED.
func (p *Plane) CreateDeployed(ctx context.Context, purpose string) (*Deployment, error) {
	d, err := p.Create(ctx, purpose, nil)
	if err != nil {
		return nil, err
	}
	return d, p.reachDeployed(ctx, d)
}

// reachDeployed follows a deployment to a later revision, where somebody has created one.
func (p *Plane) reachDeployed(ctx context.Context, d *Deployment) error {
	const followed = 20 // a hostile target may name any number
	h, err := p.Poll(ctx, d.ID, d.Latest(), IsDone)
	for n := 0; err == nil && h.Ending == Superseded && n < followed; n++ {
		d.Revisions = append(d.Revisions, h.later)
		h, err = p.Poll(ctx, d.ID, h.later, IsDone)
	}
	if err != nil {
		return err
	}
	err = p.CheckUsable(h)
	if o, is := errors.AsType[*outcome.Outcome](err); is && o.Verdict == reports.Failed {
		return o.ByRequirement(ownerOfCreation) // it fails at the end of the test run
	}
	return err
}

// Update sends an update by the client and waits until the deployment names a new latest revision: the interface does
// not show what the answer to an update holds.
func (p *Plane) Update(ctx context.Context, d *Deployment, change map[string]any) error {
	if err := p.TakeRevision(ctx, d); err != nil {
		return err
	}
	path, body := DeploymentPath(d.ID), SourceUpdate(change)
	a, err := p.send(ctx, http.MethodPatch, path, body)
	if err == nil && a.IsRefused() { // it may be busy with the revision before
		if err := p.Settle(ctx, d.ID); err != nil {
			return err
		}
		a, err = p.send(ctx, http.MethodPatch, path, body)
	}
	if err != nil {
		return err
	}
	if !a.OK() {
		return outcome.Fails(a, outcome.Violation{Kind: outcome.Unserved(a), Summary: "The update is refused", Expected: "status 2xx"})
	}
	latest, err := p.AwaitLatest(ctx, d, a, KindOf(change), d.Latest())
	if err != nil {
		return err
	}
	if latest == d.Latest() {
		return outcome.Fails(a, outcome.Violation{Kind: outcome.NoEffect, Summary: "The update creates no revision",
			Expected: "a new latest_revision_id after the update", Actual: "still " + latest}).
			ByRequirement(ownersOf(change)...)
	}
	d.Revisions = append(d.Revisions, latest)
	return nil
}

// createdAs returns the id of the deployment that a creation made: where none can be asked for by that of its answer,
// that of the only one with its name, if the target can list its deployments (a vendor extension).
func (p *Plane) createdAs(ctx context.Context, d *Deployment) string {
	if uuid.Validate(d.ID) == nil && strings.Contains(d.ID, "-") {
		return d.ID
	}
	if d.ID != "" {
		if a, err := p.GetDeployment(ctx, d.ID); err != nil || !a.IsRefused() {
			return d.ID
		}
	}
	if name, _ := d.Body["name"].(string); name != "" {
		if found, _, err := p.Named(ctx, name); err == nil && len(found) == 1 {
			return found[0]
		}
	}
	return d.ID
}

// firstOf returns the id of the only revision of a deployment that was just created, where the creation has not named
// it: from the deployment, or from the list of its revisions; else "". Where none could be learned once, others are not
// waited for.
func (p *Plane) firstOf(ctx context.Context, id string) (first string) {
	limit := p.target.Config.Timeouts.Request
	if p.noFirst.Load() {
		limit = 0
	}
	err := p.target.RetryFor(ctx, limit, func() (bool, error) {
		a, err := p.GetDeployment(ctx, id)
		if err != nil {
			return false, err
		}
		if named := a.Get("latest_revision_id"); named.Type == gjson.String && named.Str != "" {
			first = named.Str
			return true, nil
		}
		all, err := p.ListAll(ctx, id, "")
		if err == nil && len(all.Rows) == 1 {
			first = all.IDs()[0]
		}
		return first != "", err
	})
	if err == nil && first == "" {
		p.noFirst.Store(true)
	}
	return first
}
