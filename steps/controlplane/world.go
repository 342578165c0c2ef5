// Package controlplane has the step definitions about the control plane (sections 1 to 5, 7 and 8 of the interface): one
// file per feature, with the patterns at its top. A definition fetches the values for a judgement of package judge.
// Package plane sends the requests.
package controlplane

import (
	"context"
	"net/http"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// World is the state that all steps of a scenario share. Each group of definitions embeds it in a struct with the state
// that only its own steps use.
type World struct {
	scene  *common.Scene
	target *target.Target
	plane  *plane.Plane

	Deployment  *plane.Deployment    // "the deployment" of the steps
	builtOnPush bool                 // the deployment has shown build_on_push true
	revision    string               // id of "the revision" of the steps
	responses   []*exchange.Response // all responses of the act
	class       string               // class of the mistake in the request, for violations
}

// Define registers the definitions about the control plane that a feature file needs, for one scenario.
func Define(r *common.Definitions, uri string, scene *common.Scene, t *target.Target, p *plane.Plane) *World {
	w := &World{scene: scene, target: t, plane: p}
	switch uri {
	case "control_plane/authentication.feature":
		create := &creation{World: w}
		create.define(r)
		(&access{World: w, creation: create}).define(r)
		(&retrieval{World: w}).define(r)
		(&updates{World: w}).define(r)
	case "control_plane/create.feature":
		(&creation{World: w}).define(r)
		(&lifecycle{World: w}).define(r)
		(&retrieval{World: w}).define(r)
	case "control_plane/errors.feature":
		(&lists{World: w}).define(r)
		(&retrieval{World: w}).define(r)
		(&updates{World: w}).define(r)
	case "control_plane/lifecycle.feature":
		(&lifecycle{World: w}).define(r)
		(&retrieval{World: w}).define(r)
	case "control_plane/list.feature":
		list := &lists{World: w}
		list.define(r)
		list.defineFilters(r)
		list.defineValues(r)
		(&retrieval{World: w}).define(r)
		w.defineIDs(r)
	case "control_plane/retrieve.feature":
		(&creation{World: w}).define(r)
		(&retrieval{World: w}).define(r)
		w.defineIDs(r)
	case "control_plane/revision.feature":
		(&retrieval{World: w}).define(r)
		w.defineIDs(r)
	case "control_plane/update.feature":
		update := &updates{World: w}
		update.define(r)
		update.defineKept(r)
		(&creation{World: w}).define(r)
		(&lifecycle{World: w}).define(r)
		(&lists{World: w}).define(r)
		(&retrieval{World: w}).define(r)
		w.defineIDs(r)
	case "end_to_end.feature":
		(&lifecycle{World: w}).define(r)
	}
	return w
}

// canCreate returns a skip if the configuration lacks a key that is needed to create a deployment, or nil.
func (w *World) canCreate() error { return w.plane.Sources.CanCreate() }

// shared returns a step that uses the fixture's deployment.
func (w *World) shared(f *plane.Fixture) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		d, err := w.plane.Shared(ctx, f)
		if err != nil {
			return err
		}
		w.Deployment = d
		return nil
	}
}

// existing returns a step that uses the fixture's deployment, or a deployment from before the test run if none can be
// created.
func (w *World) existing(f *plane.Fixture) func(ctx context.Context) error {
	if w.canCreate() == nil {
		return w.shared(f)
	}
	return func(context.Context) error {
		w.Deployment = w.plane.Existing.Deployments()[0]
		return nil
	}
}

// operations are the operations of the interface, as the steps name them.
const operations = `create a deployment|update a deployment|retrieve a deployment|list its revisions|` +
	`list its revisions with a filter and a limit|retrieve a revision`

// request returns the request of an operation on a deployment and its first revision, but not the creation. "update its
// source" is one more operation. An update without a new source creates no revision, whatever its sender is.
func (w *World) request(who target.Sender, operation string, d *plane.Deployment) exchange.Request {
	method, path, query, body := http.MethodGet, plane.DeploymentPath(d.ID), "", any(nil)
	switch operation {
	case "update a deployment":
		method, body = http.MethodPatch, plane.SourceUpdate(map[string]any{})
	case "update its source":
		method, body = http.MethodPatch, plane.SourceUpdate(w.plane.Sources.Next(1))
	case listDeployments:
		path, query = plane.DeploymentsPath, plane.PageOf(100, 0)
	case "list its revisions":
		path = plane.RevisionsPath(d.ID)
	case "list its revisions with a filter and a limit":
		path, query = plane.RevisionsPath(d.ID), "status=DEPLOYED&limit=1"
	case "retrieve a revision":
		path = plane.RevisionPath(d.ID, d.First)
	}
	request := w.target.ToControlPlane(who, method, path, body)
	request.Query = query
	return request
}

// send sends a request, and adds its response to those of the act.
func (w *World) send(ctx context.Context, r exchange.Request) error {
	a, err := w.target.Client.Do(ctx, r)
	if err != nil {
		return err
	}
	w.scene.Response = a
	w.responses = append(w.responses, a)
	return nil
}

// get reads from the control plane as the client. wrong means that the query breaks the contract on purpose.
func (w *World) get(ctx context.Context, path, query string, wrong bool) error {
	request := w.target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)
	request.Query = query
	request.Wrong = wrong
	return w.send(ctx, request)
}

func (w *World) patch(ctx context.Context, body any, wrong bool) error {
	path := plane.DeploymentPath(w.Deployment.ID)
	request := w.target.ToControlPlane(target.TheClient, http.MethodPatch, path, body)
	request.Wrong = wrong
	return w.send(ctx, request)
}

// patchSource sends an update of the source, which must create a revision.
func (w *World) patchSource(ctx context.Context, change map[string]any) error {
	if err := w.plane.TakeRevision(ctx, w.Deployment); err != nil {
		return err
	}
	return w.patch(ctx, plane.SourceUpdate(change), false)
}

func (w *World) list(ctx context.Context, query string, wrong bool) error {
	return w.get(ctx, plane.RevisionsPath(w.Deployment.ID), query, wrong)
}

func (w *World) retrieves(ctx context.Context) error {
	return w.get(ctx, plane.DeploymentPath(w.Deployment.ID), "", false)
}

func (w *World) retrievesRevision(ctx context.Context, id string) error {
	w.revision = id
	return w.get(ctx, plane.RevisionPath(w.Deployment.ID, id), "", false)
}

// retrievesEach reads every revision that is known to the test run.
func (w *World) retrievesEach(ctx context.Context) error {
	for _, id := range w.Deployment.Revisions {
		if err := w.retrievesRevision(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// now reads the deployment. The response does not belong to the act.
func (w *World) now(ctx context.Context) (*exchange.Response, error) {
	return w.plane.GetDeployment(ctx, w.Deployment.ID)
}

// served judges that the last response has status 2xx.
func (w *World) served() error { return judge.IsServed(w.scene.Response) }

// isRetrieved returns a blocked outcome if a response lacks what a step needs, or nil.
func isRetrieved(what string, a *exchange.Response) error {
	if a.OK() {
		return nil
	}
	return outcome.Blocked("%s cannot be retrieved: %s", what, outcome.Seen(a))
}

// sendCase sends the request for one case.
func (w *World) sendCase(ctx context.Context, r exchange.Request, c common.Case) error {
	if err := w.send(ctx, r); err != nil {
		return err
	}
	c.Response = w.scene.Response
	w.scene.Cases = append(w.scene.Cases, c)
	return nil
}

// unlessChanged returns an inconclusive outcome instead of a violation if others have changed the existing deployment
// during the test run.
func (w *World) unlessChanged(ctx context.Context, wrong error) error {
	if !outcome.Is(wrong, reports.Failed) || w.Deployment == nil || !w.Deployment.Found {
		return wrong
	}
	if err := w.plane.CheckUnchanged(ctx, w.Deployment); err != nil {
		return err
	}
	return wrong
}
