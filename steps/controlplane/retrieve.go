package controlplane

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
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
func (w *retrieval) define(r *common.Registrar) {
	r.Given(`an existing deployment`, w.anExistingDeployment, w.reads(w.readable(1), w.plane.Fixtures.Created))
	r.Given(`a DEPLOYED deployment`, w.aDeployedDeployment, w.reads(w.readable(1), w.plane.Fixtures.Deployed))
	r.Given(`two deployments`, w.twoDeployments, w.reads(w.readable(2), w.plane.Fixtures.Created, w.plane.Fixtures.Existing))
	r.Given(`a deployment that was updated to another source`, w.anUpdatedDeployment, common.Needs(common.Whatever(w.plane.Sources.Second)), common.Uses(w.plane.Fixtures.Updated))
	r.Configured(`a ref whose commit id is known`, w.creating(w.aKnownCommit))
	r.Configured(`a second ref whose commit id is known`, w.creating(w.aSecondKnownCommit))
	r.When(`the client retrieves the deployment`, w.clientRetrieves)
	r.When(`the client retrieves both deployments`, w.clientRetrievesBoth)
	r.When(`the client retrieves an unknown deployment`, w.clientRetrievesUnknown)
	r.When(`the client retrieves the deployment with the id "([^"]*)"`, w.clientRetrievesID)
	r.When(`the client retrieves its latest revision`, w.clientRetrievesLatest)
	r.When(`the client retrieves its first revision`, w.clientRetrievesFirst)
	r.When(`the client retrieves its latest revision and lists its revisions`, w.clientRetrievesAndLists)
	r.When(`the client retrieves both its revisions`, w.clientRetrievesBothRevisions)
	r.When(`the client retrieves an unknown revision of it`, w.clientRetrievesUnknownRevision)
	r.When(`the client retrieves the revision of one deployment under the other`, w.clientRetrievesForeignRevision)
	r.When(`the client retrieves each of its revisions twice`, w.clientRetrievesEachTwice)
	r.Then(`the deployment has the "id", "source" and "latest_revision_id" of its creation`, w.isTheCreated)
	r.Then(`each answer is the (?:deployment|revision) that was asked for`, w.eachIsTheAskedFor)
	r.Then(`the request is answered with 404`, w.notFound)
	r.Then(`the request is answered with 404 and a string "detail"`, w.notFoundWithDetail)
	r.Then(`the "source" of the (?:deployment|revision) is that of the create request`, w.sourceAsAsked)
	r.Then(`the "source_revision_config" of the (?:deployment|revision) holds the values of the create request`, w.configAsAsked)
	r.Then(`the "source_revision_config" of the revision is unchanged`, w.configAsBefore)
	r.Then(`the retrieved revision is the latest revision`, w.isTheRevision)
	r.Then(`the list contains only that revision`, w.listHoldsJustIt)
	r.Then(`the revision has every required field, and none is null`, w.revisionIsComplete)
	r.Then(`no "updated_at" is before "created_at"`, w.notUpdatedBeforeCreated)
	r.Then(`the "repo_commit_sha" of the revision is the commit id of its ref`, w.showsCommit)
}

func (w *retrieval) aDeployedDeployment(ctx context.Context) error {
	return w.read(ctx, w.plane.Fixtures.Deployed, w.plane.Existing.Readable(1))
}

// anExistingDeployment need not be up: it is read, whatever becomes of its revision.
func (w *retrieval) anExistingDeployment(ctx context.Context) error {
	if err := w.read(ctx, w.plane.Fixtures.Created, w.plane.Existing.Readable(1)); err != nil || w.deployment.Found {
		return err
	}
	return w.canBeRetrieved(ctx, plane.RevisionPath(w.deployment.ID, w.deployment.First))
}

func (w *retrieval) twoDeployments(ctx context.Context) (err error) {
	if err = w.read(ctx, w.plane.Fixtures.Created, w.plane.Existing.Readable(2)); err != nil {
		return err
	}
	if w.deployment.Found {
		w.other = w.plane.Existing.Deployments()[1]
		return nil
	}
	if w.other, err = w.plane.Shared(ctx, w.plane.Fixtures.Existing); err != nil {
		return err
	}
	return w.canBeRetrieved(ctx, plane.RevisionPath(w.deployment.ID, w.deployment.First))
}

func (w *retrieval) anUpdatedDeployment(ctx context.Context) (err error) {
	w.deployment, err = w.plane.Shared(ctx, w.plane.Fixtures.Updated)
	return err
}

// aKnownCommit and its like skip where the expected commit is not configured.
func (w *retrieval) aKnownCommit() error {
	ref, _ := plane.Asked(w.target.Config.Create.Body)["repo_ref"].(string)
	return w.knownCommit(ref)
}

func (w *retrieval) aSecondKnownCommit() error {
	return w.knownCommit(w.target.Config.Alternatives.RepoRef)
}

func (w *retrieval) knownCommit(ref string) error {
	if w.target.Config.Source() != config.GitHost {
		return outcome.Inapplicable("commits", "the target's deployments come from %s, which has no commits", w.target.Config.Source())
	}
	commit := w.target.Config.Alternatives.Commits[ref]
	if commit == "" {
		return outcome.Needs("alternatives.commits", " with the commit id of each ref")
	}
	w.commit = commit
	return nil
}

func (w *retrieval) clientRetrievesBoth(ctx context.Context) error {
	w.askedIDs = []string{w.deployment.ID, w.other.ID}
	if err := w.retrieve(ctx, plane.DeploymentPath(w.deployment.ID), false); err != nil {
		return err
	}
	return w.retrieve(ctx, plane.DeploymentPath(w.other.ID), false)
}

func (w *retrieval) clientRetrievesUnknown(ctx context.Context) error {
	return w.retrieve(ctx, plane.DeploymentPath(target.UnknownID()), false)
}

func (w *retrieval) clientRetrievesID(ctx context.Context, id string) error {
	return w.retrieve(ctx, plane.DeploymentPath(id), true)
}

func (w *retrieval) clientRetrievesFirst(ctx context.Context) error {
	w.revision = w.deployment.First
	return w.retrieve(ctx, plane.RevisionPath(w.deployment.ID, w.revision), false)
}

func (w *retrieval) clientRetrievesAndLists(ctx context.Context) error {
	if err := w.clientRetrievesLatest(ctx); err != nil {
		return err
	}
	if err := w.plane.AwaitListed(ctx, w.deployment.ID, w.revision); err != nil {
		return err
	}
	a, err := w.plane.Get(ctx, plane.RevisionsPath(w.deployment.ID), "")
	if err == nil {
		w.answers = append(w.answers, a)
	}
	return err
}

func (w *retrieval) clientRetrievesUnknownRevision(ctx context.Context) error {
	return w.retrieve(ctx, plane.RevisionPath(w.deployment.ID, target.UnknownID()), false)
}

func (w *retrieval) clientRetrievesForeignRevision(ctx context.Context) error {
	return w.retrieve(ctx, plane.RevisionPath(w.other.ID, w.deployment.First), false)
}

func (w *retrieval) clientRetrievesEachTwice(ctx context.Context) error {
	for range 2 {
		if err := w.clientRetrievesBothRevisions(ctx); err != nil {
			return err
		}
	}
	return nil
}

// same compares a field of an answer with a string.
func same(a *client.Answer, path, want string) error {
	if got := a.Get(path); got.Type != gjson.String || !strings.EqualFold(got.Str, want) {
		return outcome.Violated(a, path+" "+want, "%s", outcome.Shown(got)).At("/" + strings.ReplaceAll(path, ".", "/"))
	}
	return nil
}

func (w *retrieval) isTheCreated() error {
	if err := w.served(); err != nil {
		return err
	}
	if err := same(w.scene.Answer, "id", w.deployment.ID); err != nil {
		return err
	}
	if w.deployment.Found {
		return w.isTheExisting()
	}
	if err := same(w.scene.Answer, "latest_revision_id", w.deployment.First); err != nil {
		return err
	}
	return same(w.scene.Answer, "source", w.target.Config.Source())
}

// isTheExisting compares with what the list of deployments showed, and what cannot have changed since (section 2).
func (w *retrieval) isTheExisting() error {
	w.scene.Note("judged on an existing deployment: id and source only")
	if w.source() == "" {
		return nil
	}
	return same(w.scene.Answer, "source", w.source())
}

func (w *retrieval) eachIsTheAskedFor() error {
	for i, a := range w.answers {
		if !a.OK() {
			return outcome.Violated(a, "status 2xx", "%s", outcome.Seen(a))
		}
		if err := same(a, "id", w.askedIDs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *retrieval) notFoundWithDetail() error {
	if err := w.notFound(); err != nil {
		return err
	}
	if detail := w.scene.Answer.Get("detail"); detail.Type != gjson.String {
		return outcome.Violated(w.scene.Answer, "JSON with a string detail", "%s", outcome.Seen(w.scene.Answer)).At("/detail")
	}
	return nil
}

func (w *retrieval) configAsAsked() error { return w.configHolds(plane.Asked(w.deployment.Body)) }

// configAsBefore compares with what the same revision showed before the update, not with what was asked for at its
// creation.
func (w *retrieval) configAsBefore() error {
	before := w.deployment.Original
	if before.Get("id").String() != w.scene.Answer.Get("id").String() {
		return outcome.Blocked("the first revision cannot be retrieved: %s", outcome.Seen(w.scene.Answer))
	}
	compared := 0
	for _, field := range []string{"repo_ref", "graph_config_path", "image_uri", "repo_commit_sha"} {
		path := "source_revision_config." + field
		want := before.Get(path)
		if want.Type != gjson.String {
			continue
		}
		compared++
		if got := w.scene.Answer.Get(path); got.String() != want.String() {
			return outcome.Violated(w.scene.Answer, field+" "+want.String(), "%s", outcome.Shown(got)).At("/"+pointerOf(path)).Comparing(w.scene.Answer, before)
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("the revision had an empty source_revision_config before the update: %s", outcome.Seen(before))
	}
	return nil
}

func (w *retrieval) isTheRevision() error { return same(w.answers[0], "id", w.revision) }

func (w *retrieval) listHoldsJustIt() error {
	list := w.answers[1]
	rows := list.Get("resources").Array()
	if !list.OK() || len(rows) != 1 || rows[0].Get("id").String() != w.revision {
		return outcome.Violated(list, "a list with only the revision "+w.revision, "%s", outcome.Seen(list)).At("/resources")
	}
	return nil
}

// requiredOfRevision are the fields that every revision has (section 2).
var requiredOfRevision = []string{"id", "created_at", "updated_at", "status", "source", "source_revision_config"}

func (w *retrieval) revisionIsComplete() error {
	for _, field := range requiredOfRevision {
		if value := w.scene.Answer.Get(field); !value.Exists() || value.Type == gjson.Null {
			return outcome.Violated(w.scene.Answer, "a non-null "+field, "%s", outcome.Shown(value)).At("/" + field)
		}
	}
	return nil
}

func (w *retrieval) notUpdatedBeforeCreated() error {
	for _, a := range w.answers {
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
	if err := w.served(); err != nil {
		return err
	}
	got := w.scene.Answer.Get("source_revision_config.repo_commit_sha")
	if !strings.EqualFold(got.String(), w.commit) {
		return outcome.Violated(w.scene.Answer, "repo_commit_sha "+w.commit, "%s", outcome.Shown(got)).At("/source_revision_config/repo_commit_sha").
			Hinting("set alternatives.commits to the commit id that the ref points to now: a branch may have moved")
	}
	return nil
}

// isUUID tells whether a string is a UUID in the form of the interface.
func isUUID(s string) bool {
	return len(s) == len("00000000-0000-0000-0000-000000000000") && uuid.Validate(s) == nil
}
