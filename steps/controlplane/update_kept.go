package controlplane

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
)

// What an update is not to change: revisions, where it sets no field of the source, and what it does not name.

// servedOrNotJudged keeps a refusal from passing: what an update does that is refused for another reason shows nothing
// of what one does that is served.
func (w *World) servedOrNotJudged() error {
	switch a := w.scene.Answer; {
	case a.OK():
		return nil
	case a.Refused():
		return outcome.Inapplicable("updates without a source field", "the target refuses this update: %s", outcome.Seen(a))
	}
	return outcome.Inconclusive("the update was not served: %s", outcome.Seen(w.scene.Answer))
}

// revisionsKeepSource reads the list, and the latest revision.
func (w *World) revisionsKeepSource(ctx context.Context) error {
	want := w.Deployment.Source()
	latest := common.Must(w.plane.GetRevision(ctx, w.Deployment.ID, w.before.Latest))
	if latest.OK() {
		common.Check(outcome.WantAt(latest.Get("source").String() == want, latest, "source", "source "+want))
	}
	rows, first, err := w.plane.ListAll(ctx, w.Deployment.ID, "")
	if err == nil && !first.OK() {
		return outcome.Inconclusive("the list cannot be read: %s", outcome.Seen(first))
	}
	return cmp.Or(err, sourcesAre(want, list{rows: rows, answer: first}))
}

func (w *World) readOnlyUnchanged(ctx context.Context) error {
	after := common.Must(w.plane.GetDeployment(ctx, w.Deployment.ID))
	revision := common.Must(w.plane.GetRevision(ctx, w.Deployment.ID, w.before.Latest))
	common.Check(fieldsKept(after, w.before.Deployment, []string{"id", "created_at"}))
	if sent, _ := readOnly()["status"].(string); slices.Contains(w.plane.ReadOf(w.before.Latest).Statuses, sent) {
		return readOnlyIgnored(after) // the revision had failed by itself, before the update
	}
	return readOnlyIgnored(after, revision)
}

// otherFieldsKept compares the new revision with how the first one was before the update. What the deployment shows of
// it is the concern of another requirement.
func (w *World) otherFieldsKept() error {
	isNamed := func(path string) bool {
		_, named := w.Deployment.Update[strings.TrimPrefix(path, "source_revision_config.")]
		return named
	}
	unnamed := slices.DeleteFunc(slices.Clone(sourceFields), isNamed)
	return cmp.Or(w.served(), fieldsKept(w.scene.Answer, w.Deployment.Original, unnamed))
}

// allFieldsKept reads the deployment after an update that sets nothing. It reads several times: that a deployment shows
// an earlier configuration now and then is the concern of another requirement.
func (w *World) allFieldsKept(ctx context.Context) error {
	common.Check(w.target.WaitSettleDelay(ctx, w.scene.Answer))
	var differs error
	for range 3 {
		now := retrieved("the deployment", common.Must(w.plane.GetDeployment(ctx, w.Deployment.ID)))
		settable := append(sourceFields[:3:3], "source_config.build_on_push")
		if differs = fieldsKept(now, w.before.Deployment, settable); differs == nil {
			return nil
		}
	}
	return differs
}

// fieldsKept compares the fields that had a value before: where one was null or empty, it may get one when the revision
// is built.
func fieldsKept(now, before *client.Answer, paths []string) error {
	compared := 0
	for _, path := range paths {
		was, is := before.Get(path), now.Get(path)
		if was.Type == gjson.Null || was.String() == "" {
			continue
		}
		compared++
		if differ(path, was, is) {
			return outcome.Violated(now, path+" "+outcome.Shown(was)+" as before the update", "%s", outcome.Shown(is)).
				At(inPointer(path)).Comparing(now, before)
		}
	}
	if compared == 0 {
		return outcome.Inconclusive("no field had a value before that the update does not name: %s", outcome.Seen(before))
	}
	return nil
}
