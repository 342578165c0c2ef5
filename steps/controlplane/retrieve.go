package controlplane

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// pointerOf writes a GJSON path of plain names as a JSON pointer, without the leading slash.
func pointerOf(path string) string { return strings.ReplaceAll(path, ".", "/") }

// retrieval holds the sentences about reading deployments and revisions.
type retrieval struct {
	*World
	commit string // that the ref points to
}

// define holds the sentences about retrieving deployments and revisions (sections 1, 2, 4 and 7).
func (w *retrieval) define(r *common.Definitions) {
	r.Given(`an existing deployment`, w.anExistingDeployment)
	r.Given(`a DEPLOYED deployment`, w.aDeployedDeployment)
	r.Given(`two deployments`, w.twoDeployments)
	r.Given(`a deployment that was updated to another source`, w.anUpdatedDeployment)
	r.Given(`a ref whose commit id is known`, w.aKnownCommit)
	r.Given(`a second ref whose commit id is known`, w.aSecondKnownCommit)
	r.When(`the client retrieves the deployment`, w.ClientRetrieves)
	r.When(`the client retrieves both deployments`, w.clientRetrievesBoth)
	r.When(`the client retrieves an unknown deployment`, w.clientRetrievesUnknown)
	r.When(`the client retrieves the deployment with the id "([^"]*)"`, w.clientRetrievesID)
	r.When(`the client retrieves its latest revision`, w.ClientRetrievesLatest)
	r.When(`the client retrieves its first revision`, w.clientRetrievesFirst)
	r.When(`the client retrieves its latest revision and lists its revisions`, w.clientRetrievesAndLists)
	r.When(`the client retrieves both its revisions`, w.ClientRetrievesBothRevisions)
	r.When(`the client retrieves an unknown revision of it`, w.clientRetrievesUnknownRevision)
	r.When(`the client retrieves the revision of one deployment under the other`, w.clientRetrievesForeignRevision)
	r.When(`the client retrieves each of its revisions twice`, w.clientRetrievesEachTwice)
	r.Then(`the deployment has the "id", "source" and "latest_revision_id" of its creation`, w.isTheCreated)
	r.Then(`each answer is the (?:deployment|revision) that was asked for`, w.eachIsTheAskedFor)
	r.Then(`the request is answered with 404 and a string "detail"`, w.notFoundWithDetail)
	r.Then(`the "source" of the (?:deployment|revision) is that of the create request`, w.SourceAsAsked)
	r.Then(`the "source_revision_config" of the (?:deployment|revision) holds the values of the create request`, w.configAsAsked)
	r.Then(`the "source_revision_config" of the revision is unchanged`, w.configAsBefore)
	r.Then(`the retrieved revision is the latest revision`, w.isTheRevision)
	r.Then(`the list contains only that revision`, w.listHoldsJustIt)
	r.Then(`the revision has every required field, and none is null`, w.revisionIsComplete)
	r.Then(`no "updated_at" is before "created_at"`, w.notUpdatedBeforeCreated)
	r.Then(`the "repo_commit_sha" of the revision is the commit id of its ref`, w.showsCommit)
}

func (w *retrieval) aDeployedDeployment(ctx context.Context) error {
	return w.Read(ctx, w.Plane.Fixtures.Deployed)
}

// anExistingDeployment need not be up: it is read, whatever becomes of its revision.
func (w *retrieval) anExistingDeployment(ctx context.Context) error {
	if err := w.Read(ctx, w.Plane.Fixtures.Created); err != nil || w.Deployment.Found {
		return err
	}
	return w.FirstCanBeRetrieved(ctx)
}

func (w *retrieval) twoDeployments(ctx context.Context) (err error) {
	if err = w.Read(ctx, w.Plane.Fixtures.Created); err != nil {
		return err
	}
	if w.Deployment.Found {
		w.Other = w.Plane.Existing.Deployments()[1]
		return nil
	}
	if w.Other, err = w.Plane.Shared(ctx, w.Plane.Fixtures.Existing); err != nil {
		return err
	}
	return w.FirstCanBeRetrieved(ctx)
}

func (w *retrieval) anUpdatedDeployment(ctx context.Context) (err error) {
	w.Deployment, err = w.Plane.Shared(ctx, w.Plane.Fixtures.Updated)
	return err
}

// aKnownCommit and its like skip where the expected commit is not configured.
func (w *retrieval) aKnownCommit() error {
	ref, _ := plane.Asked(w.Target.Config.Create.Body)["repo_ref"].(string)
	return w.knownCommit(ref)
}

func (w *retrieval) aSecondKnownCommit() error {
	return w.knownCommit(w.Target.Config.Alternatives.RepoRef)
}

func (w *retrieval) knownCommit(ref string) error {
	commit := w.Target.Config.Alternatives.Commits[ref]
	if commit == "" {
		return outcome.Needs("alternatives.commits", " with the commit id of each ref")
	}
	w.commit = commit
	return nil
}

func (w *retrieval) clientRetrievesBoth(ctx context.Context) error {
	w.AskedIDs = []string{w.Deployment.ID, w.Other.ID}
	if err := w.Retrieve(ctx, plane.DeploymentPath(w.Deployment.ID), false); err != nil {
		return err
	}
	return w.Retrieve(ctx, plane.DeploymentPath(w.Other.ID), false)
}

func (w *retrieval) clientRetrievesUnknown(ctx context.Context) error {
	return w.Retrieve(ctx, plane.DeploymentPath(target.UnknownID()), false)
}

func (w *retrieval) clientRetrievesID(ctx context.Context, id string) error {
	return w.Retrieve(ctx, plane.DeploymentPath(id), true)
}

func (w *retrieval) clientRetrievesFirst(ctx context.Context) error {
	w.Revision = w.Deployment.First
	return w.Retrieve(ctx, plane.RevisionPath(w.Deployment.ID, w.Revision), false)
}

func (w *retrieval) clientRetrievesAndLists(ctx context.Context) error {
	if err := w.ClientRetrievesLatest(ctx); err != nil {
		return err
	}
	if err := w.Plane.AwaitListed(ctx, w.Deployment.ID, w.Revision); err != nil {
		return err
	}
	a, err := w.Plane.Get(ctx, plane.RevisionsPath(w.Deployment.ID), "")
	if err == nil {
		w.Answers = append(w.Answers, a)
	}
	return err
}

func (w *retrieval) clientRetrievesUnknownRevision(ctx context.Context) error {
	return w.Retrieve(ctx, plane.RevisionPath(w.Deployment.ID, target.UnknownID()), false)
}

func (w *retrieval) clientRetrievesForeignRevision(ctx context.Context) error {
	return w.Retrieve(ctx, plane.RevisionPath(w.Other.ID, w.Deployment.First), false)
}

func (w *retrieval) clientRetrievesEachTwice(ctx context.Context) error {
	for range 2 {
		if err := w.ClientRetrievesBothRevisions(ctx); err != nil {
			return err
		}
	}
	return nil
}

// same compares a field of an answer with a string.
func same(a *client.Answer, path, want string) error {
	got := a.Get(path)
	switch {
	case !got.Exists() && !a.OK():
		return outcome.Violated(a, path+" "+want, "%s", outcome.Seen(a))
	case got.Type != gjson.String || !strings.EqualFold(got.Str, want):
		return outcome.Violated(a, path+" "+want, "%s", outcome.Shown(got)).At("/" + strings.ReplaceAll(path, ".", "/"))
	}
	return nil
}

func (w *retrieval) isTheCreated() error {
	if err := w.Served(); err != nil {
		return err
	}
	if err := same(w.Scene.Answer, "id", w.Deployment.ID); err != nil {
		return err
	}
	if w.Deployment.Found {
		return w.isTheExisting()
	}
	if err := same(w.Scene.Answer, "latest_revision_id", w.Deployment.First); err != nil {
		return err
	}
	return same(w.Scene.Answer, "source", w.Target.Config.Source())
}

// isTheExisting compares with what the list of deployments showed, and what cannot have changed since (section 2).
func (w *retrieval) isTheExisting() error {
	w.Scene.Note("judged on an existing deployment: id and source only")
	if w.Source() == "" {
		return nil
	}
	return same(w.Scene.Answer, "source", w.Source())
}

func (w *retrieval) eachIsTheAskedFor() error {
	for i, a := range w.Answers {
		if !a.OK() {
			return outcome.Violated(a, "status 2xx", "%s", outcome.Seen(a))
		}
		if err := same(a, "id", w.AskedIDs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *retrieval) notFoundWithDetail() error {
	if err := w.NotFound(); err != nil {
		return err
	}
	if detail := w.Scene.Answer.Get("detail"); detail.Type != gjson.String {
		return outcome.Violated(w.Scene.Answer, "JSON with a string detail", "%s", outcome.Seen(w.Scene.Answer)).At("/detail")
	}
	return nil
}

func (w *retrieval) configAsAsked() error { return w.ConfigHolds(plane.Asked(w.Deployment.Body)) }

// configAsBefore compares with what the same revision showed before the update, not with what was asked for at its
// creation.
func (w *retrieval) configAsBefore() error {
	before := w.Deployment.Original
	if before.Get("id").String() != w.Scene.Answer.Get("id").String() {
		return outcome.Blocked("the first revision cannot be retrieved: %s", outcome.Seen(w.Scene.Answer))
	}
	compared := 0
	for _, field := range []string{"repo_ref", "graph_config_path", "image_uri", "repo_commit_sha"} {
		path := "source_revision_config." + field
		want := before.Get(path)
		if want.Type != gjson.String || want.Str == "" { // it may get a value when the revision is built
			continue
		}
		compared++
		if got := w.Scene.Answer.Get(path); got.String() != want.String() {
			return outcome.Violated(w.Scene.Answer, field+" "+want.String(), "%s", outcome.Shown(got)).At("/"+pointerOf(path)).Comparing(w.Scene.Answer, before)
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("the revision had an empty source_revision_config before the update: %s", outcome.Seen(before))
	}
	return nil
}

func (w *retrieval) isTheRevision() error { return same(w.Answers[0], "id", w.Revision) }

func (w *retrieval) listHoldsJustIt() error {
	list := w.Answers[1]
	rows := list.Get("resources").Array()
	if !list.OK() || len(rows) != 1 || rows[0].Get("id").String() != w.Revision {
		return outcome.Violated(list, "a list with only the revision "+w.Revision, "%s", outcome.Seen(list)).At("/resources")
	}
	return nil
}

// requiredOfRevision are the fields that every revision has (section 2).
var requiredOfRevision = []string{"id", "created_at", "updated_at", "status", "source", "source_revision_config"}

func (w *retrieval) revisionIsComplete() error {
	for _, field := range requiredOfRevision {
		if value := w.Scene.Answer.Get(field); !value.Exists() || value.Type == gjson.Null {
			return outcome.Violated(w.Scene.Answer, "a non-null "+field, "%s", outcome.Shown(value)).At("/" + field)
		}
	}
	return nil
}

func (w *retrieval) notUpdatedBeforeCreated() error {
	for _, a := range w.Answers {
		created, ok := plane.Instant(a.Get("created_at"))
		updated, ok2 := plane.Instant(a.Get("updated_at"))
		if !ok || !ok2 {
			return outcome.Inconclusive("created_at or updated_at is missing or not a date-time")
		}
		if updated.Before(created) {
			return outcome.Violated(a, "updated_at at or after created_at "+outcome.Shown(a.Get("created_at")), "%s", outcome.Shown(a.Get("updated_at"))).At("/updated_at")
		}
	}
	return nil
}

func (w *retrieval) showsCommit() error {
	if err := w.Served(); err != nil {
		return err
	}
	got := w.Scene.Answer.Get("source_revision_config.repo_commit_sha")
	if !strings.EqualFold(got.String(), w.commit) {
		return outcome.Violated(w.Scene.Answer, "repo_commit_sha "+w.commit, "%s", outcome.Shown(got)).At("/source_revision_config/repo_commit_sha").
			Hinting("set alternatives.commits to the commit id that the ref points to now: a branch may have moved")
	}
	return nil
}

// isUUID tells whether a string is a UUID in the form of the interface.
func isUUID(s string) bool {
	return len(s) == len("00000000-0000-0000-0000-000000000000") && uuid.Validate(s) == nil
}
