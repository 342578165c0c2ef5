package controlplane

import (
	"context"
	"net/http"
	"slices"
	"strconv"
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

// creation holds the sentences about creating deployments (sections 1, 2 and 7).
type creation struct {
	*World
	name string // of the deployment that was to be refused, where the template has one
}

func (w *creation) define(r *common.Definitions) {
	r.Given(`a new deployment`, w.ANewDeployment)
	r.When(`the client creates a deployment`, func(ctx context.Context) error { return w.CreatesWith(ctx, "new", nil) })
	r.When(`the client tries to create a deployment with (.+)`, w.clientCreatesWithMistake)
	r.When(`the client tries to create a deployment from a source that only the other edition offers`, w.clientCreatesFromForeignSource)
	r.When(`the client sends a create request with read-only fields`, func(ctx context.Context) error {
		changes := plane.ReadOnly()
		changes["source_revision_config"] = map[string]any{"repo_commit_sha": plane.ReadOnlyCommit}
		return w.CreatesWith(ctx, "readonly", changes)
	})
	r.Then(`the request is answered with 200, 201 or 202`, func() error {
		a := w.Scene.Answer
		return outcome.Want(slices.Contains([]int{http.StatusOK, http.StatusCreated, http.StatusAccepted}, a.Status), a, "status 200, 201 or 202")
	})
	r.Then(`the fields "id" and "latest_revision_id" are UUID strings`, w.answerHoldsIDs)
	r.Then(`the request is refused with 422 and an HTTPValidationError, or with another 4xx`, w.refusedAsInvalid)
	r.Then(`no deployment was created`, w.nothingWasCreated)
	r.Then(`the request is refused with 4xx, or the read-only fields are ignored`, w.refusedOrOwnReadOnly)
	// a tag and build_on_push exclude each other (section 2)
	r.When(`the client creates a deployment from the tag with build_on_push (true|false|absent)`, w.clientCreatesFromTag)
	r.Then(`the request is refused with 4xx, or build_on_push is never true with a tag ref`, w.refusedOrNoBuildOnPush)
}

func (w *creation) clientCreatesFromForeignSource(ctx context.Context) error {
	body := plane.CloneObject(w.Target.Config.Create.Refused)
	if name := w.Target.Name("foreign"); plane.Rename(body, name) {
		w.name = name
	}
	if source, _ := body["source"].(string); source == "" {
		body["source"] = plane.ForeignSource(w.Target.Config.Edition)
	}
	return w.Creates(ctx, w.Target.ToControlPlane(target.TheClient, http.MethodPost, plane.DeploymentsPath, body), body)
}

func (w *creation) clientCreatesWithMistake(ctx context.Context, mistake string) error {
	name := w.Target.Name("mistake")
	if _, named := w.Target.Config.Create.Body["name"]; named && w.CanCreate() == nil {
		w.name = name
	}
	request := w.Target.ToControlPlane(target.TheClient, http.MethodPost, plane.DeploymentsPath, w.Plane.Sources.WithMistake(mistake, name))
	request.Wrong = true
	return w.Creates(ctx, request, nil)
}

func (w *creation) answerHoldsIDs() error {
	for _, field := range []string{"id", "latest_revision_id"} {
		value := w.Scene.Answer.Get(field)
		isUUID := value.Type == gjson.String && len(value.Str) == 36 && uuid.Validate(value.Str) == nil // with hyphens
		if err := outcome.WantAt(isUUID, w.Scene.Answer, field, "a UUID string in "+field); err != nil {
			return err
		}
	}
	return nil
}

// refusedAsInvalid wants a 422 with an HTTPValidationError. Another refusal is tolerated, and noted: the interface shows
// only the 422, deployed servers answer semantic mistakes with other statuses too.
func (w *creation) refusedAsInvalid() error {
	if err := w.Scene.Refused(); err != nil {
		return err
	}
	if w.Scene.Answer.Status != http.StatusUnprocessableEntity {
		w.Scene.Note("tolerated: refused with status " + strconv.Itoa(w.Scene.Answer.Status) + " instead of 422")
		return nil
	}
	return common.ValidationError(w.Scene.Answer)
}

// nothingWasCreated looks for what a refusal may have left: an id in its answer that can be retrieved, or,
// where the target lists its deployments, the name.
func (w *creation) nothingWasCreated(ctx context.Context) error {
	refusal := w.Scene.Answer
	if id := refusal.Get("id").String(); id != "" {
		a, err := w.Plane.Get(ctx, plane.DeploymentPath(id), "")
		if err != nil {
			return err
		}
		if a.OK() {
			return outcome.Violated(refusal, "no deployment after the refusal", "deployment %s can be retrieved", id)
		}
	}
	if w.name == "" {
		w.Scene.Note("not checked whether a deployment was created: create.body has no name")
		return nil
	}
	_, err := w.noneNamed(ctx, w.name, refusal)
	return err
}

func (w *creation) refusedOrOwnReadOnly(ctx context.Context) error {
	a := w.Scene.Answer
	if a.Refused() || !a.OK() {
		return outcome.Want(a.Refused(), a, "status 2xx or 4xx")
	}
	answers := []*client.Answer{a}
	for _, path := range []string{plane.DeploymentPath(w.Deployment.ID), plane.RevisionPath(w.Deployment.ID, w.Deployment.First)} {
		read, err := w.Plane.Get(ctx, path, "")
		if err != nil {
			return err
		}
		answers = append(answers, read)
	}
	return plane.ReadOnlyIgnored(answers)
}

func (w *creation) clientCreatesFromTag(ctx context.Context, how string) error {
	changes := fromTag(w.Target.Config, how == "true")
	if how == "absent" {
		changes["source_config"] = map[string]any{"build_on_push": nil}
		if _, given := w.Target.Config.Create.Body["source_config"].(map[string]any); !given {
			delete(changes, "source_config")
		}
	}
	return w.CreatesWith(ctx, "tag", changes)
}

func fromTag(c *config.Config, buildOnPush bool) map[string]any {
	return map[string]any{
		"source_config":          map[string]any{"build_on_push": buildOnPush},
		"source_revision_config": map[string]any{"repo_ref": c.Alternatives.TagRef},
	}
}

// refusedOrNoBuildOnPush accepts both ways to keep the rule about tags: refuse, or show false (section 2).
func (w *creation) refusedOrNoBuildOnPush(ctx context.Context) error {
	act := w.Scene.Answer
	if act.Refused() && w.Deployment.ID == "" {
		if name, named := w.Deployment.Body["name"].(string); named {
			return w.noneCreatedAs(ctx, name)
		}
		return nil
	}
	if !act.OK() && !act.Refused() {
		return outcome.Violated(act, "status 4xx, or a deployment with build_on_push false", "%s", outcome.Seen(act))
	}
	return w.noTagBuildsOnPush(ctx, act, w.Deployment.ID)
}

// noneCreatedAs looks for what a refused creation may have left, where the target lists its deployments.
func (w *creation) noneCreatedAs(ctx context.Context, name string) error {
	found, _, err := w.Plane.ListDeployments(ctx, name)
	if err != nil {
		return err
	}
	for _, id := range found {
		if err := w.Target.Ledger.Created("deployment", id, w.Scene.Scenario.Key()); err != nil {
			return err
		}
		if err := w.noTagBuildsOnPush(ctx, w.Scene.Answer, id); err != nil {
			return err
		}
	}
	return nil
}

// noTagBuildsOnPush reads the deployment after a request.
func (w *creation) noTagBuildsOnPush(ctx context.Context, act *client.Answer, id string) error {
	if act.OK() {
		if err := w.Target.WaitSettleDelay(ctx, act); err != nil { // what was accepted may take effect in the background
			return err
		}
	}
	a, err := w.Plane.AwaitFound(ctx, plane.DeploymentPath(id))
	if err != nil {
		return err
	}
	if !a.OK() {
		return outcome.Inconclusive("the deployment cannot be retrieved: %s", outcome.Seen(a))
	}
	ref, push := a.Get("source_revision_config.repo_ref"), a.Get("source_config.build_on_push")
	config, _ := w.Deployment.Body["source_config"].(map[string]any)
	_, said := config["build_on_push"]
	if silent := w.Deployment.Body != nil && !said; silent && ref.Exists() && push.Type != gjson.True {
		return nil // what nobody asked for need not be shown
	}
	if act.OK() && (!ref.Exists() || !push.Exists()) {
		return outcome.Inconclusive("the deployment lacks repo_ref or build_on_push: %s", outcome.Seen(a))
	}
	tag := w.Target.Config.Alternatives.TagRef
	if push.Type == gjson.True && (ref.String() == tag || ref.String() == strings.TrimPrefix(tag, "refs/tags/")) {
		return outcome.Violated(a, "build_on_push false with a tag ref", "repo_ref %s with build_on_push true", outcome.Shown(ref)).At("/source_config/build_on_push")
	}
	return nil
}
