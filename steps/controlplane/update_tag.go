package controlplane

import (
	"context"

	"github.com/agentconform/agentconform/steps/plane"
)

func (w *updates) clientUpdatesToTag(ctx context.Context) error {
	err := w.patchSource(ctx, map[string]any{"repo_ref": w.target.Config.Alternatives.TagRef})
	if err != nil {
		return err
	}
	if !w.scene.Response.OK() {
		return nil
	}
	_, err = w.plane.AwaitLatest(ctx, w.Deployment, w.scene.Response, "tag", w.Deployment.First)
	return err
}

// clientUpdatesBoth updates repo_ref together with build_on_push, after the deployment has settled. The update replaces
// both values, so the server must not refuse it because of the earlier ones.
func (w *updates) clientUpdatesBoth(ctx context.Context, ref, buildOnPush string) error {
	change := map[string]any{"repo_ref": plane.RevisionConfig(w.Deployment.Body)["repo_ref"]}
	if ref == "the tag" {
		change["repo_ref"] = w.target.Config.Alternatives.TagRef
	}
	if err := w.plane.TakeRevision(ctx, w.Deployment); err != nil {
		return err
	}
	body := plane.SourceUpdate(change)
	body["source_config"] = map[string]any{"build_on_push": buildOnPush == "true"}
	const attempts = 2 // the target may refuse the first attempt while it builds a revision that reads do not show yet
	known := ""
	for range attempts {
		if err := w.plane.Settle(ctx, w.Deployment.ID); err != nil {
			return err
		}
		now, err := w.retrieveNow(ctx)
		if err != nil {
			return err
		}
		known = now.Get("latest_revision_id").String()
		if err := w.patch(ctx, body, false); err != nil {
			return err
		}
		if !w.scene.Response.IsRefused() {
			break
		}
	}
	if !w.scene.Response.OK() {
		return nil
	}
	_, err := w.plane.AwaitLatest(ctx, w.Deployment, w.scene.Response, "repo_ref with build_on_push", known)
	return err
}
