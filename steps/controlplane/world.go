// Package controlplane holds what the sentences about the control plane mean (sections 1 to 5, 7 and 8 of the interface): one
// file a subject, with the patterns at its top. It judges; speaking with the control plane is for package plane.
package controlplane

import (
	"cmp"
	"context"
	"net/http"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// World is what the sentences about the control plane know in one scenario: the deployment that they speak of, and what the
// client was answered last. The subjects (access, creation, listing, ...) embed it and add what only they need.
type World struct {
	Scene  *common.Scene
	Target *target.Target
	Plane  *plane.Plane

	Deployment *plane.Deployment
	Other      *plane.Deployment // where a sentence speaks of "another deployment"
	Revision   string            // the id of the revision that the sentences speak of
	Answers    []*client.Answer  // all of the last act, where it had several
	AskedIDs   []string          // the ids of what these answers were asked for
}

// Do sends a request and remembers its answer.
func (w *World) Do(ctx context.Context, r client.Request) (*client.Answer, error) {
	if err := w.Plane.Existing.MayWrite(r.Method, r.Path); err != nil {
		return nil, err
	}
	a, err := w.Target.Client.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	w.Scene.Answer = a
	return a, nil
}

// Served wants the last answer to have a status of success.
func (w *World) Served() error {
	return outcome.Want(w.Scene.Answer.OK(), w.Scene.Answer, "status 2xx")
}

// ANewDeployment can be retrieved; that its revision can be is for the scenario to find out.
func (w *World) ANewDeployment(ctx context.Context) (err error) {
	if w.Deployment, err = w.Plane.Shared(ctx, w.Plane.Fixtures.Created); err != nil {
		return err
	}
	return w.canBeRetrieved(ctx, "a look at a new deployment", plane.DeploymentPath(w.Deployment.ID))
}

// ACreatedDeployment can be retrieved with the revision that its creation named.
func (w *World) ACreatedDeployment(ctx context.Context) error {
	if err := w.ANewDeployment(ctx); err != nil {
		return err
	}
	return w.FirstCanBeRetrieved(ctx)
}

// FirstCanBeRetrieved blocks where the first revision of the shared deployment cannot be read.
func (w *World) FirstCanBeRetrieved(ctx context.Context) error {
	return w.canBeRetrieved(ctx, "a look at a first revision", plane.RevisionPath(w.Deployment.ID, w.Deployment.First))
}

// canBeRetrieved blocks where what has just been created cannot be read.
func (w *World) canBeRetrieved(ctx context.Context, name, path string) error {
	a, err := w.Plane.LookAt(ctx, name, path)
	if err == nil && !a.OK() {
		return outcome.Blocked("%s cannot be retrieved: %s", path, outcome.Seen(a))
	}
	return err
}

// Creates sends a creation and enters what comes of it in the ledger.
func (w *World) Creates(ctx context.Context, request client.Request, body map[string]any) error {
	a, err := w.Do(ctx, request)
	if err != nil {
		return err
	}
	w.Deployment = &plane.Deployment{Body: body, Answer: a}
	if a.OK() || a.Get("id").String() != "" {
		_ = w.Plane.NoteCreated(ctx, w.Deployment, a) // an incomplete answer is judged by the sentence about it
	}
	return nil
}

// noneNamed wants no deployment with the name after a refusal, where the target lists its deployments. What there is goes into the ledger.
func (w *World) noneNamed(ctx context.Context, name string, refusal *client.Answer) (supported bool, err error) {
	found, supported, err := w.Plane.ListDeployments(ctx, name)
	for _, id := range found {
		err = cmp.Or(err, w.Target.Ledger.Created("deployment", id, w.Scene.Scenario.Key()))
	}
	if err == nil && len(found) > 0 {
		err = outcome.Violated(refusal, "no deployment after the refusal", "the deployment %s", outcome.Quoted(found))
	}
	return supported, err
}

// CreatesWith creates a deployment from the template of the configuration, with changes.
func (w *World) CreatesWith(ctx context.Context, purpose string, changes map[string]any) error {
	if err := w.Plane.TakeDeployment(ctx); err != nil {
		return err
	}
	body := w.Plane.Sources.Body(w.Target.Name(purpose), changes)
	return w.Creates(ctx, w.Target.ToControlPlane(target.TheClient, http.MethodPost, plane.DeploymentsPath, body), body)
}

// patch sends an update by the client and remembers the answer.
func (w *World) patch(ctx context.Context, body any, wrong bool) error {
	request := w.Target.ToControlPlane(target.TheClient, http.MethodPatch, plane.DeploymentPath(w.Deployment.ID), body)
	request.Wrong = wrong
	_, err := w.Do(ctx, request)
	return err
}

// List lists the revisions of the deployment. A wrong query breaks the contract on purpose.
func (w *World) List(ctx context.Context, query string, wrong bool) error {
	return w.retrieve(ctx, plane.RevisionsPath(w.Deployment.ID), query, wrong)
}

// ClientLists lists the revisions without parameters.
func (w *World) ClientLists(ctx context.Context) error { return w.List(ctx, "", false) }

// Retrieve reads from the control plane as the client.
func (w *World) Retrieve(ctx context.Context, path string) error {
	return w.retrieve(ctx, path, "", false)
}

// retrieve adds the answer to those of the act.
func (w *World) retrieve(ctx context.Context, path, query string, wrong bool) error {
	request := w.Target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)
	request.Query, request.Wrong = query, wrong
	a, err := w.Do(ctx, request)
	if err == nil {
		w.Answers = append(w.Answers, a)
	}
	return err
}

// ClientRetrieves reads the deployment.
func (w *World) ClientRetrieves(ctx context.Context) error {
	return w.Retrieve(ctx, plane.DeploymentPath(w.Deployment.ID))
}

// ClientRetrievesLatest reads the newest revision that the run knows of.
func (w *World) ClientRetrievesLatest(ctx context.Context) error {
	w.Revision = w.Deployment.Latest()
	return w.Retrieve(ctx, plane.RevisionPath(w.Deployment.ID, w.Revision))
}

// ClientRetrievesBothRevisions reads every revision that the run knows of.
func (w *World) ClientRetrievesBothRevisions(ctx context.Context) error {
	w.AskedIDs = w.Deployment.Revisions
	return common.Each(w.AskedIDs, func(id string) error { return w.Retrieve(ctx, plane.RevisionPath(w.Deployment.ID, id)) })
}

// NotFound wants the last answer to be a 404 (section 7).
func (w *World) NotFound() error {
	return outcome.Want(w.Scene.Answer.Status == http.StatusNotFound, w.Scene.Answer, "status 404")
}

// SourceAsAsked wants the last answer to show the source of the create request (section 2).
func (w *World) SourceAsAsked() error {
	if err := w.Served(); err != nil {
		return err
	}
	want, _ := w.Deployment.Body["source"].(string)
	return outcome.WantAt(w.Scene.Answer.Get("source").String() == want, w.Scene.Answer, "source", "source "+want)
}

// ConfigHolds looks for every value that was asked for. Fields that were not asked for are the target's own.
func (w *World) ConfigHolds(want map[string]any) error {
	if err := w.Served(); err != nil {
		return err
	}
	compared := 0
	for _, field := range []string{"repo_ref", "graph_config_path", "image_uri"} {
		value, given := want[field].(string)
		if !given {
			continue
		}
		compared++
		path := "source_revision_config." + field
		if err := outcome.WantAt(w.Scene.Answer.Get(path).String() == value, w.Scene.Answer, path, field+" "+value); err != nil {
			return err
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("the request sets neither repo_ref, graph_config_path nor image_uri: set them in create.body.source_revision_config")
	}
	return nil
}

// Define registers the sentences about the control plane for one scenario.
func Define(r *common.Definitions, scene *common.Scene, t *target.Target, p *plane.Plane) *World {
	w := &World{Scene: scene, Target: t, Plane: p}
	(&access{World: w}).define(r)
	(&creation{World: w}).define(r)
	(&retrieval{World: w}).define(r)
	(&lifecycle{World: w}).define(r)
	(&update{World: w}).define(r)
	defineListing(r, w)
	return w
}

// CanCreate skips where the configuration lacks what a deployment is created with.
func (w *World) CanCreate() error { return w.Plane.Sources.CanCreate() }

// Read takes the fixture's deployment, or one that was there before where none can be created.
func (w *World) Read(ctx context.Context, f *plane.Fixture) (err error) {
	if w.CanCreate() != nil {
		w.Deployment = w.Plane.Existing.Deployments()[0]
		return nil
	}
	w.Deployment, err = w.Plane.Shared(ctx, f)
	return err
}

// AnIDToAskFor is that of a deployment where there is one that can be read: what nobody may do is tried with any.
func (w *World) AnIDToAskFor(ctx context.Context) error {
	if w.Plane.Existing.Readable(1) != nil {
		w.Deployment = &plane.Deployment{ID: target.UnknownID(), First: target.UnknownID()}
		return nil
	}
	return w.Read(ctx, w.Plane.Fixtures.Existing)
}

// IdToWrite is the id for a request that has to be refused: what was there before the run is not put at risk.
func (w *World) IdToWrite() string {
	if w.CanCreate() != nil {
		return target.UnknownID()
	}
	return w.Deployment.ID
}

// UnlessChanged leaves open what looks wrong where somebody else has changed the deployment in between.
func (w *World) UnlessChanged(ctx context.Context, wrong error) error {
	if wrong == nil || w.Deployment == nil || !w.Deployment.Found {
		return wrong
	}
	if err := w.Plane.Unchanged(ctx, w.Deployment); err != nil {
		return err
	}
	return wrong
}

// Steady is a judgement that does not hold a change by somebody else against the target.
func (w *World) Steady(judge func() error) func(ctx context.Context) error {
	return func(ctx context.Context) error { return w.UnlessChanged(ctx, judge()) }
}

// Source is that of the deployment that the sentences speak of, "" where it is not known.
func (w *World) Source() string {
	if w.Deployment.Found {
		source, _ := w.Deployment.Body["source"].(string)
		return source
	}
	return w.Target.Config.Source()
}
