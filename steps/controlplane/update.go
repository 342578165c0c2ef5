package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// update holds the sentences about updating deployments.
type update struct {
	*World
	before *plane.Snapshot // how the deployment was before the client acted
	kind   string          // of the update that the client sent
	value  string          // that the client is to send
}

// define holds the sentences about updating a deployment (sections 1, 2 and 4).
func (w *update) define(r *common.Registrar) {
	r.Given(`a deployment that takes updates`, w.aDeploymentThatTakesUpdates, common.Uses(w.plane.Fixtures.Leased))
	r.Configured(`a second ref to build from`, w.aSecondRef)
	r.Configured(`a second graph configuration file`, w.aSecondGraphConfig)
	r.Configured(`a second image`, w.aSecondImage)
	r.Given(`a source that has (?:a|an) "(repo_ref|graph_config_path|image_uri)"`, w.aSourceThatHas, common.Needs(w.aSourceThatHas))
	r.Given(`a deployment of its own that builds on push`, w.anOwnThatBuildsOnPush, common.Creates(1, 0))
	r.Given(`a deployment of its own from the tag`, w.anOwnFromTag, common.Creates(1, 0))
	r.When(`the client updates "(repo_ref|graph_config_path|image_uri)"`, w.clientUpdatesField, common.Creates(0, 1))
	r.When(`the client updates "(repo_ref|graph_config_path|image_uri)" to the value that stands`, w.clientUpdatesToSame, common.Creates(0, 1))
	r.When(`the client updates (nothing|build_on_push alone|every source field to null|an empty source revision configuration)`, w.clientUpdatesNothing)
	r.Configured(`a "repo_ref" and a "graph_config_path" to build from`, w.aSourceForBoth)
	r.When(`the client updates "repo_ref" and "graph_config_path" at once`, w.clientUpdatesBoth, common.Creates(0, 1))
	r.When(`the client tries to change its source`, w.clientChangesSource)
	r.When(`the client updates an unknown deployment`, w.clientUpdatesUnknown)
	r.When(`the client tries to set the read-only fields in an update`, w.clientUpdatesReadOnly)
	r.When(`the client tries to update the deployment with (.+)`, w.clientUpdatesWithMistake)
	r.When(`the client updates it to the tag`, w.clientUpdatesToTag, common.Creates(0, 1))
	r.When(`the client updates it to build on push`, w.clientUpdatesToBuildOnPush)
	r.Then(`exactly one new revision is made`, w.oneNewRevision)
	r.Then(`the deployment names it as the latest`, w.namesItLatest)
	r.Then(`the deployment has no new revision`, w.noNewRevision)
	r.Then(`the deployment's source is that of its creation`, w.sourceOfCreation)
	r.Then(`the read-only fields are as they were`, w.readOnlyAsBefore)
}

// aDeploymentThatTakesUpdates is the scenario's alone until it ends, so that every change is of its making.
func (w *update) aDeploymentThatTakesUpdates(ctx context.Context) error {
	d, giveBack, err := w.plane.Lease(ctx, w.plane.Fixtures.Leased)
	if err != nil {
		return err
	}
	w.deployment = d
	w.scene.AtEnd(giveBack)
	if err := w.plane.Settle(ctx, w.deployment.ID); err != nil {
		return err
	}
	if err := w.plane.AwaitLatestListed(ctx, w.deployment.ID); err != nil {
		return err
	}
	w.before, err = w.plane.Snapshot(ctx, w.deployment)
	return err
}

func (w *update) alternative(source, field, value string) error {
	if w.target.Config.Source() != source {
		return outcome.Inapplicable(field, "deployments from %s have no %s", w.target.Config.Source(), field)
	}
	if value == "" {
		return outcome.Needs("alternatives." + field)
	}
	w.value = value
	return nil
}

func (w *update) aSecondRef() error {
	return w.alternative(config.GitHost, "repo_ref", w.target.Config.Alternatives.RepoRef)
}

func (w *update) aSecondGraphConfig() error {
	return w.alternative(config.GitHost, "graph_config_path", w.target.Config.Alternatives.GraphConfigPath)
}

func (w *update) aSecondImage() error {
	return w.alternative(config.ExternalContainer, "image_uri", w.target.Config.Alternatives.ImageURI)
}

func (w *update) aSourceThatHas(field string) error {
	source := config.GitHost
	if field == "image_uri" {
		source = config.ExternalContainer
	}
	if w.target.Config.Source() != source {
		return outcome.Inapplicable(field, "deployments from %s have no %s", w.target.Config.Source(), field)
	}
	return nil
}

func (w *update) anOwnThatBuildsOnPush(ctx context.Context) (err error) {
	w.deployment, err = w.plane.Create(ctx, "push", map[string]any{"source_config": map[string]any{"build_on_push": true}})
	if err != nil {
		return err
	}
	if err := w.plane.Settle(ctx, w.deployment.ID); err != nil {
		return err
	}
	a, err := w.plane.Get(ctx, plane.DeploymentPath(w.deployment.ID), "")
	if err == nil && a.Get("source_config.build_on_push").Type != gjson.True {
		return outcome.Inapplicable("build_on_push", "the target does not let a deployment of this template build on push: %s", outcome.Seen(a))
	}
	return err
}

func (w *update) anOwnFromTag(ctx context.Context) (err error) {
	if w.deployment, err = w.plane.Create(ctx, "tagged", fromTag(w.target.Config, false)); err != nil {
		return err
	}
	return w.plane.Settle(ctx, w.deployment.ID)
}

// patch sends an update by the client and remembers the answer.
func (w *update) patch(ctx context.Context, body any, wrong bool) error {
	request := w.target.ToControlPlane(target.TheClient, http.MethodPatch, plane.DeploymentPath(w.deployment.ID), body)
	request.Wrong = wrong
	_, err := w.do(ctx, request)
	return err
}

func (w *update) clientUpdatesField(ctx context.Context, field string) error {
	return w.patchSource(ctx, map[string]any{field: w.value}, "")
}

// patchSource sends an update that is to make a revision. The manner belongs to its kind.
func (w *update) patchSource(ctx context.Context, change map[string]any, manner string) error {
	if err := w.plane.TakeRevision(ctx, w.deployment); err != nil {
		return err
	}
	w.kind = plane.KindOf(change) + manner
	return w.patch(ctx, plane.SourceUpdate(change), false)
}

// aSourceForBoth needs a value for each field: a second one, or that of the template.
func (w *update) aSourceForBoth() error {
	if w.target.Config.Source() != config.GitHost {
		return outcome.Inapplicable("repo_ref and graph_config_path", "repo_ref and graph_config_path do not apply to deployments from %s", w.target.Config.Source())
	}
	for _, field := range plane.SourceFields {
		if w.plane.Sources.ValueOf(field) == "" {
			return outcome.Needs("alternatives." + field)
		}
	}
	return nil
}

func (w *update) clientUpdatesBoth(ctx context.Context) error {
	change := map[string]any{}
	for _, field := range plane.SourceFields {
		change[field] = w.plane.Sources.ValueOf(field)
	}
	return w.patchSource(ctx, change, "")
}

// clientUpdatesToSame sends what the deployment shows: any value that is not null makes a revision (section 2).
func (w *update) clientUpdatesToSame(ctx context.Context, field string) error {
	stands := w.before.Deployment.Get("source_revision_config." + field)
	if stands.Type != gjson.String {
		return outcome.Inconclusive("the deployment shows no %s to send again: %s", field, outcome.Shown(stands))
	}
	return w.patchSource(ctx, map[string]any{field: stands.Str}, plane.AsItStands)
}

func (w *update) clientUpdatesNothing(ctx context.Context, what string) error {
	bodies := map[string]map[string]any{
		"nothing":             {},
		"build_on_push alone": {"source_config": map[string]any{"build_on_push": false}},
		"every source field to null": plane.SourceUpdate(map[string]any{
			"repo_ref": nil, "graph_config_path": nil, "image_uri": nil}),
		"an empty source revision configuration": plane.SourceUpdate(map[string]any{}),
	}
	return w.patch(ctx, bodies[what], false)
}

// clientChangesSource tries both other sources: a target may know only some of them.
func (w *update) clientChangesSource(ctx context.Context) error {
	for _, source := range []string{config.GitHost, config.ExternalContainer, config.InternalContainer} {
		if source == w.target.Config.Source() {
			continue
		}
		if err := w.patch(ctx, map[string]any{"source": source}, true); err != nil {
			return err
		}
	}
	return nil
}

func (w *update) clientUpdatesUnknown(ctx context.Context) error {
	w.deployment = &plane.Deployment{ID: target.UnknownID()}
	return w.patch(ctx, plane.SourceUpdate(map[string]any{}), false)
}

func (w *update) clientUpdatesReadOnly(ctx context.Context) error {
	body := readOnly()
	body["source_revision_config"] = map[string]any{"repo_commit_sha": readOnlyCommit}
	return w.patch(ctx, body, true)
}

func (w *update) clientUpdatesWithMistake(ctx context.Context, mistake string) error {
	body := map[string]any{"source_revision_config": plane.CloneObject(plane.Asked(w.target.Config.Create.Body))}
	return w.patch(ctx, wrongBody(mistake, body, w.plane.Sources.Field()), true)
}

func (w *update) clientUpdatesToTag(ctx context.Context) error {
	if err := w.plane.TakeRevision(ctx, w.deployment); err != nil {
		return err
	}
	if err := w.patch(ctx, plane.SourceUpdate(map[string]any{"repo_ref": w.target.Config.Alternatives.TagRef}), false); err != nil || !w.scene.Answer.OK() {
		return err
	}
	_, _, err := w.plane.AwaitLatest(ctx, w.scene.Answer, "tag", w.deployment.ID, w.deployment.First)
	return err
}

func (w *update) clientUpdatesToBuildOnPush(ctx context.Context) error {
	return w.patch(ctx, map[string]any{"source_config": map[string]any{"build_on_push": true}}, false)
}

// oneNewRevision waits for the new revision, since an update may be accepted before it takes effect.
func (w *update) oneNewRevision(ctx context.Context) error {
	if err := w.served(); err != nil {
		return err
	}
	act := w.scene.Answer
	latest, _, err := w.plane.AwaitLatest(ctx, act, w.kind, w.deployment.ID, w.before.Latest)
	if err == nil {
		err = w.plane.AwaitListed(ctx, w.deployment.ID, latest)
	}
	if err == nil {
		err = w.target.WaitSettleDelay(ctx, act) // a second one may come in the background
	}
	if err != nil {
		return err
	}
	after, err := w.plane.Snapshot(ctx, w.deployment)
	if err != nil {
		return err
	}
	added := slices.DeleteFunc(slices.Clone(after.Revisions), func(id string) bool { return slices.Contains(w.before.Revisions, id) })
	w.scene.Answer = after.Deployment
	if len(added) > 0 {
		w.revision = added[0]
	}
	if len(added) != 1 || len(after.Revisions) != len(w.before.Revisions)+1 {
		return outcome.Violated(act, "exactly one new revision, beside the earlier ones", "%d new (%s), %d in all after %d",
			len(added), outcome.Quoted(added), len(after.Revisions), len(w.before.Revisions))
	}
	return nil
}

func (w *update) namesItLatest() error { return same(w.scene.Answer, "latest_revision_id", w.revision) }

// noNewRevision looks twice: a revision that is made in the background would be missed by the first look.
func (w *update) noNewRevision(ctx context.Context) error {
	act, err := w.scene.Last()
	if err != nil {
		return err
	}
	for look := range 2 {
		if look > 0 {
			if err := w.target.WaitSettleDelay(ctx, act); err != nil {
				return err
			}
		}
		after, err := w.plane.Snapshot(ctx, w.deployment)
		if err != nil {
			return err
		}
		if len(after.Revisions) > len(w.before.Revisions) || after.Latest != w.before.Latest {
			return outcome.Violated(act, "no new revision", "%d revisions after %d, the latest %s after %s",
				len(after.Revisions), len(w.before.Revisions), after.Latest, w.before.Latest)
		}
	}
	return nil
}

func (w *update) sourceOfCreation(ctx context.Context) error {
	a, err := w.plane.Get(ctx, plane.DeploymentPath(w.deployment.ID), "")
	if err != nil {
		return err
	}
	w.scene.Answer = a
	return w.sourceAsAsked()
}

func (w *update) readOnlyAsBefore(ctx context.Context) error {
	after, err := w.plane.Get(ctx, plane.DeploymentPath(w.deployment.ID), "")
	if err != nil {
		return err
	}
	revision, err := w.plane.Get(ctx, plane.RevisionPath(w.deployment.ID, w.before.Latest), "")
	if err != nil {
		return err
	}
	before := w.before.Deployment
	was, _ := instant(before.Get("created_at")) // the interface does not say that a deployment has one
	is, _ := instant(after.Get("created_at"))
	if before.Get("id").String() != after.Get("id").String() || !was.Equal(is) {
		return outcome.Violated(after, fmt.Sprintf("id %s and created_at %s as they were", outcome.Shown(before.Get("id")), outcome.Shown(before.Get("created_at"))), "%s", outcome.Seen(after))
	}
	if sent, _ := readOnly()["status"].(string); slices.Contains(w.plane.StatusesOf(w.before.Latest), sent) {
		return takenOver([]*client.Answer{after}) // the revision had failed by itself, before the update
	}
	return takenOver([]*client.Answer{after, revision})
}
