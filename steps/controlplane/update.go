package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// update holds the sentences about updating deployments (sections 1, 2 and 4).
type update struct {
	*World
	before *plane.Snapshot // how the deployment was before the client acted
	kind   string          // of the update that the client sent
}

func (w *update) define(r *common.Definitions) {
	r.Given(`a deployment that accepts updates`, w.aDeploymentThatTakesUpdates)
	r.Given(`a deployment that no other scenario changes`, w.aDeploymentForItself)
	r.Given(`a deployment created for this scenario with build_on_push true`, w.anOwnThatBuildsOnPush)
	r.Given(`a deployment created for this scenario from the tag`, func(ctx context.Context) error {
		return w.anOwn(ctx, "tagged", fromTag(w.Target.Config, false))
	})
	r.When(`the client updates "(repo_ref|graph_config_path|image_uri)"`, w.clientUpdatesField)
	r.When(`the client updates "(repo_ref|graph_config_path|image_uri)" to its current value`, w.clientUpdatesToCurrent)
	r.When(`the client sends an update with (an empty object|build_on_push alone|.+ null|an empty source_revision_config)`, w.clientUpdatesNothing)
	r.When(`the client updates "repo_ref" and "graph_config_path" in one request`, w.clientUpdatesBoth)
	r.When(`the client updates "(\w+)" beside "(\w+)" null`, w.clientUpdatesBesideNull)
	r.When(`the client updates "(\w+)" twice, the second time while the first revision may still be built`, w.clientUpdatesTwice)
	r.When(`the client updates "(\w+)" twice at the same time`, w.clientUpdatesAtOnce)
	r.Then(`as many revisions were created as updates were served`, w.oneRevisionEach)
	r.Then(`the "latest_revision_id" of the deployment names the second revision`, w.namesSecondLatest)
	r.Then(`each of its revisions shows that source`, w.revisionsKeepSource)
	r.When(`the client tries to change its source`, w.clientChangesSource)
	r.When(`the client updates an unknown deployment`, func(ctx context.Context) error {
		w.Deployment = &plane.Deployment{ID: target.UnknownID()}
		return w.patch(ctx, plane.SourceUpdate(map[string]any{}), false)
	})
	r.When(`the client tries to set the read-only fields in an update`, func(ctx context.Context) error {
		body := plane.ReadOnly()
		body["source_revision_config"] = map[string]any{"repo_commit_sha": plane.ReadOnlyCommit}
		return w.patch(ctx, body, true)
	})
	r.When(`the client tries to update the deployment with (.+)`, func(ctx context.Context, mistake string) error {
		body := map[string]any{"source_revision_config": plane.CloneObject(plane.Asked(w.Target.Config.Create.Body))}
		return w.patch(ctx, plane.WrongBody(mistake, body, w.Plane.Sources.Field()), true)
	})
	r.When(`the client updates "repo_ref" to the tag`, w.clientUpdatesToTag)
	r.When(`the client updates build_on_push to true`, func(ctx context.Context) error {
		return w.patch(ctx, map[string]any{"source_config": map[string]any{"build_on_push": true}}, false)
	})
	r.Then(`exactly one revision was created`, w.oneRevisionCreated)
	r.Then(`the "latest_revision_id" of the deployment names that revision`, func() error {
		return same(w.Scene.Answer, "latest_revision_id", w.Revision)
	})
	r.Then(`no revision was created`, w.noRevisionCreated)
	r.Then(`the update was served, or it is not judged`, w.servedOrNotJudged)
	r.Then(`a GET of the deployment shows the "source" of the create request`, w.sourceUnchanged)
	r.Then(`the read-only fields are unchanged`, w.readOnlyUnchanged)
	// the fields that an update does not name (section 2)
	r.Then(`the revision has the values of the first revision in the fields that the update does not name`, w.otherFieldsKept)
	r.Then(`the deployment has the earlier values of its source and its build_on_push`, w.allFieldsKept)
}

// aDeploymentThatTakesUpdates is the scenario's alone until it ends, so that every change is of its making.
func (w *update) aDeploymentThatTakesUpdates(ctx context.Context) error {
	if err := w.lease(ctx, w.Plane.Fixtures.Leased); err != nil {
		return err
	}
	if err := w.Plane.Settle(ctx, w.Deployment.ID); err != nil {
		return err
	}
	return w.remember(ctx)
}

// aDeploymentForItself is for updates that are to be refused: these need no deployment that is DEPLOYED.
func (w *update) aDeploymentForItself(ctx context.Context) error {
	if err := w.lease(ctx, w.Plane.Fixtures.Changing); err != nil {
		return err
	}
	return w.remember(ctx)
}

func (w *update) lease(ctx context.Context, f *plane.Fixture) error {
	d, giveBack, err := w.Plane.Lease(ctx, f)
	if err != nil {
		return err
	}
	w.Deployment = d
	w.Scene.AtEnd(giveBack)
	return nil
}

// remember notes how the deployment is before the client acts.
func (w *update) remember(ctx context.Context) (err error) {
	if err := w.Plane.AwaitLatestListed(ctx, w.Deployment.ID); err != nil {
		return err
	}
	w.before, err = w.Plane.Snapshot(ctx, w.Deployment)
	return err
}

func (w *update) anOwnThatBuildsOnPush(ctx context.Context) error {
	if err := w.anOwn(ctx, "push", map[string]any{"source_config": map[string]any{"build_on_push": true}}); err != nil {
		return err
	}
	a, err := w.Plane.Get(ctx, plane.DeploymentPath(w.Deployment.ID), "")
	if err == nil && a.Get("source_config.build_on_push").Type != gjson.True {
		return outcome.Inapplicable("build_on_push", "the target does not accept build_on_push true with this create.body: %s", outcome.Seen(a))
	}
	return err
}

// anOwn creates a deployment that does not change by itself any more.
func (w *update) anOwn(ctx context.Context, purpose string, changes map[string]any) (err error) {
	if w.Deployment, err = w.Plane.Create(ctx, purpose, changes); err != nil {
		return err
	}
	return w.Plane.Settle(ctx, w.Deployment.ID)
}

func (w *update) clientUpdatesField(ctx context.Context, field string) error {
	a := w.Target.Config.Alternatives
	value := map[string]string{"repo_ref": a.RepoRef, "graph_config_path": a.GraphConfigPath, "image_uri": a.ImageURI}[field]
	return w.patchSource(ctx, map[string]any{field: value}, "")
}

// patchSource sends an update that is to make a revision. The manner belongs to its kind.
func (w *update) patchSource(ctx context.Context, change map[string]any, manner string) error {
	if err := w.Plane.TakeRevision(ctx, w.Deployment); err != nil {
		return err
	}
	w.kind = plane.KindOf(change) + manner
	return w.patch(ctx, plane.SourceUpdate(change), false)
}

func (w *update) clientUpdatesBoth(ctx context.Context) error {
	change := map[string]any{}
	for _, field := range plane.SourceFields {
		change[field] = w.Plane.Sources.ValueOf(field)
	}
	return w.patchSource(ctx, change, "")
}

// current is the value that the deployment shows of a field.
func (w *update) current(field string) (string, error) {
	value := w.before.Deployment.Get("source_revision_config." + field)
	if value.Type != gjson.String {
		return "", outcome.Inconclusive("the deployment has no string %s to send again: %s", field, outcome.Shown(value))
	}
	return value.Str, nil
}

// clientUpdatesToCurrent sends what the deployment shows: any value that is not null creates a revision (section 2).
func (w *update) clientUpdatesToCurrent(ctx context.Context, field string) error {
	current, err := w.current(field)
	if err != nil {
		return err
	}
	return w.patchSource(ctx, map[string]any{field: current}, plane.ToCurrentValue)
}

func (w *update) clientUpdatesNothing(ctx context.Context, what string) error {
	bodies := map[string]map[string]any{
		"an empty object":        {},
		"build_on_push alone":    {"source_config": map[string]any{"build_on_push": false}},
		"repo_ref null":          plane.SourceUpdate(map[string]any{"repo_ref": nil}),
		"graph_config_path null": plane.SourceUpdate(map[string]any{"graph_config_path": nil}),
		"image_uri null":         plane.SourceUpdate(map[string]any{"image_uri": nil}),
		"the three source fields null": plane.SourceUpdate(map[string]any{
			"repo_ref": nil, "graph_config_path": nil, "image_uri": nil}),
		"an empty source_revision_config": plane.SourceUpdate(map[string]any{}),
	}
	return w.patch(ctx, bodies[what], false)
}

// clientChangesSource tries both other sources: a target may know only some of them.
func (w *update) clientChangesSource(ctx context.Context) error {
	for _, source := range []string{config.GitHost, config.ExternalContainer, config.InternalContainer} {
		if source == w.Target.Config.Source() {
			continue
		}
		if err := w.patch(ctx, map[string]any{"source": source}, true); err != nil {
			return err
		}
	}
	return nil
}

func (w *update) clientUpdatesToTag(ctx context.Context) error {
	if err := w.Plane.TakeRevision(ctx, w.Deployment); err != nil {
		return err
	}
	if err := w.patch(ctx, plane.SourceUpdate(map[string]any{"repo_ref": w.Target.Config.Alternatives.TagRef}), false); err != nil || !w.Scene.Answer.OK() {
		return err
	}
	_, _, err := w.Plane.AwaitLatest(ctx, w.Scene.Answer, "tag", w.Deployment.ID, w.Deployment.First)
	return err
}

// oneRevisionCreated waits for the new revision, since an update may be accepted before it takes effect.
func (w *update) oneRevisionCreated(ctx context.Context) error {
	if err := w.Served(); err != nil {
		if stays := w.Plane.StaysIn(w.Deployment); stays != "" && w.Scene.Answer.Refused() {
			return outcome.Blocked("the update is refused while the latest revision stays %q, which is not one of the thirteen statuses (CP-POLL-1)", stays).ByRequirement("CP-POLL-1")
		}
		return err
	}
	act := w.Scene.Answer
	latest, _, err := w.Plane.AwaitLatest(ctx, act, w.kind, w.Deployment.ID, w.before.Latest)
	if err == nil {
		err = w.Plane.AwaitListed(ctx, w.Deployment.ID, latest)
	}
	if err == nil {
		err = w.Target.WaitSettleDelay(ctx, act) // a second one may come in the background
	}
	if err != nil {
		return err
	}
	after, err := w.Plane.Snapshot(ctx, w.Deployment)
	if err != nil {
		return err
	}
	added := slices.DeleteFunc(slices.Clone(after.Revisions), func(id string) bool { return slices.Contains(w.before.Revisions, id) })
	w.Scene.Answer = after.Deployment
	if len(added) > 0 {
		w.Revision = added[0]
	}
	if len(added) != 1 || len(after.Revisions) != len(w.before.Revisions)+1 {
		return outcome.Violated(act, "exactly one new revision, and all earlier ones", "%d new, %d in total (before: %d)\n%s",
			len(added), len(after.Revisions), len(w.before.Revisions), strings.Join(added, "\n")).Comparing(after.List, w.before.List)
	}
	return nil
}

// noRevisionCreated looks twice: a revision that is created in the background would be missed by the first look.
func (w *update) noRevisionCreated(ctx context.Context) error {
	act := w.Scene.Answer
	for look := range 2 {
		if look > 0 {
			if err := w.Target.WaitSettleDelay(ctx, act); err != nil {
				return err
			}
		}
		after, err := w.Plane.Snapshot(ctx, w.Deployment)
		if err != nil {
			return err
		}
		if len(after.Revisions) > len(w.before.Revisions) || after.Latest != w.before.Latest {
			return outcome.Violated(act, "no new revision", "%d revisions (before: %d)\nlatest_revision_id %s (before: %s)",
				len(after.Revisions), len(w.before.Revisions), after.Latest, w.before.Latest).Comparing(after.List, w.before.List)
		}
	}
	return nil
}

// servedOrNotJudged keeps a refusal from passing: what an update does that is refused for another reason shows nothing of what
// one does that is served.
func (w *update) servedOrNotJudged() error {
	switch a := w.Scene.Answer; {
	case a.OK():
		return nil
	case a.Refused():
		return outcome.Inapplicable("updates without a source field", "the target refuses this update: %s", outcome.Seen(a))
	}
	return outcome.Inconclusive("the update was not served: %s", outcome.Seen(w.Scene.Answer))
}

func (w *update) sourceUnchanged(ctx context.Context) error {
	a, err := w.Plane.Get(ctx, plane.DeploymentPath(w.Deployment.ID), "")
	if err != nil {
		return err
	}
	w.Scene.Answer = a
	return w.SourceAsAsked()
}

// revisionsKeepSource reads the list, and the latest revision.
func (w *update) revisionsKeepSource(ctx context.Context) error {
	want, _ := w.Deployment.Body["source"].(string)
	latest, err := w.Plane.Get(ctx, plane.RevisionPath(w.Deployment.ID, w.before.Latest), "")
	if err != nil {
		return err
	}
	if got := latest.Get("source"); latest.OK() && got.String() != want {
		return outcome.Violated(latest, "source "+want, "%s", outcome.Shown(got)).At("/source")
	}
	rows, list, err := w.Plane.ListAll(ctx, w.Deployment.ID, "")
	if err != nil {
		return err
	}
	if !list.OK() {
		return outcome.Inconclusive("the list cannot be read: %s", outcome.Seen(list))
	}
	for i, row := range rows {
		if got := row.Get("source"); got.String() != want {
			return outcome.Violated(list, "source "+want, "%s", outcome.Shown(got)).At(fmt.Sprintf("/resources/%d/source", i))
		}
	}
	return nil
}

func (w *update) readOnlyUnchanged(ctx context.Context) error {
	after, err := w.Plane.Get(ctx, plane.DeploymentPath(w.Deployment.ID), "")
	if err != nil {
		return err
	}
	revision, err := w.Plane.Get(ctx, plane.RevisionPath(w.Deployment.ID, w.before.Latest), "")
	if err != nil {
		return err
	}
	before := w.before.Deployment
	was, _ := plane.Instant(before.Get("created_at")) // the interface does not say that a deployment has one
	is, _ := plane.Instant(after.Get("created_at"))
	if before.Get("id").String() != after.Get("id").String() || !was.Equal(is) {
		field := "created_at"
		if before.Get("id").String() != after.Get("id").String() {
			field = "id"
		}
		return outcome.Violated(after, field+" "+outcome.Shown(before.Get(field))+" as before", "%s", outcome.Shown(after.Get(field))).Comparing(after, before)
	}
	if sent, _ := plane.ReadOnly()["status"].(string); slices.Contains(w.Plane.ReadOf(w.before.Latest).Statuses, sent) {
		return plane.ReadOnlyIgnored([]*client.Answer{after}) // the revision had failed by itself, before the update
	}
	return plane.ReadOnlyIgnored([]*client.Answer{after, revision})
}

// settable are the fields of a deployment that the interface names and an update may set.
var settable = []string{"source_revision_config.repo_ref", "source_revision_config.graph_config_path", "source_revision_config.image_uri", "source_config.build_on_push"}

// otherFieldsKept compares the new revision with how the first one was before the update. What the deployment shows of it is the
// concern of another requirement.
func (w *update) otherFieldsKept() error {
	if err := w.Served(); err != nil {
		return err
	}
	now, before := w.Scene.Answer, w.Deployment.Original
	var unnamed []string
	for _, path := range settable[:3] {
		if _, named := w.Deployment.Update[path[len("source_revision_config."):]]; !named {
			unnamed = append(unnamed, path)
		}
	}
	return fieldsKept(now, before, unnamed)
}

// allFieldsKept reads the deployment after an update that sets nothing. It reads several times: that a deployment shows an earlier
// configuration now and then is the concern of another requirement.
func (w *update) allFieldsKept(ctx context.Context) error {
	if err := w.Target.WaitSettleDelay(ctx, w.Scene.Answer); err != nil {
		return err
	}
	var differs error
	for range 3 {
		now, err := w.Plane.Get(ctx, plane.DeploymentPath(w.Deployment.ID), "")
		if err != nil {
			return err
		}
		if !now.OK() {
			return outcome.Blocked("the deployment cannot be retrieved: %s", outcome.Seen(now))
		}
		if differs = fieldsKept(now, w.before.Deployment, settable); differs == nil {
			return nil
		}
	}
	return differs
}

// fieldsKept compares the fields that had a value before.
func fieldsKept(now, before *client.Answer, paths []string) error {
	compared := 0
	for _, path := range paths {
		was, is := before.Get(path), now.Get(path)
		if !was.Exists() || was.Type == gjson.Null || was.Type == gjson.String && was.Str == "" {
			continue
		}
		compared++
		if was.Type != is.Type || was.String() != is.String() {
			return outcome.Violated(now, pointerOf(path)+" "+outcome.Shown(was)+" as before the update", "%s", outcome.Shown(is)).At("/"+pointerOf(path)).Comparing(now, before)
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("no field had a value before that the update does not name: %s", outcome.Seen(before))
	}
	return nil
}
