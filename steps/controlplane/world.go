// Package controlplane holds what the sentences about the control plane mean (sections 1 to 5, 7 and 8 of the
// interface): one file a feature, with the patterns at its top. It judges; speaking with the control plane is for
// package plane.
package controlplane

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// World is what the sentences about the control plane know in one scenario.
type World struct {
	scene  *common.Scene
	target *target.Target
	plane  *plane.Plane

	Deployment *plane.Deployment    // that the sentences speak of
	other      *plane.Deployment    // where a sentence speaks of two
	revision   string               // the id of the revision that the sentences speak of
	answers    []*exchange.Response // all of the last act, where it had several
	polled     *plane.History       // the last poll
	commit     string               // that the ref points to

	// A request that may be refused.
	asker     target.Asker // who sent it
	operation string       // what for
	name      string       // of the deployment that was to be refused, where it is known
	listed    bool         // the target lists its deployments

	// An update.
	before *plane.Snapshot // how the deployment was before it
	after  *plane.Snapshot // and after it
	kind   string          // see [plane.KindOf]
	later  []string        // the latest revisions after each of two updates

	// Lists of revisions.
	query    string       // that the client is going to send
	whole    []plane.List // that the last act read
	compared []comparison // those of them that are to hold certain revisions
	further  plane.List   // the page at the offset of the last page
}

// Define registers the sentences about the control plane for one scenario.
func Define(r *common.Definitions, scene *common.Scene, t *target.Target, p *plane.Plane) *World {
	w := &World{scene: scene, target: t, plane: p}
	w.defineAccess(r)
	w.defineCreation(r)
	w.defineRetrieval(r)
	w.defineLifecycle(r)
	w.defineUpdates(r)
	w.defineLists(r)
	return w
}

// canCreate skips where the configuration lacks what a deployment is created with.
func (w *World) canCreate() error { return w.plane.Sources.CanCreate() }

// shared takes the fixture's deployment.
func (w *World) shared(f *plane.Fixture) func(ctx context.Context) {
	return func(ctx context.Context) { w.Deployment = common.Must(w.plane.Shared(ctx, f)) }
}

// existing takes the fixture's deployment, or one that was there before where none can be created.
func (w *World) existing(f *plane.Fixture) func(ctx context.Context) {
	if w.canCreate() == nil {
		return w.shared(f)
	}
	return func(context.Context) { w.Deployment = w.plane.Existing.Deployments()[0] }
}

// operations are those of the interface, as the sentences name them.
const operations = `create a deployment|update a deployment|retrieve a deployment|list its revisions|` +
	`list its revisions with a filter and a limit|retrieve a revision`

// request is one of the operations but the creation, or an update of the source, about a deployment and its first
// revision. Without a new source an update makes no revision, whoever may send it.
func (w *World) request(who target.Asker, operation string, d *plane.Deployment) exchange.Request {
	method, path, query, body := http.MethodGet, plane.DeploymentPath(d.ID), "", any(nil)
	switch operation {
	case "update a deployment":
		method, body = http.MethodPatch, plane.SourceUpdate(map[string]any{})
	case "update its source":
		method, body = http.MethodPatch, plane.SourceUpdate(w.plane.Sources.Next(1))
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

// send sends a request, and adds its answer to those of the act. Without an answer the step ends, as in all that sends.
func (w *World) send(ctx context.Context, r exchange.Request) {
	w.scene.Answer = common.Must(w.target.Client.Do(ctx, r))
	w.answers = append(w.answers, w.scene.Answer)
}

// get reads from the control plane as the client. A wrong query breaks the contract on purpose.
func (w *World) get(ctx context.Context, path, query string, wrong bool) {
	request := w.target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)
	request.Query, request.Wrong = query, wrong
	w.send(ctx, request)
}

func (w *World) patch(ctx context.Context, body any, wrong bool) {
	path := plane.DeploymentPath(w.Deployment.ID)
	request := w.target.ToControlPlane(target.TheClient, http.MethodPatch, path, body)
	request.Wrong = wrong
	w.send(ctx, request)
}

func (w *World) list(ctx context.Context, query string, wrong bool) {
	w.get(ctx, plane.RevisionsPath(w.Deployment.ID), query, wrong)
}

func (w *World) retrieves(ctx context.Context) {
	w.get(ctx, plane.DeploymentPath(w.Deployment.ID), "", false)
}

func (w *World) retrievesRevision(ctx context.Context, id string) {
	w.revision = id
	w.get(ctx, plane.RevisionPath(w.Deployment.ID, id), "", false)
}

// retrievesEach reads every revision that the run knows of.
func (w *World) retrievesEach(ctx context.Context) {
	for _, id := range w.Deployment.Revisions {
		w.retrievesRevision(ctx, id)
	}
}

// now reads the deployment beside the act.
func (w *World) now(ctx context.Context) *exchange.Response {
	return common.Must(w.plane.GetDeployment(ctx, w.Deployment.ID))
}

// served wants the last answer to have a status of success.
func (w *World) served() error {
	return outcome.Want(w.scene.Answer.OK(), w.scene.Answer, "status 2xx")
}

// retrieved blocks where an answer shows nothing of what a step needs.
func retrieved(what string, a *exchange.Response) *exchange.Response {
	if !a.OK() {
		common.Check(outcome.Blocked("%s cannot be retrieved: %s", what, outcome.Seen(a)))
	}
	return a
}

// sendCase sends the request for one case.
func (w *World) sendCase(ctx context.Context, r exchange.Request, c common.Case) {
	w.send(ctx, r)
	c.Answer = w.scene.Answer
	w.scene.Cases = append(w.scene.Cases, c)
}

// unlessChanged leaves open what looks wrong where somebody else has changed the deployment in between.
func (w *World) unlessChanged(ctx context.Context, wrong error) error {
	if wrong == nil || w.Deployment == nil || !w.Deployment.Found {
		return wrong
	}
	return cmp.Or(w.plane.Unchanged(ctx, w.Deployment), wrong)
}

// inPointer writes a GJSON path of plain names as a JSON pointer.
func inPointer(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }
