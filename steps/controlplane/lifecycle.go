package controlplane

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// defineLifecycle registers the sentences about the way of a revision to its end (sections 1 and 3).
func (w *World) defineLifecycle(r *common.Definitions) {
	r.Given(`a new deployment with a retrievable revision`, func(ctx context.Context) {
		common.Check(w.shared(w.plane.Fixtures.Readable)(ctx))
		retrieved("the deployment", common.Must(w.now(ctx)))
	})
	r.Given(`a DEPLOYED deployment created for this scenario`, func(ctx context.Context) {
		w.Deployment = common.Must(w.plane.CreateDeployed(ctx, "own"))
	})
	r.When(`the client polls its latest revision( and stops at the first unknown status)?`, w.clientPolls)
	r.When(`the client retrieves its latest revision several times`, w.clientRetrievesSeveralTimes)
	r.When(`the client lists its revisions and retrieves each`, w.clientListsAndRetrievesEach)
	r.When(`the client updates the deployment to a source that cannot be built, and polls its latest revision`,
		w.clientUpdatesToBroken)
	r.Then(`the revision reaches DEPLOYED`, w.reachesDeployed)
	r.Then(`every status seen is one of the thirteen`, w.everyStatusKnown)
	r.Then(`the revision is DEPLOYED each time`, w.deployedEachTime)
	r.Then(`the list and the retrieved revisions agree`, w.listAgrees)
	r.Then(`the revision ends in CREATE_FAILED, BUILD_FAILED or DEPLOY_FAILED`, w.endsFailed)
}

// clientPolls need not wait any longer once a status was seen, in this poll or another one, that fails the scenario.
func (w *World) clientPolls(ctx context.Context, early string) {
	w.revision = w.Deployment.Latest()
	w.polled = common.Must(w.plane.Poll(ctx, w.Deployment.ID, w.revision, func(status string) bool {
		isWrong := early != "" && slices.ContainsFunc(w.plane.ReadOf(w.revision).Statuses, isUnknown)
		return isWrong || plane.IsDone(status)
	}))
}

// isFailed goes by the status that is meant: how it is written is judged by CP-POLL-1.
func isFailed(status string) bool { return plane.IsFailed(plane.Meant(status)) }

func isUnknown(status string) bool { return !plane.IsKnown(status) }

// clientRetrievesSeveralTimes reads a deployment of the run: somebody else may update an existing one at any time.
func (w *World) clientRetrievesSeveralTimes(ctx context.Context) {
	for range 5 {
		common.Check(w.retrievesRevision(ctx, w.Deployment.Latest()))
		common.Check(client.Sleep(ctx, w.target.Config.Polling.Interval))
	}
}

// clientListsAndRetrievesEach waits first until nothing changes any more: only settled revisions must agree. It
// retrieves each before and after the list, so that what changes from read to read is not held against the list.
func (w *World) clientListsAndRetrievesEach(ctx context.Context) {
	_, err := w.plane.AwaitSettled(ctx, w.Deployment)
	common.Check(outcome.AsBlocked(err))
	common.Check(w.retrievesEach(ctx))
	common.Check(w.list(ctx, "", false))
	common.Check(w.retrievesEach(ctx))
}

func (w *World) clientUpdatesToBroken(ctx context.Context) error {
	change, _ := w.plane.Sources.Broken()
	w.patchSource(ctx, change)
	a, before := w.scene.Answer, w.Deployment.Latest()
	if a.IsRefused() {
		return outcome.Inapplicable("revisions of broken sources",
			"the target refuses the broken source with status %d, so no revision exists", a.Status)
	}
	latest := common.Must(w.plane.AwaitLatest(ctx, w.Deployment, a, "broken source", before))
	if latest == before {
		return outcome.Inconclusive("the update to the broken source created no revision")
	}
	w.plane.ExpectsFailure(latest)
	w.Deployment.Revisions = append(w.Deployment.Revisions, latest)
	w.clientPolls(ctx, "")
	common.Check(w.retrieves(ctx)) // what the deployment shows while its latest revision has failed is for the invariants
	return nil
}

// reachesDeployed judges the poll; where that was cut short, the one on whose account it was. It says where the source
// comes from that is to be built: one that cannot be is no fault of the target.
func (w *World) reachesDeployed() error {
	if overdue := w.plane.Overdue(w.revision); overdue != nil && w.polled.Ending == plane.CutShort {
		w.polled = overdue
	}
	strange := isUnknown(w.polled.Final)
	if strange && w.revision == w.Deployment.First {
		return w.everyStatusKnown()
	}
	err := w.plane.Deployed(w.polled)
	if err == nil && strange {
		w.scene.Note("the status is " + strconv.Quote(w.polled.Final) + ", which CP-POLL-1 judges")
	}
	o, wrong := errors.AsType[*outcome.Outcome](err)
	if found, _ := w.target.Unfetched(); found == "" && wrong && isFailed(w.polled.Final) {
		key := "create.body.source_revision_config." + w.plane.Sources.Field()
		if w.revision != w.Deployment.First {
			_, key = w.plane.Sources.Another()
		}
		o.Hinting("set " + key + " to a source that this target can build; if it is one, read the target's build log")
	}
	return err
}

// everyStatusKnown judges what polling saw, this time and when the deployment was brought up.
func (w *World) everyStatusKnown() error {
	for _, status := range w.plane.ReadOf(w.revision).Statuses {
		if isUnknown(status) {
			o := outcome.Violated(w.polled.Answer, "one of the thirteen statuses", "%q", status).At("/status")
			return o.SameAs(common.UnknownStatus)
		}
	}
	return nil
}

// deployedEachTime goes by the status that is meant, as isFailed.
func (w *World) deployedEachTime() error {
	if stays := w.plane.StaysIn(w.Deployment); stays != "" {
		return outcome.Blocked("the revision stays %q instead of DEPLOYED (CP-POLL-1)", stays).ByRequirement("CP-POLL-1")
	}
	return common.Each(w.answers, func(a *exchange.Response) error {
		return outcome.WantAt(plane.IsDeployed(a.Get("status").String()), a, "status", plane.StatusDeployed)
	})
}

// listAgrees compares the fields of the interface. updated_at is left out: a target may touch a revision in between.
func (w *World) listAgrees() error {
	n := len(w.Deployment.Revisions)
	before, list, after := w.answers[:n], w.answers[n], w.answers[n+1:]
	listed := plane.ListOf(retrieved("the list", list))
	for i, id := range w.Deployment.Revisions {
		at := slices.Index(listed.IDs(), id)
		if at < 0 {
			return outcome.Blocked("the revision %s is not in the list: %s", id, outcome.Seen(list))
		}
		if got := after[i].Get("id"); got.String() != id {
			return outcome.Blocked("the revision %s cannot be retrieved: its id is %s", id, outcome.Shown(got))
		}
		common.Check(sameRevision(before[i], after[i], list, listed.Rows[at]))
	}
	return nil
}

// sameRevision compares what two reads of the revision agree about with its row in the list.
func sameRevision(before, single, list *exchange.Response, row gjson.Result) error {
	for _, field := range append(sourceFields[:3:3], commitField, "status", "source", "created_at") {
		was, alone, listed := before.Get(field), single.Get(field), row.Get(field)
		if differ(field, alone, listed) && !differ(field, alone, was) {
			return outcome.Violated(single, field+" as in the list, "+outcome.Shown(listed), "%s", outcome.Shown(alone)).
				At(inPointer(field)).Comparing(single, list)
		}
	}
	return nil
}

func (w *World) endsFailed() error {
	if unjudged := w.plane.Unjudged(w.polled); unjudged != nil {
		return unjudged
	}
	expected := "CREATE_FAILED, BUILD_FAILED or DEPLOY_FAILED"
	if w.polled.Ending == plane.TimedOut {
		expected += " within " + w.target.Config.Timeouts.Poll.String()
	}
	return outcome.WantAt(isFailed(w.polled.Final), w.polled.Answer, "status", expected)
}
