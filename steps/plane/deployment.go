package plane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Deployment is a deployment that the test run created, or one that existed before.
type Deployment struct {
	ID        string
	First     string             // the id of the first revision
	Body      map[string]any     // the body of the request that created it
	Update    map[string]any     // the source revision configuration of the last update by [Plane.Update], or nil
	Original  *exchange.Response // the first revision before that update
	Naming    *exchange.Response // the first response of GET that names the revision of the last update as the latest
	Revisions []string           // the ids of all revisions, in the order of creation
	Found     bool               // it existed before the test run and is only read
	statuses  map[string]bool    // the statuses of its revisions if it was found and they can be listed, or nil
	updates   int                // the number of updates sent, for the budget; guarded by Plane.mu
}

// Latest returns the id of the newest revision that the test run knows.
func (d *Deployment) Latest() string { return d.Revisions[len(d.Revisions)-1] }

// Source returns the source that was sent or shown, or "" if unknown.
func (d *Deployment) Source() string {
	source, _ := d.Body["source"].(string)
	return source
}

// Name returns the name that was sent, or "" if there is none.
func (d *Deployment) Name() string {
	name, _ := d.Body["name"].(string)
	return name
}

// Create creates a deployment and waits until it can be read. Only the requirements about creation judge an error as a
// failure.
func (p *Plane) Create(ctx context.Context, purpose string, changes map[string]any) (*Deployment, error) {
	if err := p.TakeDeployment(ctx); err != nil {
		return nil, err
	}
	d := &Deployment{Body: p.Sources.Body(p.target.Name(purpose), changes)}
	a, err := p.send(ctx, http.MethodPost, DeploymentsPath, d.Body)
	if err != nil {
		return nil, err
	}
	if err := p.RecordCreated(ctx, d, a); err != nil {
		o, is := errors.AsType[*outcome.Outcome](err)
		if is && o.Verdict == reports.Failed && len(changes) == 0 {
			return nil, o.ByRequirement("CP-CREATE-1") // which sends the same body
		}
		return nil, err
	}
	_, err = p.AwaitFound(ctx, DeploymentPath(d.ID))
	return d, err
}

// RecordCreated sets the ids of the deployment from the response to its creation, and adds it to the ledger. If the
// response lacks ids, they are read from the deployment or from lists. CP-CREATE-1 judges the response.
func (p *Plane) RecordCreated(ctx context.Context, d *Deployment, a *exchange.Response) error {
	d.ID, d.First = a.Get("id").String(), a.Get("latest_revision_id").String()
	if a.OK() {
		id := p.findID(ctx, d)
		if id != d.ID {
			d.ID, d.First = id, ""
		}
	}
	if err := p.enter(ctx, d.ID); err != nil {
		return err
	}
	name, _ := d.Body["name"].(string)
	if a.Request.Repeated && name != "" {
		// The server may have created two deployments. Errors are ignored, because not every server lists deployments.
		_, _, _ = p.FindByName(ctx, name)
	}
	if a.OK() && d.ID != "" && d.First == "" {
		d.First = p.findFirst(ctx, d.ID)
	}
	d.Revisions = []string{d.First}
	p.polls.setOwner(d.First, ownerOfCreation)
	if a.OK() && d.ID != "" && d.First != "" {
		return nil
	}
	return outcome.Fails(a, outcome.Violation{Kind: outcome.Unserved(a), Summary: "A create request creates no deployment",
		Expected: "2xx, with id and latest_revision_id"})
}

// CreateDeployed creates a deployment and waits until it is DEPLOYED.
func (p *Plane) CreateDeployed(ctx context.Context, purpose string) (*Deployment, error) {
	d, err := p.Create(ctx, purpose, nil)
	if err != nil {
		return nil, err
	}
	return d, p.reachDeployed(ctx, d)
}

// reachDeployed waits until the deployment is DEPLOYED. If another client creates a later revision meanwhile, it waits
// for that revision.
func (p *Plane) reachDeployed(ctx context.Context, d *Deployment) error {
	const maxFollowed = 20 // a hostile target may name any number of later revisions
	h, err := p.Poll(ctx, d.ID, d.Latest(), IsDone)
	if err != nil {
		return err
	}
	for n := 0; h.Ending == Superseded && n < maxFollowed; n++ {
		d.Revisions = append(d.Revisions, h.later)
		h, err = p.Poll(ctx, d.ID, h.later, IsDone)
		if err != nil {
			return err
		}
	}
	err = p.CheckUsable(h)
	o, is := errors.AsType[*outcome.Outcome](err)
	if is && o.Verdict == reports.Failed {
		return o.ByRequirement(ownerOfCreation) // the owner fails at the end of the test run
	}
	return err
}

// Update updates the source revision configuration as the client, and waits until the deployment names a new latest
// revision.
func (p *Plane) Update(ctx context.Context, d *Deployment, change map[string]any) error {
	return p.UpdateWith(ctx, d, SourceUpdate(change))
}

// UpdateWith is Update with the whole body of the request. It ignores the body of the response, because the interface
// does not define it.
func (p *Plane) UpdateWith(ctx context.Context, d *Deployment, body map[string]any) error {
	if err := p.TakeRevision(ctx, d); err != nil {
		return err
	}
	path, change := DeploymentPath(d.ID), RevisionConfig(body)
	a, err := p.send(ctx, http.MethodPatch, path, body)
	if err != nil {
		return err
	}
	if a.IsRefused() { // the target may still be building the latest revision
		if err := p.Settle(ctx, d.ID); err != nil {
			return err
		}
		a, err = p.send(ctx, http.MethodPatch, path, body)
		if err != nil {
			return err
		}
	}
	if !a.OK() {
		return outcome.Fails(a, outcome.Violation{Kind: outcome.Unserved(a), Summary: fmt.Sprintf("An update returns %d", a.Status),
			Expected: "2xx"})
	}
	latest, err := p.AwaitLatest(ctx, d, a, KindOf(change), d.Latest())
	if err != nil {
		return err
	}
	if exchange.ContainsID(d.Revisions, latest) {
		return outcome.Fails(a, outcome.Violation{Kind: outcome.NoEffect, Summary: "An update creates no revision",
			Expected: "a new latest_revision_id after the update", Actual: "still " + latest}).
			ByRequirement(ownersOf(change)...)
	}
	d.Revisions = append(d.Revisions, latest)
	d.Update = change
	return nil
}

// findID returns the id of a deployment that was just created. This is the id in the response, unless it is not a UUID
// and GET of the deployment is refused. Then it is the id of the only deployment with the same name, if the target lists
// deployments (a vendor extension).
func (p *Plane) findID(ctx context.Context, d *Deployment) string {
	if uuid.Validate(d.ID) == nil && strings.Contains(d.ID, "-") {
		return d.ID
	}
	if d.ID != "" {
		a, err := p.GetDeployment(ctx, d.ID)
		if err != nil || !a.IsRefused() {
			return d.ID
		}
	}
	name, _ := d.Body["name"].(string)
	if name == "" {
		return d.ID
	}
	found, _, err := p.FindByName(ctx, name)
	if err == nil && len(found) == 1 {
		return found[0]
	}
	return d.ID
}

// findFirst returns the id of the only revision of a deployment that was just created, from the deployment or its list of
// revisions. It returns "" if neither shows the id within timeouts.request. After one such timeout, later calls try only
// once.
func (p *Plane) findFirst(ctx context.Context, id string) (first string) {
	limit := p.target.Config.Timeouts.Request
	if p.noFirstRevision.Load() {
		limit = 0
	}
	err := p.target.RetryFor(ctx, limit, func() (bool, error) {
		a, err := p.GetDeployment(ctx, id)
		if err != nil {
			return false, err
		}
		named := a.Get("latest_revision_id")
		if named.Type == gjson.String && named.Str != "" {
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
		p.noFirstRevision.Store(true)
	}
	return first
}
