package controlplane

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// defineRetrieval registers the sentences about reading deployments and revisions (sections 1, 2, 4 and 7).
func (w *World) defineRetrieval(r *common.Definitions) {
	fixtures := w.plane.Fixtures
	// it need not be up: it is read, whatever becomes of its revision
	r.Given(`an existing deployment`, w.existing(fixtures.Readable))
	r.Given(`a DEPLOYED deployment`, w.existing(fixtures.Deployed))
	r.Given(`two deployments`, w.twoDeployments)
	r.Given(`a deployment that was updated to another source`, w.shared(fixtures.Updated))
	r.Given(`a (second )?ref whose commit id is known`, w.aKnownCommit)
	// what is read from copies is not wrong at every read
	r.When(`the client retrieves the deployment`, w.retrieves)
	r.When(`the client retrieves the deployment several times`, func(ctx context.Context) {
		for range 6 {
			common.Check(w.retrieves(ctx))
		}
	})
	r.When(`the client retrieves both deployments`, w.clientRetrievesBoth)
	r.When(`the client retrieves its (latest|first) revision`, func(ctx context.Context, which string) {
		id := w.Deployment.Latest()
		if which == "first" {
			id = w.Deployment.First
		}
		common.Check(w.retrievesRevision(ctx, id))
	})
	r.When(`the client retrieves its latest revision and lists its revisions`, func(ctx context.Context) {
		common.Check(w.retrievesRevision(ctx, w.Deployment.Latest()))
		common.Check(w.plane.AwaitListed(ctx, w.Deployment.ID, w.Deployment.Latest()))
		common.Check(w.list(ctx, "", false))
	})
	r.When(`the client retrieves both its revisions`, w.retrievesEach)
	r.When(`the client retrieves an unknown revision of it`, func(ctx context.Context) {
		common.Check(w.retrievesRevision(ctx, target.UnknownID()))
	})
	r.When(`the client retrieves the revision of one deployment under the other`, func(ctx context.Context) {
		common.Check(w.get(ctx, plane.RevisionPath(w.other.ID, w.Deployment.First), "", false))
	})
	r.When(`the client retrieves each of its revisions twice`, func(ctx context.Context) {
		common.Check(w.retrievesEach(ctx))
		common.Check(w.retrievesEach(ctx))
	})
	r.Then(`the deployment has the "id", "source" and "latest_revision_id" of its creation`, w.isTheCreated)
	r.Then(`each answer is the (deployment|revision) that was asked for`, w.eachIsTheAskedFor)
	r.Then(`the request is answered with 404 and a string "detail"`, func() error {
		a := w.scene.Answer
		return cmp.Or(outcome.Want(a.Status == http.StatusNotFound, a, "status 404"), common.HasDetail(a))
	})
	r.Then(`the "source" of the (?:deployment|revision) is that of the create request`, w.sourceAsAsked)
	r.Then(`the "source_revision_config" of the (?:deployment|revision) holds the values of the create request`,
		func() error { return configHolds(w.scene.Answer, plane.Asked(w.Deployment.Body)) })
	r.Then(`the "source_revision_config" of the revision is unchanged`, w.configAsBefore)
	r.Then(`the retrieved revision is the latest revision`, func() error {
		return same(w.answers[0], "id", w.revision)
	})
	r.Then(`the list contains only that revision`, w.listHoldsJustIt)
	r.Then(`the revision has every required field, and none is null`, w.revisionIsComplete)
	// what was seen at one moment is compared with what is seen at another
	r.Then(`each has the "created_at" of its first read`, w.createdAsAtFirst)
	r.Then(`whenever "latest_revision_id" names the new revision, "source_revision_config" holds the values of the update`,
		w.configFollowsLatest)
	r.Then(`no "updated_at" is before "created_at"`, w.notUpdatedBeforeCreated)
	r.Then(`the "repo_commit_sha" of the revision is the commit id of its ref`, w.showsCommit)
}

func (w *World) twoDeployments(ctx context.Context) {
	common.Check(w.existing(w.plane.Fixtures.Readable)(ctx))
	if w.Deployment.Found {
		w.other = w.plane.Existing.Deployments()[1]
		return
	}
	w.other = common.Must(w.plane.Shared(ctx, w.plane.Fixtures.Existing))
}

// aKnownCommit skips where the expected commit is not configured.
func (w *World) aKnownCommit(second string) error {
	ref, _ := plane.Asked(w.target.Config.Create.Body)["repo_ref"].(string)
	if second != "" {
		ref = w.target.Config.Alternatives.RepoRef
	}
	if w.commit = w.target.Config.Alternatives.Commits[ref]; w.commit == "" {
		return outcome.Needs("alternatives.commits", " with the commit id of each ref")
	}
	return nil
}

func (w *World) clientRetrievesBoth(ctx context.Context) {
	for _, id := range []string{w.Deployment.ID, w.other.ID} {
		common.Check(w.get(ctx, plane.DeploymentPath(id), "", false))
	}
}

// same compares a field of an answer with a string.
func same(a *exchange.Response, path, want string) error {
	got := a.Get(path)
	common.Check(outcome.Want(got.Exists() || a.OK(), a, path+" "+want))
	return outcome.WantAt(got.Type == gjson.String && strings.EqualFold(got.Str, want), a, path, path+" "+want)
}

func (w *World) isTheCreated() error {
	a := w.scene.Answer
	common.Check(cmp.Or(w.served(), same(a, "id", w.Deployment.ID)))
	if w.Deployment.Found { // what the list of deployments showed and cannot have changed since (section 2)
		w.scene.Note("judged on an existing deployment: id and source only")
	} else {
		common.Check(same(a, "latest_revision_id", w.Deployment.First))
	}
	if w.Deployment.Source() == "" {
		return nil
	}
	return same(a, "source", w.Deployment.Source())
}

func (w *World) eachIsTheAskedFor(what string) error {
	asked := w.Deployment.Revisions
	if what == "deployment" {
		asked = []string{w.Deployment.ID, w.other.ID}
	}
	for i, a := range w.answers {
		common.Check(cmp.Or(outcome.Want(a.OK(), a, "status 2xx"), same(a, "id", asked[i])))
	}
	return nil
}

// sourceAsAsked wants the last answer to show the source of the create request (section 2).
func (w *World) sourceAsAsked() error {
	a, want := w.scene.Answer, w.Deployment.Source()
	return cmp.Or(w.served(), outcome.WantAt(a.Get("source").String() == want, a, "source", "source "+want))
}

// The fields of a source that a request may set, and the commit that was used (section 2), as GJSON paths.
var sourceFields = []string{"source_revision_config.repo_ref", "source_revision_config.graph_config_path",
	"source_revision_config.image_uri"}

const commitField = "source_revision_config.repo_commit_sha"

// configHolds looks for every value that was asked for. Fields that were not asked for are the target's own.
func configHolds(a *exchange.Response, asked map[string]any) error {
	common.Check(outcome.Want(a.OK(), a, "status 2xx"))
	compared := 0
	for _, path := range sourceFields {
		name := strings.TrimPrefix(path, "source_revision_config.")
		value, given := asked[name].(string)
		if !given {
			continue
		}
		compared++
		common.Check(outcome.WantAt(a.Get(path).String() == value, a, path, name+" "+value))
	}
	if compared == 0 {
		return outcome.Inconclusive("the request sets neither repo_ref, graph_config_path nor image_uri: set them in " +
			"create.body.source_revision_config")
	}
	return nil
}

// configAsBefore compares with what the same revision showed before the update.
func (w *World) configAsBefore() error {
	now, before := w.scene.Answer, w.Deployment.Original
	if before.Get("id").String() != now.Get("id").String() {
		return outcome.Blocked("the first revision cannot be retrieved: %s", outcome.Seen(now))
	}
	return fieldsKept(now, before, append(sourceFields[:3:3], commitField))
}

func (w *World) listHoldsJustIt() error {
	list := w.answers[1]
	isOnly := list.OK() && slices.EqualFunc(plane.ListOf(list).IDs(), []string{w.revision}, strings.EqualFold)
	return outcome.Want(isOnly, list, "a list with only the revision "+w.revision, "/resources")
}

// revisionIsComplete looks for the fields that every revision has (section 2). One that is absent is of the type null.
func (w *World) revisionIsComplete() error {
	required := []string{"id", "created_at", "updated_at", "status", "source", "source_revision_config"}
	return common.Each(required, func(field string) error {
		return outcome.WantAt(w.scene.Answer.Get(field).Type != gjson.Null, w.scene.Answer, field, "a non-null "+field)
	})
}

// createdAsAtFirst compares with the earliest read of the run, at which the revision was still being built.
func (w *World) createdAsAtFirst() error {
	compared := 0
	for _, a := range w.answers {
		first := w.plane.ReadOf(retrieved("the revision", a).Get("id").String()).First
		if first == nil {
			continue // what is answered under another id is the concern of another requirement
		}
		compared++
		was, is := first.Get("created_at"), a.Get("created_at")
		same, comparable := sameInstant(was, is)
		if !comparable {
			return outcome.Inconclusive("the revision has no created_at to compare")
		}
		if !same {
			return outcome.Violated(a, "created_at "+outcome.Shown(was)+" as at the first read, when the status was "+
				outcome.Shown(first.Get("status")), "%s", outcome.Shown(is)).At("/created_at").Comparing(a, first)
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("no revision is returned under the id that was polled")
	}
	return nil
}

// differ tells whether two reads show different values of a field. Times differ where both are there.
func differ(field string, a, b gjson.Result) bool {
	if field == "created_at" {
		same, comparable := sameInstant(a, b)
		return comparable && !same
	}
	return a.String() != b.String()
}

// sameInstant compares two date-times as exactly as the coarser of them is written: one may be of a time that has not
// been through the target's store.
func sameInstant(a, b gjson.Result) (same, comparable bool) {
	at, ok := judge.Instant(a)
	bt, ok2 := judge.Instant(b)
	unit := time.Second
	for range min(digits(a.String()), digits(b.String())) {
		unit = max(unit/10, 1)
	}
	return at.Sub(bt).Abs() < unit, ok && ok2
}

// digits counts those of the fraction of a second.
func digits(dateTime string) int {
	_, fraction, _ := strings.Cut(dateTime, ".")
	return len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
}

func (w *World) notUpdatedBeforeCreated() error {
	for _, a := range w.answers {
		created, ok := judge.Instant(a.Get("created_at"))
		updated, ok2 := judge.Instant(a.Get("updated_at"))
		if !ok || !ok2 {
			return outcome.Inconclusive("created_at or updated_at is missing or not a date-time")
		}
		expected := "updated_at at or after created_at " + outcome.Shown(a.Get("created_at"))
		common.Check(outcome.WantAt(!updated.Before(created), a, "updated_at", expected))
	}
	return nil
}

func (w *World) showsCommit() error {
	a := w.scene.Answer
	common.Check(w.served())
	if got := a.Get(commitField); !strings.EqualFold(got.String(), w.commit) {
		return outcome.Violated(a, "repo_commit_sha "+w.commit, "%s", outcome.Shown(got)).At(inPointer(commitField)).
			Hinting("set alternatives.commits to the commit id that the ref points to now: a branch may have moved")
	}
	return nil
}

// configFollowsLatest judges each deployment that names the new revision, the first one after the update included:
// one answer is not to hold the id of the one revision and the configuration of another (section 2).
func (w *World) configFollowsLatest() error {
	answers := slices.Clone(w.answers)
	if first := w.Deployment.Naming; first != nil {
		answers = slices.Insert(answers, 0, first)
	}
	namesOther := func(a *exchange.Response) bool {
		return !strings.EqualFold(a.Get("latest_revision_id").String(), w.Deployment.Latest())
	}
	if answers = slices.DeleteFunc(answers, namesOther); len(answers) == 0 {
		return outcome.Inconclusive("latest_revision_id never names the new revision")
	}
	return common.Each(answers, func(a *exchange.Response) error { return configHolds(a, w.Deployment.Update) })
}
