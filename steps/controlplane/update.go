package controlplane

import (
	"context"
	"fmt"
	"net/http"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// updates has the deployment before and after an update.
type updates struct {
	*World
	before judge.Snapshot
	after  judge.Snapshot
	kind   string   // see [plane.KindOf]
	later  []string // the latest revisions after each of two updates
}

// define registers the steps about updating deployments (sections 1, 2 and 4).
func (w *updates) define(r *common.Definitions) {
	r.Given(`a deployment that (accepts updates|no other scenario changes)`, w.leases)
	r.Given(`a deployment created for this scenario with build_on_push true`, w.createBuildingOnPush)
	r.Given(`a deployment created for this scenario from the tag`, func(ctx context.Context) error {
		return w.createSettled(ctx, "tagged", fromTag(w.target.Config, false))
	})
	r.When(`the client updates "(\w+)"(?: and "(\w+)" in one request)?`, w.clientUpdates)
	r.When(`the client updates "(\w+)" (?:to its current value|together with "(\w+)" null)`, w.patchToCurrent)
	r.When(`the client updates "(\w+)" twice, the second time while the first revision (may still be|is being) built`,
		w.clientUpdatesTwice)
	r.When(`the client updates "(\w+)" twice at the same time`, w.clientUpdatesAtOnce)
	r.When(`the client sends an update with (.+)`, w.clientSends)
	r.When(`the client sends an empty update with Content-Type "([^"]+)"`, w.clientSendsType)
	r.When(`the client tries to change its source`, w.clientChangesSource)
	r.When(`the client updates "repo_ref" to the tag`, w.clientUpdatesToTag)
	r.When(`the client updates "repo_ref" to (the tag|its branch) and build_on_push to (true|false) in one request`,
		w.clientUpdatesBoth)
	r.Then(`exactly one revision was created`, w.oneRevisionCreated)
	r.Then(`the "latest_revision_id" of the deployment names that revision`,
		func() error { return judge.NamesRevision(w.before, w.after, w.revision) })
	r.Then(`each update that returned 2xx created one revision`, w.oneRevisionEach)
	r.Then(`the "latest_revision_id" of the deployment names the second revision`, w.namesSecondLatest)
	r.Then(`no revision was created`,
		func(ctx context.Context) error { return w.created(ctx, 0, "the same revisions as before") })
	r.Then(`the update was served, or it is not judged`, func() error { return judge.WasServed(w.scene.Response) })
}

// leases takes a deployment that no other scenario changes until this one ends. It need not be DEPLOYED for updates that
// must be refused.
func (w *updates) leases(ctx context.Context, which string) error {
	isReady := which == "accepts updates"
	d, giveBack, err := w.plane.Lease(ctx, isReady)
	if err != nil {
		return err
	}
	w.Deployment = d
	w.scene.AtEnd(giveBack)
	if isReady {
		if err := w.plane.Settle(ctx, d.ID); err != nil {
			return err
		}
	}
	a, err := w.now(ctx)
	if err != nil {
		return err
	}
	if latest := a.Get("latest_revision_id").String(); latest != "" {
		if err := w.plane.AwaitListed(ctx, d.ID, latest); err != nil {
			return err
		}
	}
	w.before, err = w.plane.Snapshot(ctx, d)
	if err != nil || len(w.before.Revisions) == 0 || exchange.SameID(w.before.Revisions[0], w.before.Latest) {
		return err
	}
	w.before, err = w.readLater(ctx, func(s judge.Snapshot) bool { return true })
	return err
}

// readLater reads the deployment and its list again after patience, because the earlier responses may be from before and
// after an update. It reads them twice, since one of two replicas may be permanently outdated, and returns the first
// snapshot that is wrong.
func (w *updates) readLater(ctx context.Context, isRight func(judge.Snapshot) bool) (s judge.Snapshot, err error) {
	if err := client.Sleep(ctx, w.target.Config.Patience); err != nil {
		return s, err
	}
	for range 2 {
		s, err = w.plane.Snapshot(ctx, w.Deployment)
		if err != nil || !isRight(s) {
			return s, err
		}
	}
	return s, nil
}

func (w *updates) createBuildingOnPush(ctx context.Context) error {
	changes := map[string]any{"source_config": map[string]any{"build_on_push": true}}
	if err := w.createSettled(ctx, "push", changes); err != nil {
		return err
	}
	a, err := w.now(ctx)
	if err != nil {
		return err
	}
	if a.Get("source_config.build_on_push").Type != gjson.True {
		return outcome.Inapplicable("build_on_push",
			"the target does not accept build_on_push true with this create.body: %s", outcome.Seen(a))
	}
	w.builtOnPush = true
	w.before, err = w.plane.Snapshot(ctx, w.Deployment)
	return err
}

// createSettled creates a deployment and waits until it does not change without requests.
func (w *updates) createSettled(ctx context.Context, purpose string, changes map[string]any) error {
	d, err := w.plane.Create(ctx, purpose, changes)
	if err != nil {
		return err
	}
	w.Deployment = d
	return w.plane.Settle(ctx, d.ID)
}

// clientSendsType sends an empty update with a Content-Type. If it is refused, the update is sent with the usual type,
// and then once more with this one, because a server may also refuse requests at random.
func (w *updates) clientSendsType(ctx context.Context, contentType string) error {
	usual := w.request(target.TheClient, "update a deployment", w.Deployment)
	typed := w.request(target.TheClient, "update a deployment", w.Deployment)
	typed.Header.Set("Content-Type", contentType)
	typed.Wrong = true // so that no other requirement judges the status
	if err := w.send(ctx, typed); err != nil {
		return err
	}
	if w.scene.Response.OK() {
		return nil
	}
	if err := w.send(ctx, usual); err != nil {
		return err
	}
	w.scene.Without = w.scene.Response
	return w.send(ctx, typed)
}

func (w *updates) clientUpdates(ctx context.Context, field, second string) error {
	change := map[string]any{field: w.plane.Sources.ValueOf(field)}
	if second != "" {
		change[second] = w.plane.Sources.ValueOf(second)
	}
	w.kind = plane.KindOf(change)
	return w.patchSource(ctx, change)
}

// current returns the value of a field in the deployment.
func (w *updates) current(field string) (string, error) {
	value := w.before.Deployment.Get("source_revision_config." + field)
	if value.Type != gjson.String {
		return "", outcome.Inconclusive("the current %s of the deployment cannot be sent again, because it is %s", field,
			outcome.Shown(value))
	}
	return value.Str, nil
}

// patchToCurrent sends the value that the deployment shows. Any value that is not null creates a revision, and a null in
// another field sets nothing (section 2).
func (w *updates) patchToCurrent(ctx context.Context, field, null string) error {
	current, err := w.current(field)
	if err != nil {
		return err
	}
	change := map[string]any{field: current}
	if null != "" {
		change[null] = nil
	}
	w.kind = plane.KindOf(change) + plane.ToCurrentValue
	return w.patchSource(ctx, change)
}

// clientUpdatesTwice sends the second update as soon as the deployment names the revision of the first. If when is "is
// being", it first waits until the build of that revision has begun.
func (w *updates) clientUpdatesTwice(ctx context.Context, field, when string) error {
	if err := w.patchToCurrent(ctx, field, ""); err != nil {
		return err
	}
	if err := judge.IsServed(w.scene.Response); err != nil {
		return outcome.AsPrecondition(err)
	}
	first, err := w.plane.AwaitLatest(ctx, w.Deployment, w.scene.Response, "two updates", w.before.Latest)
	if err != nil {
		return err
	}
	if first == w.before.Latest {
		return outcome.Blocked("the first update created no revision: %s", outcome.Seen(w.scene.Response))
	}
	if when == "is being" { // a server may handle updates before and during a build differently
		isBegun := func(status string) bool { return !plane.IsWaiting(status) }
		if _, err := w.plane.Poll(ctx, w.Deployment.ID, first, isBegun); err != nil {
			return err
		}
	}
	if err := w.patchToCurrent(ctx, field, ""); err != nil {
		return err
	}
	a := w.scene.Response
	if a.IsRefused() {
		return outcome.Inapplicable("updates during a build", "the target refuses an update while a revision is built: %s",
			outcome.Seen(a))
	}
	if err := judge.IsServed(a); err != nil {
		return outcome.AsPrecondition(err)
	}
	if err := w.plane.Settle(ctx, w.Deployment.ID); err != nil {
		return outcome.AsPrecondition(err)
	}
	second, err := w.plane.AwaitLatest(ctx, w.Deployment, a, "two updates", first)
	if err != nil {
		return err
	}
	w.later = []string{first, second}
	return nil
}

// clientUpdatesAtOnce sends the current value in two requests that are in flight at the same time.
func (w *updates) clientUpdatesAtOnce(ctx context.Context, field string) error {
	current, err := w.current(field)
	if err != nil {
		return err
	}
	for range 2 {
		if err := w.plane.TakeRevision(ctx, w.Deployment); err != nil {
			return err
		}
	}
	ctx = client.Racing(ctx)
	w.responses = make([]*exchange.Response, 2)
	err = agent.AtOnce(len(w.responses), func(i int) error {
		request := w.target.ToControlPlane(target.TheClient, http.MethodPatch, plane.DeploymentPath(w.Deployment.ID),
			plane.SourceUpdate(map[string]any{field: current}))
		a, err := w.target.Client.Do(ctx, request)
		w.responses[i] = a
		return err
	})
	w.scene.Response = w.responses[1]
	return err
}

// clientSends sends an update that sets no field of the source, or one with a mistake.
func (w *updates) clientSends(ctx context.Context, what string) error {
	if valid := validUpdate(what); valid != nil {
		return w.patch(ctx, valid, false)
	}
	if what == "only its name" {
		return w.patch(ctx, map[string]any{"name": w.Deployment.Body["name"]}, false)
	}
	if undefined := undefinedUpdate(what); undefined != nil {
		return w.patch(ctx, undefined, true)
	}
	if what == "read-only fields" {
		return w.patch(ctx, readOnly(), true)
	}
	if what == "read-only fields and a source field" {
		return w.patchWithRevision(ctx, readOnly())
	}
	sent := plane.SourceUpdate(plane.RevisionConfig(w.target.Config.Create.Body))
	m, err := mistakeIn(sent, w.plane.Sources.Field(), what)
	if err != nil {
		return err
	}
	w.class = m.class
	return w.patch(ctx, m.body, true)
}

// oneRevisionCreated waits for the new revision, because an update may be accepted before it has an effect.
func (w *updates) oneRevisionCreated(ctx context.Context) error {
	a := w.scene.Response
	stays := w.plane.StuckStatus(w.Deployment)
	if a.IsRefused() && stays != "" {
		return outcome.Blocked("the update is refused while the latest revision stays %q (CP-POLL-1)", stays).
			ByRequirement("CP-POLL-1")
	}
	if err := judge.IsServed(a); err != nil {
		return err
	}
	latest, err := w.plane.AwaitLatest(ctx, w.Deployment, a, w.kind, w.before.Latest)
	if err != nil {
		return err
	}
	if err := w.plane.AwaitListed(ctx, w.Deployment.ID, latest); err != nil {
		return err
	}
	return w.created(ctx, 1, "1 new revision, and all earlier ones")
}

// oneRevisionEach waits for a new revision for each update that was served.
func (w *updates) oneRevisionEach(ctx context.Context) error {
	served := 0
	for _, a := range w.responses {
		if a.OK() {
			served++
		}
	}
	if served == 0 {
		return outcome.Inconclusive("neither update was served: %s", outcome.Seen(w.responses[0]))
	}
	err := w.target.RetryFor(ctx, w.target.Config.Timeouts.Request, func() (bool, error) {
		now, err := w.plane.Snapshot(ctx, w.Deployment)
		if err != nil {
			return false, err
		}
		return len(now.Revisions) >= len(w.before.Revisions)+served, nil
	})
	if err != nil {
		return err
	}
	return w.created(ctx, served, fmt.Sprintf("%d new revisions, one for each update that returned 2xx", served))
}

// created judges the number of new revisions. It waits first, because another revision may be created in the background.
func (w *updates) created(ctx context.Context, want int, expected string) error {
	act := w.scene.Response
	if err := w.target.WaitSettleDelay(ctx, act); err != nil {
		return err
	}
	after, err := w.plane.Snapshot(ctx, w.Deployment)
	if err != nil {
		return err
	}
	isNamed := func(s judge.Snapshot) bool { return exchange.ContainsID(judge.Added(w.before, s), s.Latest) }
	if want > 0 && !isNamed(after) {
		after, err = w.readLater(ctx, isNamed)
		if err != nil {
			return err
		}
	}
	w.after = after
	if err := judge.CreatesRevisions(act, w.before, after, want, expected); err != nil {
		return err
	}
	if want > 0 {
		w.revision = judge.Added(w.before, after)[0]
	}
	return nil
}

func (w *updates) namesSecondLatest(ctx context.Context) error {
	after, err := w.plane.Snapshot(ctx, w.Deployment)
	if err != nil {
		return err
	}
	isSecond := func(s judge.Snapshot) bool { return exchange.SameID(s.Latest, w.later[1]) }
	if !isSecond(after) {
		after, err = w.readLater(ctx, isSecond)
		if err != nil {
			return err
		}
	}
	return judge.NamesSecond(w.before, after, w.later[0], w.later[1])
}
