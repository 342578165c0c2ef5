package controlplane

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// defineTag holds the sentences about the rule that a tag and build_on_push exclude each other (section 2).
func (w *creation) defineTag(r *common.Definitions) {
	r.When(`the client creates a deployment from the tag with build_on_push (true|false|absent)`, w.clientCreatesFromTag)
	r.Then(`the request is refused with 4xx, or build_on_push is never true with a tag ref`, w.refusedOrNoBuildOnPush)
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
	act, err := w.Scene.Last()
	if err != nil {
		return err
	}
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
