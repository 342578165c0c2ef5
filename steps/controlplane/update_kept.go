package controlplane

import (
	"context"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// defineKeeping holds the sentences about the fields that an update does not name (section 2).
func (w *update) defineKeeping(r *common.Definitions) {
	r.Then(`the revision has the values of the first revision in the fields that the update does not name`, w.otherFieldsKept)
	r.Then(`the deployment has the earlier values of its source and its build_on_push`, w.allFieldsKept)
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
	act, err := w.Scene.Last()
	if err != nil {
		return err
	}
	if err := w.Target.WaitSettleDelay(ctx, act); err != nil {
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
