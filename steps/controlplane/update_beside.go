package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// clientUpdatesBesideNull sends the current value, which any deployment has, beside a null, which sets nothing.
func (w *update) clientUpdatesBesideNull(ctx context.Context, field, null string) error {
	current, err := w.current(field)
	if err != nil {
		return err
	}
	return w.patchSource(ctx, map[string]any{field: current, null: nil}, plane.ToCurrentValue)
}

// clientUpdatesTwice does not wait until the first revision has settled. A target may begin with the second when it has.
func (w *update) clientUpdatesTwice(ctx context.Context, field string) error {
	known := w.before.Latest
	for len(w.AskedIDs) < 2 {
		if err := w.clientUpdatesToCurrent(ctx, field); err != nil {
			return err
		}
		a := w.Scene.Answer
		if len(w.AskedIDs) > 0 && a.Refused() {
			return outcome.Inapplicable("updates during a build", "the target refuses an update while a revision is built: %s", outcome.Seen(a))
		}
		if !a.OK() {
			return outcome.AsPrecondition(outcome.Violated(a, "status 2xx", "%s", outcome.Seen(a)))
		}
		latest, err := w.laterThan(ctx, known)
		if err == nil && latest == known && len(w.AskedIDs) > 0 {
			if err = w.Plane.Settle(ctx, w.Deployment.ID); err == nil {
				latest, err = w.laterThan(ctx, known)
			}
		}
		if err != nil {
			return err
		}
		if len(w.AskedIDs) == 0 && latest == known {
			return outcome.AsPrecondition(outcome.Violated(a, "a new revision", "none"))
		}
		w.AskedIDs, known = append(w.AskedIDs, latest), latest
	}
	return nil
}

// laterThan waits until the deployment names a later revision than the known one, which it returns where none came.
func (w *update) laterThan(ctx context.Context, known string) (latest string, err error) {
	err = w.Target.RetryFor(ctx, w.Target.Config.Timeouts.Request, func() (bool, error) {
		a, err := w.Plane.Get(ctx, plane.DeploymentPath(w.Deployment.ID), "")
		if err == nil {
			latest = cmp.Or(a.Get("latest_revision_id").String(), known)
		}
		return latest != known, err
	})
	return latest, err
}

// clientUpdatesAtOnce sends the current value by two requests that are in flight together.
func (w *update) clientUpdatesAtOnce(ctx context.Context, field string) error {
	current, err := w.current(field)
	if err != nil {
		return err
	}
	for range 2 {
		if err := w.Plane.TakeRevision(ctx, w.Deployment); err != nil {
			return err
		}
	}
	racing, leave, err := w.Target.Client.Together(ctx, 2)
	if err != nil {
		return err
	}
	defer leave()
	answers, errs := [2]*client.Answer{}, [2]error{}
	var wait sync.WaitGroup
	for i := range answers {
		wait.Go(func() {
			request := w.Target.ToControlPlane(target.TheClient, http.MethodPatch, plane.DeploymentPath(w.Deployment.ID), plane.SourceUpdate(map[string]any{field: current}))
			answers[i], errs[i] = w.Target.Client.Do(racing, request)
		})
	}
	wait.Wait()
	w.Answers, w.Scene.Answer = answers[:], answers[1]
	return cmp.Or(errs[0], errs[1])
}

// oneRevisionEach waits until there are as many new revisions, and then for one too many.
func (w *update) oneRevisionEach(ctx context.Context) error {
	served := len(slices.DeleteFunc(slices.Clone(w.Answers), func(a *client.Answer) bool { return !a.OK() }))
	if served == 0 {
		return outcome.Inconclusive("neither update was served: %s", outcome.Seen(w.Answers[0]))
	}
	added, after := 0, (*plane.Snapshot)(nil)
	look := func() (bool, error) {
		var err error
		if after, err = w.Plane.Snapshot(ctx, w.Deployment); err != nil {
			return false, err
		}
		added = len(after.Revisions) - len(w.before.Revisions)
		return added >= served, nil
	}
	if err := w.Target.RetryFor(ctx, w.Target.Config.Timeouts.Request, look); err != nil {
		return err
	}
	if err := w.Target.WaitSettleDelay(ctx, w.Scene.Answer); err != nil {
		return err
	}
	if _, err := look(); err != nil {
		return err
	}
	if added != served {
		return outcome.Violated(after.List, fmt.Sprintf("%d new revisions: so many updates were answered with 2xx", served), "%d", added).
			At("/resources").Comparing(after.List, w.before.List)
	}
	return nil
}

// namesSecondLatest looks for a second new revision, which the deployment is to name. Where the list shows none, none was created.
func (w *update) namesSecondLatest(ctx context.Context) error {
	after, err := w.Plane.Snapshot(ctx, w.Deployment)
	if err != nil {
		return err
	}
	if w.AskedIDs[1] == w.AskedIDs[0] || after.Latest != w.AskedIDs[1] {
		return outcome.Violated(after.Deployment, "the latest_revision_id of the second new revision", "%s, which is not new (%d revisions, before: %d)",
			after.Latest, len(after.Revisions), len(w.before.Revisions)).At("/latest_revision_id").Comparing(after.Deployment, w.before.Deployment)
	}
	return nil
}
