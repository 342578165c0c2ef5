package steps

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// defineTag holds the sentences about the rule that a tag and build_on_push exclude each other (section 2).
func (w *World) defineTag(b *book) {
	b.configured(`a tag to build from`, w.aTag)
	b.when(`the client creates a deployment from the tag that (builds on push|does not build on push|says nothing about building on push)`, w.clientCreatesFromTag)
	b.then(`the request is refused, or the deployment does not build on push`, w.refusedOrNoBuildOnPush)
}

func (w *World) aTag() error {
	if w.run.config.Source() != config.GitHost {
		return inapplicable("the target's deployments come from %s, which has no tags", w.run.config.Source())
	}
	if w.run.config.Alternatives.TagRef == "" {
		return needs("alternatives.tag_ref")
	}
	return nil
}

func (w *World) clientCreatesFromTag(ctx context.Context, how string) error {
	changes := fromTag(w.run.config, how == "builds on push")
	if how == "says nothing about building on push" {
		changes["source_config"] = map[string]any{"build_on_push": nil}
		if _, given := w.run.config.Create.Body["source_config"].(map[string]any); !given {
			delete(changes, "source_config")
		}
	}
	return w.createsWith(ctx, "tag", changes)
}

func fromTag(c *config.Config, buildOnPush bool) map[string]any {
	return map[string]any{
		"source_config":          map[string]any{"build_on_push": buildOnPush},
		"source_revision_config": map[string]any{"repo_ref": c.Alternatives.TagRef},
	}
}

// refusedOrNoBuildOnPush accepts both ways to keep the rule about tags: refuse, or show false (section 2).
func (w *World) refusedOrNoBuildOnPush(ctx context.Context) error {
	act, err := w.last()
	if err != nil {
		return err
	}
	if act.Refused() && w.deployment.id == "" {
		if name, named := w.deployment.body["name"].(string); named {
			return w.noneStandsUnder(ctx, name)
		}
		return nil
	}
	if !act.OK() && !act.Refused() {
		return violated(act, "a refusal, or a deployment that does not build on push", "%s", seen(act))
	}
	return w.noTagBuildsOnPush(ctx, act, w.deployment.id)
}

// noneStandsUnder looks for what a refused creation may have left, where the target lists its deployments.
func (w *World) noneStandsUnder(ctx context.Context, name string) error {
	found, _, err := w.run.listDeployments(ctx, name)
	if err != nil {
		return err
	}
	for _, id := range found {
		if err := w.run.ledger.Created("deployment", id, w.scenario.Key()); err != nil {
			return err
		}
		if err := w.noTagBuildsOnPush(ctx, w.answer, id); err != nil {
			return err
		}
	}
	return nil
}

// noTagBuildsOnPush reads what stands after an act.
func (w *World) noTagBuildsOnPush(ctx context.Context, act *client.Answer, id string) error {
	if act.OK() {
		if err := w.run.later(ctx, act); err != nil { // what was accepted may take effect in the background
			return err
		}
	}
	a, err := w.run.awaitFound(ctx, deploymentPath(id))
	if err != nil {
		return err
	}
	if !a.OK() {
		return inconclusive("the deployment cannot be read back: %s", seen(a))
	}
	ref, push := a.Get("source_revision_config.repo_ref"), a.Get("source_config.build_on_push")
	config, _ := w.deployment.body["source_config"].(map[string]any)
	_, said := config["build_on_push"]
	if silent := w.deployment.body != nil && !said; silent && ref.Exists() && push.Type != gjson.True {
		return nil // what nobody asked for need not be shown
	}
	if act.OK() && (!ref.Exists() || !push.Exists()) {
		return inconclusive("the deployment does not show repo_ref and build_on_push: %s", seen(a))
	}
	tag := w.run.config.Alternatives.TagRef
	if push.Type == gjson.True && (ref.String() == tag || ref.String() == strings.TrimPrefix(tag, "refs/tags/")) {
		return violated(a, "no tag together with build_on_push true", "repo_ref %s with build_on_push true", shown(ref)).at("/source_config/build_on_push")
	}
	return nil
}
