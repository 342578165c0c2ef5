package controlplane

import (
	"context"
	"strings"
	"time"

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
	r.Given(`a deployment that is up`, w.aDeploymentThatIsUp, common.Uses(w.plane.Fixtures.Deployed))
	r.Given(`two deployments`, w.twoDeployments, common.Uses(w.plane.Fixtures.Deployed, w.plane.Fixtures.Existing))
	r.Given(`a deployment that was updated to another source`, w.anUpdatedDeployment, common.Needs(common.Whatever(w.plane.Sources.Second)), common.Uses(w.plane.Fixtures.Updated))
	r.Configured(`a ref whose commit is known`, w.aKnownCommit)
	r.Configured(`a second ref whose commit is known`, w.aSecondKnownCommit)
	r.When(`the client retrieves the deployment`, w.clientRetrieves)
	r.When(`the client retrieves both`, w.clientRetrievesBoth)
	r.When(`the client retrieves an unknown deployment`, w.clientRetrievesUnknown)
	r.When(`the client retrieves the deployment with the id "([^"]*)"`, w.clientRetrievesID)
	r.When(`the client retrieves its latest revision`, w.clientRetrievesLatest)
	r.When(`the client retrieves its first revision`, w.clientRetrievesFirst)
	r.When(`the client retrieves its latest revision and lists its revisions`, w.clientRetrievesAndLists)
	r.When(`the client retrieves both its revisions`, w.clientRetrievesBothRevisions)
	r.When(`the client retrieves an unknown revision of it`, w.clientRetrievesUnknownRevision)
	r.When(`the client retrieves the revision of the one under the other`, w.clientRetrievesForeignRevision)
	r.When(`the client retrieves each of its revisions twice`, w.clientRetrievesEachTwice)
	r.Then(`the deployment has the id, source and latest revision of the one that was created`, w.isTheCreated)
	r.Then(`each answer is the (?:deployment|revision) that was asked for`, w.eachIsTheAskedFor)
	r.Then(`the answer is not found`, w.notFound)
	r.Then(`the answer is not found, with a detail`, w.notFoundWithDetail)
	r.Then(`its source is the one that was asked for`, w.sourceAsAsked)
	r.Then(`the revision's source is the one that was asked for`, w.sourceAsAsked)
	r.Then(`its source revision configuration holds what was asked for`, w.configAsAsked)
	r.Then(`the revision's source revision configuration holds what was asked for`, w.configAsAsked)
	r.Then(`the revision's source revision configuration is as it was before the update`, w.configAsBefore)
	r.Then(`the retrieved revision is the latest revision`, w.isTheRevision)
	r.Then(`the list holds just that revision`, w.listHoldsJustIt)
	r.Then(`the revision has every required field`, w.revisionIsComplete)
	r.Then(`no revision was updated before it was created`, w.notUpdatedBeforeCreated)
	r.Then(`the revision carries the commit of its ref`, w.carriesCommit)
}

func (w *retrieval) aDeploymentThatIsUp(ctx context.Context) (err error) {
	w.deployment, err = w.plane.Shared(ctx, w.plane.Fixtures.Deployed)
	return err
}

func (w *retrieval) twoDeployments(ctx context.Context) (err error) {
	if w.deployment, err = w.plane.Shared(ctx, w.plane.Fixtures.Deployed); err != nil {
		return err
	}
	w.other, err = w.plane.Shared(ctx, w.plane.Fixtures.Existing)
	return err
}

func (w *retrieval) anUpdatedDeployment(ctx context.Context) (err error) {
	w.deployment, err = w.plane.Shared(ctx, w.plane.Fixtures.Updated)
	return err
}

// aKnownCommit and its like skip where nothing tells which commit to expect.
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

// same compares a field of an answer with a text.
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
	if err := same(w.scene.Answer, "latest_revision_id", w.deployment.First); err != nil {
		return err
	}
	return same(w.scene.Answer, "source", w.target.Config.Source())
}

func (w *retrieval) eachIsTheAskedFor() error {
	for i, a := range w.answers {
		if !a.OK() {
			return outcome.Violated(a, "a status of success", "%s", outcome.Seen(a))
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
		return outcome.Violated(w.scene.Answer, "JSON with a text as detail", "%s", outcome.Seen(w.scene.Answer)).At("/detail")
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
			return outcome.Violated(w.scene.Answer, field+" "+want.String(), "%s", outcome.Shown(got)).At("/" + pointerOf(path))
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("the revision showed nothing in its source revision configuration before the update: %s", outcome.Seen(before))
	}
	return nil
}

func (w *retrieval) isTheRevision() error { return same(w.answers[0], "id", w.revision) }

func (w *retrieval) listHoldsJustIt() error {
	list := w.answers[1]
	rows := list.Get("resources").Array()
	if !list.OK() || len(rows) != 1 || rows[0].Get("id").String() != w.revision {
		return outcome.Violated(list, "a list of just the revision "+w.revision, "%s", outcome.Seen(list)).At("/resources")
	}
	return nil
}

// requiredOfRevision are the fields that every revision has (section 2).
var requiredOfRevision = []string{"id", "created_at", "updated_at", "status", "source", "source_revision_config"}

func (w *retrieval) revisionIsComplete() error {
	for _, field := range requiredOfRevision {
		if value := w.scene.Answer.Get(field); !value.Exists() || value.Type == gjson.Null {
			return outcome.Violated(w.scene.Answer, "the field "+field, "%s", outcome.Shown(value)).At("/" + field)
		}
	}
	return nil
}

// instant reads a date-time of any offset and precision.
func instant(v gjson.Result) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(v.String())) // RFC 3339 allows a small t and z
	return t, err == nil
}

func (w *retrieval) notUpdatedBeforeCreated() error {
	for _, a := range w.answers {
		created, ok := instant(a.Get("created_at"))
		updated, ok2 := instant(a.Get("updated_at"))
		if !ok || !ok2 {
			return outcome.Inconclusive("the revision does not show both times")
		}
		if updated.Before(created) {
			return outcome.Violated(a, "updated_at not before created_at "+outcome.Shown(a.Get("created_at")), "%s", outcome.Shown(a.Get("updated_at"))).At("/updated_at")
		}
	}
	return nil
}

func (w *retrieval) carriesCommit() error {
	if err := w.served(); err != nil {
		return err
	}
	got := w.scene.Answer.Get("source_revision_config.repo_commit_sha")
	if !strings.EqualFold(got.String(), w.commit) {
		return outcome.Violated(w.scene.Answer, "repo_commit_sha "+w.commit, "%s", outcome.Shown(got)).At("/source_revision_config/repo_commit_sha").
			Hinting("alternatives.commits must tell the commit that the ref points to now: a branch may have moved since it was written")
	}
	return nil
}

// isUUID tells whether a text is an id of the form that the interface wants.
func isUUID(s string) bool {
	return len(s) == len("00000000-0000-0000-0000-000000000000") && uuid.Validate(s) == nil
}
