package steps

import (
	"context"
	"errors"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
)

// defineLifecycle holds the sentences about the way of a revision to DEPLOYED (sections 1 and 3).
func (w *World) defineLifecycle(b *book) {
	b.given(`a deployment that was created`, w.aCreatedDeployment)
	b.given(`a deployment of its own that is up`, w.anOwnDeployment)
	b.configured(`a source that cannot be built`, w.aBrokenSource)
	b.when(`the client polls its latest revision`, w.clientPolls)
	b.when(`the client retrieves its latest revision several times`, w.clientRetrievesSeveralTimes)
	b.when(`the client lists its revisions and retrieves each`, w.clientListsAndRetrievesEach)
	b.when(`the client updates the deployment to the broken source and polls`, w.clientUpdatesToBroken)
	b.then(`the revision reaches DEPLOYED`, w.reachesDeployed)
	b.then(`every status on the way is known`, w.everyStatusKnown)
	b.then(`the revision is DEPLOYED each time`, w.deployedEachTime)
	b.then(`the list and the single revisions agree`, w.listAgrees)
	b.then(`the revision ends in a failed status`, w.endsFailed)
}

func (w *World) anOwnDeployment(ctx context.Context) (err error) {
	w.deployment, err = w.run.createUp(ctx, "own")
	return err
}

func (w *World) aBrokenSource() error {
	if change, key := w.run.brokenSource(); change == nil {
		return needs(key)
	}
	return nil
}

func (w *World) clientPolls(ctx context.Context) (err error) {
	w.revision = w.deployment.latest()
	w.polled, err = w.run.poll(ctx, w.deployment.id, w.revision, w.run.done)
	return err
}

func (w *World) clientRetrievesSeveralTimes(ctx context.Context) error {
	const times = 5
	for range times {
		if err := w.clientRetrievesLatest(ctx); err != nil {
			return err
		}
		if err := client.Sleep(ctx, w.run.config.Polling.Interval); err != nil {
			return err
		}
	}
	return nil
}

// clientListsAndRetrievesEach waits first until nothing changes any more: only settled revisions must agree. It
// retrieves each before and after the list, so that what changes from read to read is not laid at the list's door.
func (w *World) clientListsAndRetrievesEach(ctx context.Context) error {
	if _, err := w.run.awaitCalm(ctx, w.deployment); err != nil {
		return asBlocked(err)
	}
	if err := w.clientRetrievesBothRevisions(ctx); err != nil {
		return err
	}
	if err := w.clientLists(ctx); err != nil {
		return err
	}
	return w.clientRetrievesBothRevisions(ctx)
}

func (w *World) clientUpdatesToBroken(ctx context.Context) error {
	change, _ := w.run.brokenSource()
	request := w.run.toControlPlane(theClient, "PATCH", deploymentPath(w.deployment.id), sourceUpdate(change))
	a, err := w.do(ctx, request)
	if err != nil {
		return err
	}
	if a.Refused() {
		return inapplicable("the target refuses the broken source at once (status %d), so no revision of it can be watched", a.Status)
	}
	latest, _, err := w.run.awaitLatest(ctx, a, "broken source", w.deployment.id, w.deployment.latest())
	if err != nil {
		return err
	}
	if latest == w.deployment.latest() {
		return inconclusive("the update to the broken source made no revision")
	}
	w.revision = latest
	w.polled, err = w.run.poll(ctx, w.deployment.id, latest, w.run.done)
	return err
}

// reachesDeployed says where the source comes from that is to be built: one that cannot be is no fault of the target.
func (w *World) reachesDeployed() error {
	err := w.run.deployed(w.polled)
	var o *outcome
	if errors.As(err, &o) && w.run.failedStatus(w.polled.final) {
		key := "create.body.source_revision_config." + w.run.sourceField()
		if w.revision != w.deployment.first {
			_, key = w.run.anotherSource()
		}
		o.hinting(key + " must name a source that this target can build; if it does, the target's log of the build tells why it failed")
	}
	return err
}

// everyStatusKnown judges what polling saw, this time and when the deployment was brought up.
func (w *World) everyStatusKnown() error {
	for _, status := range w.run.statusesOf(w.revision) {
		if !slices.Contains(w.run.knownStatuses, status) {
			return violated(w.polled.answer, "one of the thirteen statuses", "%q", status).at("/status")
		}
	}
	return nil
}

func (w *World) deployedEachTime() error {
	for _, a := range w.answers {
		if status := a.Get("status"); status.String() != statusDeployed {
			return violated(a, statusDeployed, "%s", shown(status)).at("/status")
		}
	}
	return nil
}

// listAgrees compares the fields of the interface. updated_at is left out: a target may touch a revision in between.
func (w *World) listAgrees() error {
	n := len(w.subject)
	before, list, after := w.answers[:n], w.answers[n], w.answers[n+1:]
	rows := list.Get("resources").Array()
	if !list.OK() {
		return blocked("the list cannot be read: %s", seen(list))
	}
	for i, id := range w.subject {
		row, found := find(rows, id)
		if !found {
			return blocked("the revision %s is not in the list: %s", id, seen(list))
		}
		if got := after[i].Get("id"); got.String() != id {
			return blocked("the revision %s cannot be retrieved: its id is %s", id, shown(got))
		}
		if err := w.sameRevision(before[i], after[i], row); err != nil {
			return err
		}
	}
	return nil
}

// sameRevision compares what two reads of the revision agree about with its row in a list.
func (w *World) sameRevision(before, single *client.Answer, row gjson.Result) error {
	for _, field := range []string{"status", "source", "source_revision_config.repo_ref", "source_revision_config.graph_config_path",
		"source_revision_config.image_uri", "source_revision_config.repo_commit_sha"} {
		alone, listed := single.Get(field), row.Get(field)
		if alone.String() != listed.String() && alone.String() == before.Get(field).String() {
			return violated(single, field+" as in the list, "+shown(listed), "%s", shown(alone)).at("/" + pointerOf(field))
		}
	}
	a, ok := instant(single.Get("created_at"))
	b, ok2 := instant(row.Get("created_at"))
	c, ok3 := instant(before.Get("created_at"))
	if ok && ok2 && ok3 && a.Equal(c) && !a.Equal(b) {
		return violated(single, "created_at as in the list, "+shown(row.Get("created_at")), "%s", shown(single.Get("created_at"))).at("/created_at")
	}
	return nil
}

func (w *World) endsFailed() error {
	switch {
	case w.run.failedStatus(w.polled.final):
		return nil
	case w.polled.timedOut:
		return violated(w.polled.answer, "a failed status within "+w.run.config.Timeouts.Poll.String(), "%s", w.polled.final).at("/status")
	}
	return violated(w.polled.answer, "a failed status", "%s", w.polled.final).at("/status")
}
