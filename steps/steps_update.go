package steps

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// defineUpdate holds the sentences about updating a deployment (sections 1, 2 and 4).
func (w *World) defineUpdate(b *book) {
	b.given(`a deployment that takes updates`, w.aDeploymentThatTakesUpdates)
	b.configured(`a second ref to build from`, w.aSecondRef)
	b.configured(`a second graph configuration file`, w.aSecondGraphConfig)
	b.configured(`a second image`, w.aSecondImage)
	b.given(`a source that has (?:a|an) "(repo_ref|graph_config_path|image_uri)"`, w.aSourceThatHas)
	b.requires(`a source that has (?:a|an) "(\w+)"`, w.aSourceThatHas)
	b.given(`a deployment of its own that builds on push`, w.anOwnThatBuildsOnPush)
	b.given(`a deployment of its own from the tag`, w.anOwnFromTag)
	b.when(`the client updates "(repo_ref|graph_config_path|image_uri)"`, w.clientUpdatesField)
	b.when(`the client updates "(repo_ref|graph_config_path|image_uri)" to the value that stands`, w.clientUpdatesToSame)
	b.when(`the client updates (nothing|build_on_push alone|every source field to null|an empty source revision configuration)`, w.clientUpdatesNothing)
	b.configured(`a "repo_ref" and a "graph_config_path" to build from`, w.aSourceForBoth)
	b.when(`the client updates "repo_ref" and "graph_config_path" at once`, w.clientUpdatesBoth)
	b.when(`the client tries to change its source`, w.clientChangesSource)
	b.when(`the client updates an unknown deployment`, w.clientUpdatesUnknown)
	b.when(`the client tries to set the read-only fields in an update`, w.clientUpdatesReadOnly)
	b.when(`the client tries to update the deployment with (.+)`, w.clientUpdatesWithMistake)
	b.when(`the client updates it to the tag`, w.clientUpdatesToTag)
	b.when(`the client updates it to build on push`, w.clientUpdatesToBuildOnPush)
	b.then(`exactly one new revision is made`, w.oneNewRevision)
	b.then(`the deployment names it as the latest`, w.namesItLatest)
	b.then(`the deployment has no new revision`, w.noNewRevision)
	b.then(`the deployment's source is that of its creation`, w.sourceOfCreation)
	b.then(`the read-only fields are as they were`, w.readOnlyAsBefore)
}

// aDeploymentThatTakesUpdates is the scenario's alone until it ends, so that every change is of its making.
func (w *World) aDeploymentThatTakesUpdates(ctx context.Context) (err error) {
	if w.deployment, err = w.borrow(ctx, w.run.fixtures.leased); err != nil {
		return err
	}
	if err := w.run.settle(ctx, w.deployment.id); err != nil {
		return err
	}
	if err := w.run.awaitLatestListed(ctx, w.deployment.id); err != nil {
		return err
	}
	w.before, err = w.run.snapshot(ctx, w.deployment)
	return err
}

func (w *World) alternative(source, field, value string) error {
	if w.run.config.Source() != source {
		return inapplicable("deployments from %s have no %s", w.run.config.Source(), field)
	}
	if value == "" {
		return needs("alternatives." + field)
	}
	w.subject = []string{value}
	return nil
}

func (w *World) aSecondRef() error {
	return w.alternative(config.GitHost, "repo_ref", w.run.config.Alternatives.RepoRef)
}

func (w *World) aSecondGraphConfig() error {
	return w.alternative(config.GitHost, "graph_config_path", w.run.config.Alternatives.GraphConfigPath)
}

func (w *World) aSecondImage() error {
	return w.alternative(config.ExternalContainer, "image_uri", w.run.config.Alternatives.ImageURI)
}

func (w *World) aSourceThatHas(field string) error {
	source := config.GitHost
	if field == "image_uri" {
		source = config.ExternalContainer
	}
	if w.run.config.Source() != source {
		return inapplicable("deployments from %s have no %s", w.run.config.Source(), field)
	}
	return nil
}

func (w *World) anOwnThatBuildsOnPush(ctx context.Context) (err error) {
	w.deployment, err = w.run.create(ctx, "push", map[string]any{"source_config": map[string]any{"build_on_push": true}})
	if err != nil {
		return err
	}
	if err := w.run.settle(ctx, w.deployment.id); err != nil {
		return err
	}
	a, err := w.run.get(ctx, deploymentPath(w.deployment.id), "")
	if err == nil && a.Get("source_config.build_on_push").Type != gjson.True {
		return inapplicable("the target does not let a deployment of this template build on push: %s", seen(a))
	}
	return err
}

func (w *World) anOwnFromTag(ctx context.Context) (err error) {
	if w.deployment, err = w.run.create(ctx, "tagged", fromTag(w.run.config, false)); err != nil {
		return err
	}
	return w.run.settle(ctx, w.deployment.id)
}

// patch sends an update by the client and remembers the answer.
func (w *World) patch(ctx context.Context, body any, wrong bool) error {
	request := w.run.toControlPlane(theClient, http.MethodPatch, deploymentPath(w.deployment.id), body)
	request.Wrong = wrong
	_, err := w.do(ctx, request)
	return err
}

func (w *World) clientUpdatesField(ctx context.Context, field string) error {
	return w.patchSource(ctx, map[string]any{field: w.subject[0]}, "")
}

// patchSource sends an update that is to make a revision. The manner belongs to its kind.
func (w *World) patchSource(ctx context.Context, change map[string]any, manner string) error {
	if err := w.run.takeRevision(w.deployment); err != nil {
		return err
	}
	w.kind = kindOf(change) + manner
	return w.patch(ctx, sourceUpdate(change), false)
}

// aSourceForBoth needs a value for each field: a second one, or that of the template.
func (w *World) aSourceForBoth() error {
	if w.run.config.Source() != config.GitHost {
		return inapplicable("repo_ref and graph_config_path do not apply to deployments from %s", w.run.config.Source())
	}
	for _, field := range bothFields {
		if w.run.valueFor(field) == "" {
			return needs("alternatives." + field)
		}
	}
	return nil
}

// bothFields make a revision each when they come alone.
var bothFields = []string{"repo_ref", "graph_config_path"}

// valueFor returns the second value that is configured for a field of a git_host, or that of the template.
func (r *run) valueFor(field string) string {
	stands, _ := asked(r.config.Create.Body)[field].(string)
	if field == "repo_ref" {
		return cmp.Or(r.config.Alternatives.RepoRef, stands)
	}
	return cmp.Or(r.config.Alternatives.GraphConfigPath, stands)
}

func (w *World) clientUpdatesBoth(ctx context.Context) error {
	change := map[string]any{}
	for _, field := range bothFields {
		change[field] = w.run.valueFor(field)
	}
	return w.patchSource(ctx, change, "")
}

// clientUpdatesToSame sends what the deployment shows: any value that is not null makes a revision (section 2).
func (w *World) clientUpdatesToSame(ctx context.Context, field string) error {
	stands := w.before.deployment.Get("source_revision_config." + field)
	if stands.Type != gjson.String {
		return inconclusive("the deployment shows no %s to send again: %s", field, shown(stands))
	}
	return w.patchSource(ctx, map[string]any{field: stands.Str}, asItStands)
}

func (w *World) clientUpdatesNothing(ctx context.Context, what string) error {
	bodies := map[string]map[string]any{
		"nothing":             {},
		"build_on_push alone": {"source_config": map[string]any{"build_on_push": false}},
		"every source field to null": sourceUpdate(map[string]any{
			"repo_ref": nil, "graph_config_path": nil, "image_uri": nil}),
		"an empty source revision configuration": sourceUpdate(map[string]any{}),
	}
	return w.patch(ctx, bodies[what], false)
}

// clientChangesSource tries both other sources: a target may know only some of them.
func (w *World) clientChangesSource(ctx context.Context) error {
	for _, source := range []string{config.GitHost, config.ExternalContainer, config.InternalContainer} {
		if source == w.run.config.Source() {
			continue
		}
		if err := w.patch(ctx, map[string]any{"source": source}, true); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) clientUpdatesUnknown(ctx context.Context) error {
	w.deployment = &deployment{id: unknownID()}
	return w.patch(ctx, sourceUpdate(map[string]any{}), false)
}

func (w *World) clientUpdatesReadOnly(ctx context.Context) error {
	body := readOnly()
	body["source_revision_config"] = map[string]any{"repo_commit_sha": readOnlyCommit}
	return w.patch(ctx, body, true)
}

func (w *World) clientUpdatesWithMistake(ctx context.Context, mistake string) error {
	body := map[string]any{"source_revision_config": cloneObject(asked(w.run.config.Create.Body))}
	return w.patch(ctx, wrongBody(mistake, body, w.run.sourceField()), true)
}

func (w *World) clientUpdatesToTag(ctx context.Context) error {
	if err := w.run.takeRevision(w.deployment); err != nil {
		return err
	}
	if err := w.patch(ctx, sourceUpdate(map[string]any{"repo_ref": w.run.config.Alternatives.TagRef}), false); err != nil || !w.answer.OK() {
		return err
	}
	_, _, err := w.run.awaitLatest(ctx, w.answer, "tag", w.deployment.id, w.deployment.first)
	return err
}

func (w *World) clientUpdatesToBuildOnPush(ctx context.Context) error {
	return w.patch(ctx, map[string]any{"source_config": map[string]any{"build_on_push": true}}, false)
}

// oneNewRevision waits for the new revision, since an update may be accepted before it takes effect.
func (w *World) oneNewRevision(ctx context.Context) error {
	if err := w.served(); err != nil {
		return err
	}
	act := w.answer
	latest, _, err := w.run.awaitLatest(ctx, act, w.kind, w.deployment.id, w.before.latest)
	if err == nil {
		err = w.run.awaitListed(ctx, w.deployment.id, latest)
	}
	if err == nil {
		err = w.run.later(ctx, act) // a second one may come in the background
	}
	if err != nil {
		return err
	}
	after, err := w.run.snapshot(ctx, w.deployment)
	if err != nil {
		return err
	}
	added := slices.DeleteFunc(slices.Clone(after.revisions), func(id string) bool { return slices.Contains(w.before.revisions, id) })
	w.answer = after.deployment
	if len(added) > 0 {
		w.revision = added[0]
	}
	if len(added) != 1 || len(after.revisions) != len(w.before.revisions)+1 {
		return violated(act, "exactly one new revision, beside the earlier ones", "%d new (%s), %d in all after %d",
			len(added), quoted(added), len(after.revisions), len(w.before.revisions))
	}
	return nil
}

func (w *World) namesItLatest() error { return same(w.answer, "latest_revision_id", w.revision) }

// noNewRevision looks twice: a revision that is made in the background would be missed by the first look.
func (w *World) noNewRevision(ctx context.Context) error {
	act, err := w.last()
	if err != nil {
		return err
	}
	for look := range 2 {
		if look > 0 {
			if err := w.run.later(ctx, act); err != nil {
				return err
			}
		}
		after, err := w.run.snapshot(ctx, w.deployment)
		if err != nil {
			return err
		}
		if len(after.revisions) > len(w.before.revisions) || after.latest != w.before.latest {
			return violated(act, "no new revision", "%d revisions after %d, the latest %s after %s",
				len(after.revisions), len(w.before.revisions), after.latest, w.before.latest)
		}
	}
	return nil
}

func (w *World) sourceOfCreation(ctx context.Context) error {
	a, err := w.run.get(ctx, deploymentPath(w.deployment.id), "")
	if err != nil {
		return err
	}
	w.answer = a
	return w.sourceAsAsked()
}

func (w *World) readOnlyAsBefore(ctx context.Context) error {
	after, err := w.run.get(ctx, deploymentPath(w.deployment.id), "")
	if err != nil {
		return err
	}
	revision, err := w.run.get(ctx, revisionPath(w.deployment.id, w.before.latest), "")
	if err != nil {
		return err
	}
	before := w.before.deployment
	was, _ := instant(before.Get("created_at")) // the interface does not say that a deployment has one
	is, _ := instant(after.Get("created_at"))
	if before.Get("id").String() != after.Get("id").String() || !was.Equal(is) {
		return violated(after, fmt.Sprintf("id %s and created_at %s as they were", shown(before.Get("id")), shown(before.Get("created_at"))), "%s", seen(after))
	}
	if sent, _ := readOnly()["status"].(string); slices.Contains(w.run.statusesOf(w.before.latest), sent) {
		return takenOver([]*client.Answer{after}) // the revision had failed by itself, before the update
	}
	return takenOver([]*client.Answer{after, revision})
}
