package steps

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// defineRetrieve holds the sentences about retrieving deployments and revisions (sections 1, 2, 4 and 7).
func (w *World) defineRetrieve(b *book) {
	b.given(`a deployment that is up`, w.aDeploymentThatIsUp)
	b.given(`two deployments`, w.twoDeployments)
	b.given(`a deployment that was updated to another source`, w.anUpdatedDeployment)
	b.requires(`a deployment that was updated to another source`, anyway(w.aSecondSource))
	b.configured(`a ref whose commit is known`, w.aKnownCommit)
	b.configured(`a second ref whose commit is known`, w.aSecondKnownCommit)
	b.when(`the client retrieves the deployment`, w.clientRetrieves)
	b.when(`the client retrieves both`, w.clientRetrievesBoth)
	b.when(`the client retrieves an unknown deployment`, w.clientRetrievesUnknown)
	b.when(`the client retrieves the deployment with the id "([^"]*)"`, w.clientRetrievesID)
	b.when(`the client retrieves its latest revision`, w.clientRetrievesLatest)
	b.when(`the client retrieves its first revision`, w.clientRetrievesFirst)
	b.when(`the client retrieves its latest revision and lists its revisions`, w.clientRetrievesAndLists)
	b.when(`the client retrieves both its revisions`, w.clientRetrievesBothRevisions)
	b.when(`the client retrieves an unknown revision of it`, w.clientRetrievesUnknownRevision)
	b.when(`the client retrieves the revision of the one under the other`, w.clientRetrievesForeignRevision)
	b.when(`the client retrieves each of its revisions twice`, w.clientRetrievesEachTwice)
	b.then(`the deployment has the id, source and latest revision of the one that was created`, w.isTheCreated)
	b.then(`each answer is the (?:deployment|revision) that was asked for`, w.eachIsTheAskedFor)
	b.then(`the answer is not found`, w.notFound)
	b.then(`the answer is not found, with a detail`, w.notFoundWithDetail)
	b.then(`its source is the one that was asked for`, w.sourceAsAsked)
	b.then(`the revision's source is the one that was asked for`, w.sourceAsAsked)
	b.then(`its source revision configuration holds what was asked for`, w.configAsAsked)
	b.then(`the revision's source revision configuration holds what was asked for`, w.configAsAsked)
	b.then(`the revision's source revision configuration is as it was before the update`, w.configAsBefore)
	b.then(`the retrieved revision is the latest revision`, w.isTheRevision)
	b.then(`the list holds just that revision`, w.listHoldsJustIt)
	b.then(`the revision has every required field`, w.revisionIsComplete)
	b.then(`no revision was updated before it was created`, w.notUpdatedBeforeCreated)
	b.then(`the revision carries the commit of its ref`, w.carriesCommit)
}

func (w *World) aDeploymentThatIsUp(ctx context.Context) (err error) {
	w.deployment, err = w.run.shared(ctx, w.run.fixtures.up)
	return err
}

func (w *World) twoDeployments(ctx context.Context) (err error) {
	if w.deployment, err = w.run.shared(ctx, w.run.fixtures.up); err != nil {
		return err
	}
	w.other, err = w.run.shared(ctx, w.run.fixtures.spare)
	return err
}

func (w *World) anUpdatedDeployment(ctx context.Context) (err error) {
	w.deployment, err = w.run.shared(ctx, w.run.fixtures.updated)
	return err
}

// aKnownCommit and its like skip where nothing tells which commit to expect.
func (w *World) aKnownCommit() error {
	ref, _ := asked(w.run.config.Create.Body)["repo_ref"].(string)
	return w.knownCommit(ref)
}

func (w *World) aSecondKnownCommit() error {
	return w.knownCommit(w.run.config.Alternatives.RepoRef)
}

func (w *World) knownCommit(ref string) error {
	if w.run.config.Source() != config.GitHost {
		return inapplicable("the target's deployments come from %s, which has no commits", w.run.config.Source())
	}
	commit := w.run.config.Alternatives.Commits[ref]
	if commit == "" {
		return needs("alternatives.commits with the commit id of each ref")
	}
	w.subject = []string{commit}
	return nil
}

// retrieve reads from the control plane as the client, and adds the answer to those of the act.
func (w *World) retrieve(ctx context.Context, path string, wrong bool) error {
	request := w.run.toControlPlane(theClient, http.MethodGet, path, nil)
	request.Wrong = wrong
	a, err := w.do(ctx, request)
	if err == nil {
		w.answers = append(w.answers, a)
	}
	return err
}

func (w *World) clientRetrieves(ctx context.Context) error {
	return w.retrieve(ctx, deploymentPath(w.deployment.id), false)
}

func (w *World) clientRetrievesBoth(ctx context.Context) error {
	w.subject = []string{w.deployment.id, w.other.id}
	if err := w.retrieve(ctx, deploymentPath(w.deployment.id), false); err != nil {
		return err
	}
	return w.retrieve(ctx, deploymentPath(w.other.id), false)
}

func (w *World) clientRetrievesUnknown(ctx context.Context) error {
	return w.retrieve(ctx, deploymentPath(unknownID()), false)
}

func (w *World) clientRetrievesID(ctx context.Context, id string) error {
	return w.retrieve(ctx, deploymentPath(id), true)
}

func (w *World) clientRetrievesLatest(ctx context.Context) error {
	w.revision = w.deployment.latest()
	return w.retrieve(ctx, revisionPath(w.deployment.id, w.revision), false)
}

func (w *World) clientRetrievesFirst(ctx context.Context) error {
	w.revision = w.deployment.first
	return w.retrieve(ctx, revisionPath(w.deployment.id, w.revision), false)
}

func (w *World) clientRetrievesAndLists(ctx context.Context) error {
	if err := w.clientRetrievesLatest(ctx); err != nil {
		return err
	}
	if err := w.run.awaitListed(ctx, w.deployment.id, w.revision); err != nil {
		return err
	}
	a, err := w.run.get(ctx, revisionsPath(w.deployment.id), "")
	if err == nil {
		w.answers = append(w.answers, a)
	}
	return err
}

func (w *World) clientRetrievesBothRevisions(ctx context.Context) error {
	w.subject = w.deployment.revisions
	for _, revision := range w.deployment.revisions {
		if err := w.retrieve(ctx, revisionPath(w.deployment.id, revision), false); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) clientRetrievesUnknownRevision(ctx context.Context) error {
	return w.retrieve(ctx, revisionPath(w.deployment.id, unknownID()), false)
}

func (w *World) clientRetrievesForeignRevision(ctx context.Context) error {
	return w.retrieve(ctx, revisionPath(w.other.id, w.deployment.first), false)
}

func (w *World) clientRetrievesEachTwice(ctx context.Context) error {
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
		return violated(a, path+" "+want, "%s", shown(got)).at("/" + strings.ReplaceAll(path, ".", "/"))
	}
	return nil
}

func (w *World) isTheCreated() error {
	if err := w.served(); err != nil {
		return err
	}
	if err := same(w.answer, "id", w.deployment.id); err != nil {
		return err
	}
	if err := same(w.answer, "latest_revision_id", w.deployment.first); err != nil {
		return err
	}
	return same(w.answer, "source", w.run.config.Source())
}

func (w *World) eachIsTheAskedFor() error {
	for i, a := range w.answers {
		if !a.OK() {
			return violated(a, "a status of success", "%s", seen(a))
		}
		if err := same(a, "id", w.subject[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) notFound() error {
	a, err := w.last()
	if err != nil {
		return err
	}
	if a.Status != http.StatusNotFound {
		return violated(a, "status 404", "%s", seen(a))
	}
	return nil
}

func (w *World) notFoundWithDetail() error {
	if err := w.notFound(); err != nil {
		return err
	}
	if detail := w.answer.Get("detail"); detail.Type != gjson.String {
		return violated(w.answer, "JSON with a text as detail", "%s", seen(w.answer)).at("/detail")
	}
	return nil
}

func (w *World) sourceAsAsked() error {
	if err := w.served(); err != nil {
		return err
	}
	want, _ := w.deployment.body["source"].(string)
	if got := w.answer.Get("source"); got.String() != want {
		return violated(w.answer, "source "+want, "%s", shown(got)).at("/source")
	}
	return nil
}

func (w *World) configAsAsked() error { return w.configHolds(asked(w.deployment.body)) }

func (w *World) configAsUpdated() error { return w.configHolds(w.deployment.update) }

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
		if got := w.answer.Get("source_revision_config." + field); got.String() != value {
			return violated(w.answer, field+" "+value, "%s", shown(got)).at("/source_revision_config/" + field)
		}
	}
	if compared == 0 {
		return inconclusive("the request asked for nothing that could be compared: give create.body.source_revision_config its fields")
	}
	return nil
}

// configAsBefore compares with what the same revision showed before the update, not with what was asked for at its
// creation.
func (w *World) configAsBefore() error {
	before := w.deployment.original
	if before.Get("id").String() != w.answer.Get("id").String() {
		return blocked("the first revision cannot be retrieved: %s", seen(w.answer))
	}
	compared := 0
	for _, field := range []string{"repo_ref", "graph_config_path", "image_uri", "repo_commit_sha"} {
		path := "source_revision_config." + field
		want := before.Get(path)
		if want.Type != gjson.String {
			continue
		}
		compared++
		if got := w.answer.Get(path); got.String() != want.String() {
			return violated(w.answer, field+" "+want.String(), "%s", shown(got)).at("/" + pointerOf(path))
		}
	}
	if compared == 0 {
		return inconclusive("the revision showed nothing in its source revision configuration before the update: %s", seen(before))
	}
	return nil
}

func (w *World) isTheRevision() error { return same(w.answers[0], "id", w.revision) }

func (w *World) listHoldsJustIt() error {
	list := w.answers[1]
	rows := list.Get("resources").Array()
	if !list.OK() || len(rows) != 1 || rows[0].Get("id").String() != w.revision {
		return violated(list, "a list of just the revision "+w.revision, "%s", seen(list)).at("/resources")
	}
	return nil
}

// requiredOfRevision are the fields that every revision has (section 2).
var requiredOfRevision = []string{"id", "created_at", "updated_at", "status", "source", "source_revision_config"}

func (w *World) revisionIsComplete() error {
	for _, field := range requiredOfRevision {
		if value := w.answer.Get(field); !value.Exists() || value.Type == gjson.Null {
			return violated(w.answer, "the field "+field, "%s", shown(value)).at("/" + field)
		}
	}
	return nil
}

// instant reads a date-time of any offset and precision.
func instant(v gjson.Result) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(v.String())) // RFC 3339 allows a small t and z
	return t, err == nil
}

func (w *World) notUpdatedBeforeCreated() error {
	for _, a := range w.answers {
		created, ok := instant(a.Get("created_at"))
		updated, ok2 := instant(a.Get("updated_at"))
		if !ok || !ok2 {
			return inconclusive("the revision does not show both times")
		}
		if updated.Before(created) {
			return violated(a, "updated_at not before created_at "+shown(a.Get("created_at")), "%s", shown(a.Get("updated_at"))).at("/updated_at")
		}
	}
	return nil
}

func (w *World) carriesCommit() error {
	if err := w.served(); err != nil {
		return err
	}
	got := w.answer.Get("source_revision_config.repo_commit_sha")
	if !strings.EqualFold(got.String(), w.subject[0]) {
		return violated(w.answer, "repo_commit_sha "+w.subject[0], "%s", shown(got)).at("/source_revision_config/repo_commit_sha").
			hinting("alternatives.commits must tell the commit that the ref points to now: a branch may have moved since it was written")
	}
	return nil
}

// isUUID tells whether a text is an id of the form that the interface wants.
func isUUID(s string) bool {
	return len(s) == len("00000000-0000-0000-0000-000000000000") && uuid.Validate(s) == nil
}
