package controlplane

import (
	"context"
	"errors"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// lifecycle holds the sentences about the way of a revision to its end.
type lifecycle struct {
	*World
	polled *plane.History
}

// define holds the sentences about the way of a revision to DEPLOYED (sections 1 and 3).
func (w *lifecycle) define(r *common.Registrar) {
	r.Given(`a new deployment with a retrievable revision`, w.aCreatedDeployment, common.Uses(w.plane.Fixtures.Created))
	r.Given(`a DEPLOYED deployment created for this scenario`, w.anOwnDeployment, common.Creates(1, 0), w.creatable())
	r.Configured(`a source that cannot be built`, w.creating(w.aBrokenSource))
	r.When(`the client polls its latest revision`, w.clientPolls)
	r.When(`the client polls its latest revision and stops at the first unknown status`, w.clientPollsUpToUnknown)
	r.When(`the client retrieves its latest revision several times`, w.clientRetrievesSeveralTimes, w.creatable())
	r.When(`the client lists its revisions and retrieves each`, w.clientListsAndRetrievesEach)
	r.When(`the client updates the deployment to the broken source and polls its latest revision`, w.clientUpdatesToBroken, common.Creates(0, 1))
	r.Then(`the revision reaches DEPLOYED`, w.reachesDeployed)
	r.Then(`every status seen is one of the thirteen`, w.everyStatusKnown)
	r.Then(`the revision is DEPLOYED each time`, w.deployedEachTime)
	r.Then(`the list and the retrieved revisions agree`, w.listAgrees)
	r.Then(`the revision ends in CREATE_FAILED, BUILD_FAILED or DEPLOY_FAILED`, w.endsFailed)
}

func (w *lifecycle) anOwnDeployment(ctx context.Context) (err error) {
	w.deployment, err = w.plane.CreateDeployed(ctx, "own")
	return err
}

func (w *lifecycle) aBrokenSource() error {
	if change, key := w.plane.Sources.Broken(); change == nil {
		return outcome.Needs(key)
	}
	return nil
}

func (w *lifecycle) clientPolls(ctx context.Context) (err error) {
	w.revision = w.deployment.Latest()
	w.polled, err = w.plane.Poll(ctx, w.deployment.ID, w.revision, w.plane.Statuses.Done)
	return err
}

// clientPollsUpToUnknown does not wait any longer once a status was seen, in this poll or another one, that fails the scenario.
func (w *lifecycle) clientPollsUpToUnknown(ctx context.Context) (err error) {
	w.revision = w.deployment.Latest()
	w.polled, err = w.plane.Poll(ctx, w.deployment.ID, w.revision, func(status string) bool {
		return w.plane.Statuses.Done(status) || slices.ContainsFunc(w.plane.StatusesOf(w.revision), w.isUnknown)
	})
	return err
}

func (w *lifecycle) isUnknown(status string) bool { return !w.plane.Statuses.IsKnown(status) }

// clientRetrievesSeveralTimes reads a deployment of the run: somebody else may update an existing one at any time.
func (w *lifecycle) clientRetrievesSeveralTimes(ctx context.Context) error {
	const times = 5
	if err := w.canCreate(); err != nil {
		return err
	}
	for range times {
		if err := w.clientRetrievesLatest(ctx); err != nil {
			return err
		}
		if err := client.Sleep(ctx, w.target.Config.Polling.Interval); err != nil {
			return err
		}
	}
	return nil
}

// clientListsAndRetrievesEach waits first until nothing changes any more: only settled revisions must agree. It
// retrieves each before and after the list, so that what changes from read to read is not held against the list.
func (w *lifecycle) clientListsAndRetrievesEach(ctx context.Context) error {
	if _, err := w.plane.AwaitSettled(ctx, w.deployment); err != nil {
		return outcome.AsBlocked(err)
	}
	if err := w.clientRetrievesBothRevisions(ctx); err != nil {
		return err
	}
	if err := w.clientLists(ctx); err != nil {
		return err
	}
	return w.clientRetrievesBothRevisions(ctx)
}

func (w *lifecycle) clientUpdatesToBroken(ctx context.Context) error {
	change, _ := w.plane.Sources.Broken()
	request := w.target.ToControlPlane(target.TheClient, "PATCH", plane.DeploymentPath(w.deployment.ID), plane.SourceUpdate(change))
	a, err := w.do(ctx, request)
	if err != nil {
		return err
	}
	if a.Refused() {
		return outcome.Inapplicable("revisions of broken sources", "the target refuses the broken source with status %d, so no revision exists", a.Status)
	}
	latest, _, err := w.plane.AwaitLatest(ctx, a, "broken source", w.deployment.ID, w.deployment.Latest())
	if err != nil {
		return err
	}
	if latest == w.deployment.Latest() {
		return outcome.Inconclusive("the update to the broken source created no revision")
	}
	w.revision = latest
	w.plane.ExpectsFailure(latest)
	w.polled, err = w.plane.Poll(ctx, w.deployment.ID, latest, w.plane.Statuses.Done)
	return err
}

// reachesDeployed judges the poll; where that was cut short, the one on whose account it was. It says where the source comes from that is to be built: one that cannot be is no fault of the target.
func (w *lifecycle) reachesDeployed() error {
	if overdue := w.plane.Overdue(w.revision); overdue != nil && w.polled.Ending == plane.CutShort {
		w.polled = overdue
	}
	err := w.plane.Deployed(w.polled)
	var o *outcome.Outcome
	if errors.As(err, &o) && w.plane.Statuses.IsFailed(w.polled.Final) {
		key := "create.body.source_revision_config." + w.plane.Sources.Field()
		if w.revision != w.deployment.First {
			_, key = w.plane.Sources.Another()
		}
		o.Hinting("set " + key + " to a source that this target can build; if it is one, read the target's build log")
	}
	return err
}

// everyStatusKnown judges what polling saw, this time and when the deployment was brought up.
func (w *lifecycle) everyStatusKnown() error {
	for _, status := range w.plane.StatusesOf(w.revision) {
		if w.isUnknown(status) {
			o := outcome.Violated(w.polled.Answer, "one of the thirteen statuses", "%q", status).At("/status")
			o.Violations[0].Key = common.UnknownStatus
			return o
		}
	}
	return nil
}

func (w *lifecycle) deployedEachTime() error {
	for _, a := range w.answers {
		if status := a.Get("status"); status.String() != plane.StatusDeployed {
			return outcome.Violated(a, plane.StatusDeployed, "%s", outcome.Shown(status)).At("/status")
		}
	}
	return nil
}

// listAgrees compares the fields of the interface. updated_at is left out: a target may touch a revision in between.
func (w *lifecycle) listAgrees() error {
	n := len(w.askedIDs)
	before, list, after := w.answers[:n], w.answers[n], w.answers[n+1:]
	rows := list.Get("resources").Array()
	if !list.OK() {
		return outcome.Blocked("the list cannot be read: %s", outcome.Seen(list))
	}
	for i, id := range w.askedIDs {
		row, found := plane.RowWithID(rows, id)
		if !found {
			return outcome.Blocked("the revision %s is not in the list: %s", id, outcome.Seen(list))
		}
		if got := after[i].Get("id"); got.String() != id {
			return outcome.Blocked("the revision %s cannot be retrieved: its id is %s", id, outcome.Shown(got))
		}
		if err := w.sameRevision(before[i], after[i], list, row); err != nil {
			return err
		}
	}
	return nil
}

// sameRevision compares what two reads of the revision agree about with its row in the list.
func (w *lifecycle) sameRevision(before, single, list *client.Answer, row gjson.Result) error {
	for _, field := range []string{"status", "source", "source_revision_config.repo_ref", "source_revision_config.graph_config_path",
		"source_revision_config.image_uri", "source_revision_config.repo_commit_sha"} {
		alone, listed := single.Get(field), row.Get(field)
		if alone.String() != listed.String() && alone.String() == before.Get(field).String() {
			return outcome.Violated(single, field+" as in the list, "+outcome.Shown(listed), "%s", outcome.Shown(alone)).At("/"+pointerOf(field)).Comparing(single, list)
		}
	}
	a, ok := plane.Instant(single.Get("created_at"))
	b, ok2 := plane.Instant(row.Get("created_at"))
	c, ok3 := plane.Instant(before.Get("created_at"))
	if ok && ok2 && ok3 && a.Equal(c) && !a.Equal(b) {
		return outcome.Violated(single, "created_at as in the list, "+outcome.Shown(row.Get("created_at")), "%s", outcome.Shown(single.Get("created_at"))).At("/created_at").Comparing(single, list)
	}
	return nil
}

func (w *lifecycle) endsFailed() error {
	if unjudged := w.plane.Unjudged(w.polled); unjudged != nil {
		return unjudged
	}
	switch {
	case w.plane.Statuses.IsFailed(w.polled.Final):
		return nil
	case w.polled.Ending == plane.TimedOut:
		return outcome.Violated(w.polled.Answer, "CREATE_FAILED, BUILD_FAILED or DEPLOY_FAILED within "+w.target.Config.Timeouts.Poll.String(), "%s", w.polled.Final).At("/status")
	}
	return outcome.Violated(w.polled.Answer, "CREATE_FAILED, BUILD_FAILED or DEPLOY_FAILED", "%s", w.polled.Final).At("/status")
}
