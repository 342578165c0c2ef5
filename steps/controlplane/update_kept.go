package controlplane

import (
	"context"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// defineKept registers the steps about what an update must not change (section 2).
func (w *updates) defineKept(r *common.Definitions) {
	r.Then(`each of its revisions shows that source`, w.revisionsKeepSource)
	r.Then(`the read-only fields are unchanged`, w.readOnlyUnchanged)
	r.Then(`the update is refused with 4xx, or the deployment shows none of the read-only values`, w.readOnlyIgnored)
	r.Then(`the revision has the values of the first revision in the fields that the update does not name`,
		w.otherFieldsKept)
	r.Then(`the deployment has the earlier values of its source and its build_on_push`, w.allFieldsKept)
	r.Then(`the deployment still has build_on_push true`, w.stillBuildsOnPush)
}

// revisionsKeepSource reads the latest revision and the list.
func (w *updates) revisionsKeepSource(ctx context.Context) error {
	source := w.Deployment.Source()
	latest, err := w.plane.GetRevision(ctx, w.Deployment.ID, w.before.Latest)
	if err != nil {
		return err
	}
	if err := judge.LatestHasSource(latest, source); err != nil {
		return err
	}
	l, err := w.plane.ListAll(ctx, w.Deployment.ID, "")
	if err != nil {
		return err
	}
	if !l.Response.OK() {
		return outcome.Inconclusive("the list cannot be read: %s", outcome.Seen(l.Response))
	}
	return judge.HasSources(l.Response, l.Rows, source)
}

func (w *updates) readOnlyUnchanged(ctx context.Context) error {
	after, err := w.now(ctx)
	if err != nil {
		return err
	}
	if _, err := w.plane.GetRevision(ctx, w.Deployment.ID, w.before.Latest); err != nil { // an invariant judges it
		return err
	}
	if err := judge.ReadOnlyUnchanged(after, w.before.Deployment); err != nil {
		return err
	}
	return judge.IgnoresReadOnly(target.Encode(readOnly()), after)
}

// readOnlyIgnored reads the deployment and its latest revision. An invariant judges the revision.
func (w *updates) readOnlyIgnored(ctx context.Context) error {
	act := w.scene.Response
	if act.IsRefused() {
		return nil
	}
	if _, err := w.plane.AwaitLatest(ctx, w.Deployment, act, "read-only fields", w.before.Latest); err != nil {
		return err
	}
	if err := w.target.WaitSettleDelay(ctx, act); err != nil {
		return err
	}
	after, err := w.retrieveNow(ctx)
	if err != nil {
		return err
	}
	if _, err := w.plane.GetRevision(ctx, w.Deployment.ID, after.Get("latest_revision_id").String()); err != nil {
		return err
	}
	return judge.IgnoresReadOnly(target.Encode(readOnly()), after)
}

// otherFieldsKept compares the new revision with the first one before the update.
func (w *updates) otherFieldsKept() error {
	if err := w.served(); err != nil {
		return err
	}
	var unnamed []string
	for _, path := range judge.SourceFields {
		field := strings.TrimPrefix(path, "source_revision_config.")
		if _, named := w.Deployment.Update[field]; !named {
			unnamed = append(unnamed, path)
		}
	}
	return judge.FieldsKept(w.scene.Response, w.Deployment.Original, unnamed)
}

// allFieldsKept reads the deployment several times after an update that sets nothing. If only some reads show an earlier
// configuration, another requirement judges that.
func (w *updates) allFieldsKept(ctx context.Context) error {
	if err := w.target.WaitSettleDelay(ctx, w.scene.Response); err != nil {
		return err
	}
	settable := append(slices.Clone(judge.SourceFields), buildOnPush)
	var changed error
	for range 3 {
		now, err := w.retrieveNow(ctx)
		if err != nil {
			return err
		}
		changed = judge.FieldsKept(now, w.before.Deployment, settable)
		if changed == nil {
			return nil
		}
	}
	return changed
}

// buildOnPush is the path of the field in a deployment.
const buildOnPush = "source_config.build_on_push"

// stillBuildsOnPush reads the deployment after an update that does not name build_on_push.
func (w *updates) stillBuildsOnPush(ctx context.Context) error {
	if err := w.target.WaitSettleDelay(ctx, w.scene.Response); err != nil {
		return err
	}
	now, err := w.retrieveNow(ctx)
	if err != nil {
		return err
	}
	return judge.FieldsKept(now, w.before.Deployment, []string{buildOnPush})
}

// retrieveNow reads the deployment, and blocks if that is refused.
func (w *updates) retrieveNow(ctx context.Context) (*exchange.Response, error) {
	now, err := w.now(ctx)
	if err != nil {
		return nil, err
	}
	return now, isRetrieved("the deployment", now)
}
