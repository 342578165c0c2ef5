// Package controlplane holds what the sentences about the control plane mean (sections 1 to 5, 7 and 8 of the
// interface): one file a feature, with the patterns at its top. It judges; speaking with the control plane is for
// package plane.
package controlplane

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// World is what the sentences about the control plane know in one scenario: the deployment that they speak of, and what
// the client was answered last. The subjects (access, creation, lists, ...) embed it and add what only they need.
type World struct {
	Scene  *common.Scene
	Target *target.Target
	Plane  *plane.Plane

	Deployment *plane.Deployment
	Other      *plane.Deployment // where a sentence speaks of "another deployment"
	Revision   string            // the id of the revision that the sentences speak of
	Answers    []*client.Answer  // all of the last act, where it had several
	tried      []tried           // the requests of the last act, where it had one for each case
	name       string            // of the deployment that was to be refused, where it is known
	listed     bool              // the target lists its deployments
}

// tried is a request for one case of several, and how it was answered.
type tried struct {
	answer *client.Answer
	what   string   // the case, for people; "" where there is no other
	id     string   // that was asked for
	want   []string // ids of the revisions that the value stands for
}

// violates says what should have been answered.
func (t tried) violates(expected string) *outcome.Outcome {
	if t.what != "" {
		expected += " for " + t.what
	}
	return outcome.Violated(t.answer, expected, "%s", outcome.Seen(t.answer))
}

// Define registers the sentences about the control plane for one scenario.
func Define(r *common.Definitions, scene *common.Scene, t *target.Target, p *plane.Plane) *World {
	w := &World{Scene: scene, Target: t, Plane: p}
	(&access{World: w}).define(r)
	(&creation{World: w}).define(r)
	(&retrieval{World: w}).define(r)
	(&lifecycle{World: w}).define(r)
	(&update{World: w}).define(r)
	(&lists{World: w}).define(r)
	return w
}

// CanCreate skips where the configuration lacks what a deployment is created with.
func (w *World) CanCreate() error { return w.Plane.Sources.CanCreate() }

// shared takes the fixture's deployment.
func (w *World) shared(f *plane.Fixture) func(ctx context.Context) {
	return func(ctx context.Context) { w.Deployment = common.Must(w.Plane.Shared(ctx, f)) }
}

// existing takes the fixture's deployment, or one that was there before where none can be created.
func (w *World) existing(f *plane.Fixture) func(ctx context.Context) {
	if w.CanCreate() == nil {
		return w.shared(f)
	}
	return func(context.Context) { w.Deployment = w.Plane.Existing.Deployments()[0] }
}

// operations are those of the interface, as the sentences name them.
const operations = `create a deployment|update a deployment|retrieve a deployment|list its revisions|` +
	`list its revisions with a filter and a limit|retrieve a revision`

// request is one of the operations but the creation, or an update of the source, about a deployment and its first
// revision. Without a new source an update makes no revision, whoever may send it.
func (w *World) request(who target.Asker, operation string, d *plane.Deployment) client.Request {
	method, path, query, body := http.MethodGet, plane.DeploymentPath(d.ID), "", any(nil)
	switch operation {
	case "update a deployment":
		method, body = http.MethodPatch, plane.SourceUpdate(map[string]any{})
	case "update its source":
		method, body = http.MethodPatch, plane.SourceUpdate(w.Plane.Sources.Next(1))
	case "list its revisions":
		path = plane.RevisionsPath(d.ID)
	case "list its revisions with a filter and a limit":
		path, query = plane.RevisionsPath(d.ID), "status=DEPLOYED&limit=1"
	case "retrieve a revision":
		path = plane.RevisionPath(d.ID, d.First)
	}
	request := w.Target.ToControlPlane(who, method, path, body)
	request.Query = query
	return request
}

// send sends a request, and adds its answer to those of the act. Without an answer the step ends, as in all that sends.
func (w *World) send(ctx context.Context, r client.Request) {
	w.Scene.Answer = common.Must(w.Target.Client.Do(ctx, r))
	w.Answers = append(w.Answers, w.Scene.Answer)
}

// get reads from the control plane as the client. A wrong query breaks the contract on purpose.
func (w *World) get(ctx context.Context, path, query string, wrong bool) {
	request := w.Target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)
	request.Query, request.Wrong = query, wrong
	w.send(ctx, request)
}

// patch sends an update by the client.
func (w *World) patch(ctx context.Context, body any, wrong bool) {
	request := w.Target.ToControlPlane(target.TheClient, http.MethodPatch, plane.DeploymentPath(w.Deployment.ID), body)
	request.Wrong = wrong
	w.send(ctx, request)
}

// List lists the revisions of the deployment.
func (w *World) List(ctx context.Context, query string, wrong bool) {
	w.get(ctx, plane.RevisionsPath(w.Deployment.ID), query, wrong)
}

// retrieves reads the deployment.
func (w *World) retrieves(ctx context.Context) {
	w.get(ctx, plane.DeploymentPath(w.Deployment.ID), "", false)
}

// retrievesRevision reads a revision of the deployment.
func (w *World) retrievesRevision(ctx context.Context, id string) {
	w.Revision = id
	w.get(ctx, plane.RevisionPath(w.Deployment.ID, id), "", false)
}

// retrievesEach reads every revision that the run knows of.
func (w *World) retrievesEach(ctx context.Context) {
	for _, id := range w.Deployment.Revisions {
		w.retrievesRevision(ctx, id)
	}
}

// Served wants the last answer to have a status of success.
func (w *World) Served() error {
	return outcome.Want(w.Scene.Answer.OK(), w.Scene.Answer, "status 2xx")
}

// retrieved blocks where an answer shows nothing of what a step needs.
func retrieved(what string, a *client.Answer) *client.Answer {
	if !a.OK() {
		common.Check(outcome.Blocked("%s cannot be retrieved: %s", what, outcome.Seen(a)))
	}
	return a
}

// sendCase sends the request for one case.
func (w *World) sendCase(ctx context.Context, r client.Request, t tried) {
	w.send(ctx, r)
	t.answer = w.Scene.Answer
	w.tried = append(w.tried, t)
}

// each judges the request of each case, or the last one where the act had no cases.
func (w *World) each(judge func(t tried) *outcome.Outcome) error {
	var wrong []*outcome.Outcome
	for _, t := range w.tried {
		wrong = append(wrong, judge(t))
	}
	if len(w.tried) == 0 {
		wrong = append(wrong, judge(tried{answer: w.Scene.Answer}))
	}
	return outcome.First(wrong)
}

// UnlessChanged leaves open what looks wrong where somebody else has changed the deployment in between.
func (w *World) UnlessChanged(ctx context.Context, wrong error) error {
	if wrong == nil || w.Deployment == nil || !w.Deployment.Found {
		return wrong
	}
	return cmp.Or(w.Plane.Unchanged(ctx, w.Deployment), wrong)
}

// Source is that of the deployment that the sentences speak of, "" where it is not known.
func (w *World) Source() string {
	if w.Deployment.Found {
		source, _ := w.Deployment.Body["source"].(string)
		return source
	}
	return w.Target.Config.Source()
}

// inPointer writes a GJSON path of plain names as a JSON pointer.
func inPointer(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }
