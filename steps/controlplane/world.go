package controlplane

import (
	"context"
	"net/http"
	"net/url"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// World is what the sentences about the control plane know in one scenario: the deployment that they speak of, and what the
// client was answered last. The subjects (access, creation, listing, ...) embed it and add what only they need.
type World struct {
	scene  *common.Scene
	target *target.Target
	plane  *plane.Plane

	deployment *plane.Deployment
	other      *plane.Deployment // where a sentence speaks of "another deployment"
	revision   string            // the id of the revision that the sentences speak of
	answers    []*client.Answer  // all of the last act, where it had several
	askedIDs   []string          // the ids of what these answers were asked for
	lists      []wholeList       // whole lists of revisions that the last act read
}

// Define registers the sentences about the control plane for one scenario.
func Define(r *common.Registrar, scene *common.Scene, t *target.Target, p *plane.Plane) *World {
	w := &World{scene: scene, target: t, plane: p}
	(&access{World: w}).define(r)
	created := &creation{World: w}
	created.define(r)
	created.defineTag(r)
	read := &retrieval{World: w}
	read.define(r)
	read.defineMoments(r)
	(&lifecycle{World: w}).define(r)
	(&update{World: w}).define(r)
	(&listing{World: w}).define(r)
	(&filtering{World: w}).define(r)
	return w
}

// Deployment is the one that the sentences speak of.
func (w *World) Deployment() *plane.Deployment { return w.deployment }

// do sends a request and remembers its answer.
func (w *World) do(ctx context.Context, r client.Request) (*client.Answer, error) {
	if err := w.plane.Existing.MayWrite(r.Method, r.Path); err != nil {
		return nil, err
	}
	a, err := w.target.Client.Do(ctx, r)
	if err != nil {
		return nil, err
	}
	w.scene.Answer = a
	return a, nil
}

// aNamedTemplate skips where deployments cannot be identified by a name in the list of all.
func (w *World) aNamedTemplate() error {
	if err := w.canCreate(); err != nil {
		return err
	}
	if _, named := w.target.Config.Create.Body["name"]; !named {
		return outcome.Needs("create.body.name")
	}
	return nil
}

func (w *World) served() error {
	a, err := w.scene.Last()
	if err != nil {
		return err
	}
	if !a.OK() {
		return outcome.Violated(a, "status 2xx", "%s", outcome.Seen(a))
	}
	return nil
}

// aNewDeployment can be retrieved; that its revision can be is for the scenario to find out.
func (w *World) aNewDeployment(ctx context.Context) (err error) {
	if w.deployment, err = w.plane.Shared(ctx, w.plane.Fixtures.Created); err != nil {
		return err
	}
	return w.canBeRetrieved(ctx, plane.DeploymentPath(w.deployment.ID))
}

// aCreatedDeployment can be retrieved with the revision that its creation named.
func (w *World) aCreatedDeployment(ctx context.Context) error {
	if err := w.aNewDeployment(ctx); err != nil {
		return err
	}
	return w.canBeRetrieved(ctx, plane.RevisionPath(w.deployment.ID, w.deployment.First))
}

func (w *World) canBeRetrieved(ctx context.Context, path string) error {
	a, err := w.plane.AwaitFound(ctx, path)
	if err == nil && !a.OK() {
		return outcome.Blocked("%s cannot be retrieved: %s", path, outcome.Seen(a))
	}
	return err
}

// creates sends a creation and enters what comes of it in the ledger.
func (w *World) creates(ctx context.Context, request client.Request, body map[string]any) error {
	a, err := w.do(ctx, request)
	if err != nil {
		return err
	}
	w.deployment = &plane.Deployment{Body: body, Answer: a}
	if a.OK() && a.Get("id").String() != "" {
		_ = w.plane.NoteCreated(ctx, w.deployment, a) // an incomplete answer is judged by the sentence about it
	}
	return nil
}

func (w *World) createsWith(ctx context.Context, purpose string, changes map[string]any) error {
	if err := w.plane.TakeDeployment(ctx); err != nil {
		return err
	}
	body := w.plane.Sources.Body(w.target.Name(purpose), changes)
	return w.creates(ctx, w.target.ToControlPlane(target.TheClient, http.MethodPost, plane.DeploymentsPath, body), body)
}

func (w *World) aLongHistory(ctx context.Context) error {
	return w.read(ctx, w.plane.Fixtures.Long, w.plane.Existing.ReadableHistory(moreThanDefault))
}

// aKnownHistory is a long one where it can be created, else that of the existing deployment.
func (w *World) aKnownHistory(ctx context.Context) error {
	return w.read(ctx, w.plane.Fixtures.Long, w.plane.Existing.ReadableHistory(1))
}

// moreThanDefault is a number of revisions that the default limit of a list cuts (section 8).
const moreThanDefault = 21

func (w *World) list(ctx context.Context, query string, wrong bool) error {
	return w.listOf(ctx, w.deployment.ID, query, wrong)
}

func (w *World) listOf(ctx context.Context, id, query string, wrong bool) error {
	request := w.target.ToControlPlane(target.TheClient, http.MethodGet, plane.RevisionsPath(id), nil)
	request.Query, request.Wrong = query, wrong
	a, err := w.do(ctx, request)
	if err == nil {
		w.answers = append(w.answers, a)
	}
	return err
}

func (w *World) clientLists(ctx context.Context) error { return w.list(ctx, "", false) }

// listWhole reads all revisions with the statuses, or all there are, and remembers the list.
func (w *World) listWhole(ctx context.Context, statuses string) error {
	filter := ""
	if statuses != "" {
		filter = "&status=" + url.QueryEscape(statuses)
	}
	rows, first, err := w.plane.ListAll(ctx, w.deployment.ID, filter)
	if err != nil {
		return err
	}
	w.lists, w.scene.Answer = append(w.lists, wholeList{statuses, rows, first}), first
	return nil
}

func (w *World) rows() []gjson.Result { return w.scene.Answer.Get("resources").Array() }

// retrieve reads from the control plane as the client, and adds the answer to those of the act.
func (w *World) retrieve(ctx context.Context, path string, wrong bool) error {
	request := w.target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)
	request.Wrong = wrong
	a, err := w.do(ctx, request)
	if err == nil {
		w.answers = append(w.answers, a)
	}
	return err
}

func (w *World) clientRetrieves(ctx context.Context) error {
	return w.retrieve(ctx, plane.DeploymentPath(w.deployment.ID), false)
}

func (w *World) clientRetrievesLatest(ctx context.Context) error {
	w.revision = w.deployment.Latest()
	return w.retrieve(ctx, plane.RevisionPath(w.deployment.ID, w.revision), false)
}

func (w *World) clientRetrievesBothRevisions(ctx context.Context) error {
	w.askedIDs = w.deployment.Revisions
	for _, revision := range w.deployment.Revisions {
		if err := w.retrieve(ctx, plane.RevisionPath(w.deployment.ID, revision), false); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) notFound() error {
	a, err := w.scene.Last()
	if err != nil {
		return err
	}
	if a.Status != http.StatusNotFound {
		return outcome.Violated(a, "status 404", "%s", outcome.Seen(a))
	}
	return nil
}

func (w *World) sourceAsAsked() error {
	if err := w.served(); err != nil {
		return err
	}
	want, _ := w.deployment.Body["source"].(string)
	if got := w.scene.Answer.Get("source"); got.String() != want {
		return outcome.Violated(w.scene.Answer, "source "+want, "%s", outcome.Shown(got)).At("/source")
	}
	return nil
}

func (w *World) configAsUpdated() error { return w.configHolds(w.deployment.Update) }

// configHolds looks for every value that was asked for. Fields that were not asked for are the target's own.
func (w *World) configHolds(want map[string]any) error {
	if err := w.served(); err != nil {
		return err
	}
	compared := 0
	for _, field := range []string{"repo_ref", "graph_config_path", "image_uri"} {
		value, given := want[field].(string)
		if !given {
			continue
		}
		compared++
		if got := w.scene.Answer.Get("source_revision_config." + field); got.String() != value {
			return outcome.Violated(w.scene.Answer, field+" "+value, "%s", outcome.Shown(got)).At("/source_revision_config/" + field)
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("the request sets neither repo_ref, graph_config_path nor image_uri: set them in create.body.source_revision_config")
	}
	return nil
}
