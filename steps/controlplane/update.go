package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// defineUpdates registers the sentences about updating deployments (sections 1, 2 and 4).
func (w *World) defineUpdates(r *common.Definitions) {
	r.Given(`a deployment that (accepts updates|no other scenario changes)`, w.leases)
	r.Given(`a deployment created for this scenario with build_on_push true`, w.anOwnThatBuildsOnPush)
	r.Given(`a deployment created for this scenario from the tag`, func(ctx context.Context) {
		w.anOwn(ctx, "tagged", fromTag(w.target.Config, false))
	})
	r.When(`the client updates "(\w+)"(?: and "(\w+)" in one request)?`, w.clientUpdates)
	r.When(`the client updates "(\w+)" (?:to its current value|beside "(\w+)" null)`, w.patchToCurrent)
	r.When(`the client updates "(\w+)" twice, the second time while the first revision may still be built`,
		w.clientUpdatesTwice)
	r.When(`the client updates "(\w+)" twice at the same time`, w.clientUpdatesAtOnce)
	r.When(`the client sends an update with (.+)`, w.clientSends)
	r.When(`the client tries to change its source`, w.clientChangesSource)
	r.When(`the client updates "repo_ref" to the tag`, w.clientUpdatesToTag)
	r.Then(`exactly one revision was created`, w.oneRevisionCreated)
	r.Then(`the "latest_revision_id" of the deployment names that revision`, func() error {
		return same(w.after.Deployment, "latest_revision_id", w.revision)
	})
	r.Then(`as many revisions were created as updates were served`, w.oneRevisionEach)
	r.Then(`the "latest_revision_id" of the deployment names the second revision`, w.namesSecondLatest)
	r.Then(`no revision was created`, func(ctx context.Context) error {
		return w.created(ctx, 0, "no new revision")
	})
	r.Then(`the update was served, or it is not judged`, w.servedOrNotJudged)
	r.Then(`each of its revisions shows that source`, w.revisionsKeepSource)
	r.Then(`the read-only fields are unchanged`, w.readOnlyUnchanged)
	// the fields that an update does not name (section 2)
	r.Then(`the revision has the values of the first revision in the fields that the update does not name`,
		w.otherFieldsKept)
	r.Then(`the deployment has the earlier values of its source and its build_on_push`, w.allFieldsKept)
	r.Then(`the deployment still has build_on_push true`, w.stillBuildsOnPush)
}

// leases takes a deployment that is the scenario's alone until it ends, so that every change is of its making. It need
// not be DEPLOYED for updates that are to be refused.
func (w *World) leases(ctx context.Context, which string) {
	isReady := which == "accepts updates"
	d, giveBack, err := w.plane.Lease(ctx, isReady)
	common.Check(err)
	w.Deployment = d
	w.scene.AtEnd(giveBack)
	if isReady {
		common.Check(w.plane.Settle(ctx, d.ID))
	}
	a := common.Must(w.now(ctx))
	if latest := a.Get("latest_revision_id").String(); latest != "" {
		common.Check(w.plane.AwaitListed(ctx, d.ID, latest))
	}
	w.before = common.Must(w.plane.Snapshot(ctx, d))
}

func (w *World) anOwnThatBuildsOnPush(ctx context.Context) error {
	w.anOwn(ctx, "push", map[string]any{"source_config": map[string]any{"build_on_push": true}})
	a := common.Must(w.now(ctx))
	if a.Get("source_config.build_on_push").Type != gjson.True {
		return outcome.Inapplicable("build_on_push",
			"the target does not accept build_on_push true with this create.body: %s", outcome.Seen(a))
	}
	before, err := w.plane.Snapshot(ctx, w.Deployment)
	w.before = before
	return err
}

// anOwn creates a deployment that does not change by itself any more.
func (w *World) anOwn(ctx context.Context, purpose string, changes map[string]any) {
	w.Deployment = common.Must(w.plane.Create(ctx, purpose, changes))
	common.Check(w.plane.Settle(ctx, w.Deployment.ID))
}

func (w *World) clientUpdates(ctx context.Context, field, second string) {
	change := map[string]any{field: w.plane.Sources.ValueOf(field)}
	if second != "" {
		change[second] = w.plane.Sources.ValueOf(second)
	}
	w.patchSource(ctx, change)
}

// patchSource sends an update that is to make a revision.
func (w *World) patchSource(ctx context.Context, change map[string]any) {
	common.Check(w.plane.TakeRevision(ctx, w.Deployment))
	w.kind = plane.KindOf(change)
	common.Check(w.patch(ctx, plane.SourceUpdate(change), false))
}

// current is the value that the deployment shows of a field.
func (w *World) current(field string) string {
	value := w.before.Deployment.Get("source_revision_config." + field)
	if value.Type != gjson.String {
		common.Check(outcome.Inconclusive("the deployment has no string %s to send again: %s", field, outcome.Shown(value)))
	}
	return value.Str
}

// patchToCurrent sends what the deployment shows: any value that is not null creates a revision, and a null beside it
// sets nothing (section 2).
func (w *World) patchToCurrent(ctx context.Context, field, null string) {
	change := map[string]any{field: w.current(field)}
	if null != "" {
		change[null] = nil
	}
	w.patchSource(ctx, change)
	w.kind += plane.ToCurrentValue
}

// clientUpdatesTwice does not wait until the first revision has settled: a target may begin with the second then.
func (w *World) clientUpdatesTwice(ctx context.Context, field string) error {
	known := w.before.Latest
	for n := range 2 {
		w.patchToCurrent(ctx, field, "")
		a := w.scene.Answer
		if n > 0 && a.IsRefused() {
			return outcome.Inapplicable("updates during a build", "the target refuses an update while a revision is built: %s",
				outcome.Seen(a))
		}
		common.Requires(outcome.Want(a.OK(), a, "status 2xx"))
		if n > 0 {
			common.Requires(w.plane.Settle(ctx, w.Deployment.ID))
		}
		latest := common.Must(w.plane.AwaitLatest(ctx, w.Deployment, a, "two updates", known))
		if n == 0 && latest == known {
			return outcome.AsPrecondition(outcome.Violated(a, "a new revision", "none"))
		}
		w.later, known = append(w.later, latest), latest
	}
	return nil
}

// clientUpdatesAtOnce sends the current value by two requests that are in flight together.
func (w *World) clientUpdatesAtOnce(ctx context.Context, field string) error {
	current := w.current(field)
	for range 2 {
		common.Check(w.plane.TakeRevision(ctx, w.Deployment))
	}
	ctx = client.Racing(ctx)
	w.answers = make([]*exchange.Response, 2)
	err := agent.AtOnce(len(w.answers), func(i int) (err error) {
		request := w.target.ToControlPlane(target.TheClient, http.MethodPatch, plane.DeploymentPath(w.Deployment.ID),
			plane.SourceUpdate(map[string]any{field: current}))
		w.answers[i], err = w.target.Client.Do(ctx, request)
		return err
	})
	w.scene.Answer = w.answers[1]
	return err
}

// clientSends sends an update that sets no field of the source, or one with a mistake.
func (w *World) clientSends(ctx context.Context, what string) {
	push := func(value bool) any {
		return map[string]any{"source_config": map[string]any{"build_on_push": value}}
	}
	valid := map[string]any{
		"an empty object":                 map[string]any{},
		"build_on_push alone":             push(false),
		"build_on_push true":              push(true),
		"an empty source_revision_config": plane.SourceUpdate(map[string]any{}),
		"the three source fields null": plane.SourceUpdate(map[string]any{
			"repo_ref": nil, "graph_config_path": nil, "image_uri": nil}),
	}
	if field, isNull := strings.CutSuffix(what, " null"); isNull && valid[what] == nil {
		valid[what] = plane.SourceUpdate(map[string]any{field: nil})
	}
	switch {
	case valid[what] != nil:
		common.Check(w.patch(ctx, valid[what], false))
	case what == "read-only fields":
		common.Check(w.patch(ctx, readOnly(), true))
	default:
		asked := plane.SourceUpdate(plane.Asked(w.target.Config.Create.Body))
		common.Check(w.patch(ctx, mistaken(asked, w.plane.Sources.Field(), what), true))
	}
}

// clientChangesSource tries both other sources: a target may know only some of them.
func (w *World) clientChangesSource(ctx context.Context) {
	for _, source := range []string{config.GitHost, config.ExternalContainer, config.InternalContainer} {
		if source != w.target.Config.Source() {
			common.Check(w.patch(ctx, map[string]any{"source": source}, true))
		}
	}
}

func (w *World) clientUpdatesToTag(ctx context.Context) error {
	w.patchSource(ctx, map[string]any{"repo_ref": w.target.Config.Alternatives.TagRef})
	if !w.scene.Answer.OK() {
		return nil
	}
	_, err := w.plane.AwaitLatest(ctx, w.Deployment, w.scene.Answer, "tag", w.Deployment.First)
	return err
}

// oneRevisionCreated waits for the new revision, since an update may be accepted before it takes effect.
func (w *World) oneRevisionCreated(ctx context.Context) error {
	if err := w.served(); err != nil {
		if stays := w.plane.StaysIn(w.Deployment); stays != "" && w.scene.Answer.IsRefused() {
			return outcome.Blocked("the update is refused while the latest revision stays %q (CP-POLL-1)", stays).
				ByRequirement("CP-POLL-1")
		}
		return err
	}
	latest := common.Must(w.plane.AwaitLatest(ctx, w.Deployment, w.scene.Answer, w.kind, w.before.Latest))
	common.Check(w.plane.AwaitListed(ctx, w.Deployment.ID, latest))
	return w.created(ctx, 1, "exactly one new revision, and all earlier ones")
}

// oneRevisionEach waits until there are as many new revisions.
func (w *World) oneRevisionEach(ctx context.Context) error {
	served := len(slices.DeleteFunc(slices.Clone(w.answers), func(a *exchange.Response) bool { return !a.OK() }))
	if served == 0 {
		return outcome.Inconclusive("neither update was served: %s", outcome.Seen(w.answers[0]))
	}
	common.Retry(ctx, w.target, func() bool {
		return len(common.Must(w.plane.Snapshot(ctx, w.Deployment)).Revisions) >= len(w.before.Revisions)+served
	})
	return w.created(ctx, served, fmt.Sprintf("%d new revisions: so many updates were answered with 2xx", served))
}

// created wants so many new revisions. It waits before it looks: one more may be created in the background.
func (w *World) created(ctx context.Context, want int, expected string) error {
	act := w.scene.Answer
	common.Check(w.target.WaitSettleDelay(ctx, act))
	w.after = common.Must(w.plane.Snapshot(ctx, w.Deployment))
	before, after := w.before, w.after
	isOld := func(id string) bool { return slices.Contains(before.Revisions, id) }
	added := slices.DeleteFunc(slices.Clone(after.Revisions), isOld)
	isLost := want > 0 && len(after.Revisions) != len(before.Revisions)+want
	isMoved := want == 0 && after.Latest != before.Latest
	if len(added) != want || isLost || isMoved {
		return outcome.Violated(act, expected, "%d new, %d in total (before: %d)\nlatest_revision_id %s (before: %s)\n%s",
			len(added), len(after.Revisions), len(before.Revisions), after.Latest, before.Latest, strings.Join(added, "\n")).
			Comparing(after.List, before.List)
	}
	if want > 0 {
		w.revision = added[0]
	}
	return nil
}

// namesSecondLatest wants the deployment to name a second new revision.
func (w *World) namesSecondLatest(ctx context.Context) error {
	after := common.Must(w.plane.Snapshot(ctx, w.Deployment))
	if w.later[1] == w.later[0] || after.Latest != w.later[1] {
		return outcome.Violated(after.Deployment, "the latest_revision_id of the second new revision",
			"%s, which is not new (%d revisions, before: %d)", after.Latest, len(after.Revisions), len(w.before.Revisions)).
			At("/latest_revision_id").Comparing(after.Deployment, w.before.Deployment)
	}
	return nil
}

// servedOrNotJudged keeps a refusal from passing: it shows nothing of what an update does that is served.
func (w *World) servedOrNotJudged() error {
	switch a := w.scene.Answer; {
	case a.OK():
		return nil
	case a.IsRefused():
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
	l := common.Must(w.read(ctx, ""))
	if !l.Answer.OK() {
		return outcome.Inconclusive("the list cannot be read: %s", outcome.Seen(l.Answer))
	}
	return judge.HasSources(l.Answer, l.Rows, want)
}

func (w *World) readOnlyUnchanged(ctx context.Context) error {
	after := common.Must(w.now(ctx))
	revision := common.Must(w.plane.GetRevision(ctx, w.Deployment.ID, w.before.Latest))
	for _, field := range []string{"id", "created_at"} { // the interface does not say that a deployment has a created_at
		was, is := w.before.Deployment.Get(field), after.Get(field)
		_, dated := judge.Instant(was)
		if _, still := judge.Instant(is); dated != still || differ(field, was, is) {
			return outcome.Violated(after, field+" "+outcome.Shown(was)+" as before", "%s", outcome.Shown(is)).
				At(inPointer(field)).Comparing(after, w.before.Deployment)
		}
	}
	if sent, _ := readOnly()["status"].(string); slices.Contains(w.plane.ReadOf(w.before.Latest).Statuses, sent) {
		return readOnlyIgnored(after) // the revision had failed by itself, before the update
	}
	return readOnlyIgnored(after, revision)
}

// otherFieldsKept compares the new revision with how the first one was before the update.
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
		now := retrieved("the deployment", common.Must(w.now(ctx)))
		settable := append(sourceFields[:3:3], "source_config.build_on_push")
		if differs = fieldsKept(now, w.before.Deployment, settable); differs == nil {
			return nil
		}
	}
	return differs
}

// stillBuildsOnPush reads the deployment after an update that does not name build_on_push.
func (w *World) stillBuildsOnPush(ctx context.Context) error {
	common.Check(w.target.WaitSettleDelay(ctx, w.scene.Answer))
	return fieldsKept(retrieved("the deployment", common.Must(w.now(ctx))), w.before.Deployment, []string{"source_config.build_on_push"})
}

// fieldsKept compares the fields that had a value before: an empty one may get it when the revision is built.
func fieldsKept(now, before *exchange.Response, paths []string) error {
	isEmpty := func(path string) bool { return before.Get(path).String() == "" }
	if paths = slices.DeleteFunc(slices.Clone(paths), isEmpty); len(paths) == 0 {
		return outcome.Inconclusive("no field had a value before that the update does not name: %s", outcome.Seen(before))
	}
	for _, path := range paths {
		was, is := before.Get(path), now.Get(path)
		if was.Type != is.Type || was.String() != is.String() {
			return outcome.Violated(now, path+" "+outcome.Shown(was)+" as before the update", "%s", outcome.Shown(is)).
				At(inPointer(path)).Comparing(now, before)
		}
	}
	return nil
}
