package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/common"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
)

// lifecycle has the last poll of a revision.
type lifecycle struct {
	*World
	polled *plane.History
}

// define registers the steps about the statuses of a revision (sections 1 and 3).
func (w *lifecycle) define(r *common.Definitions) {
	r.Given(`a new deployment with a retrievable revision`, w.takeReadable)
	r.Given(`a DEPLOYED deployment created for this scenario`, w.createDeployed)
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

func (w *lifecycle) takeReadable(ctx context.Context) error {
	if err := w.shared(w.plane.Fixtures.Readable)(ctx); err != nil {
		return err
	}
	a, err := w.now(ctx)
	if err != nil {
		return err
	}
	return isRetrieved("the deployment", a)
}

func (w *lifecycle) createDeployed(ctx context.Context) error {
	d, err := w.plane.CreateDeployed(ctx, "own")
	if err != nil {
		return err
	}
	w.Deployment = d
	return nil
}

// clientPolls polls the latest revision until its end. If early is set, it stops as soon as this poll or another one has
// seen a status that fails the scenario.
func (w *lifecycle) clientPolls(ctx context.Context, early string) error {
	w.revision = w.Deployment.Latest()
	polled, err := w.plane.Poll(ctx, w.Deployment.ID, w.revision, func(status string) bool {
		isWrong := early != "" && slices.ContainsFunc(w.plane.Observed(w.revision).Statuses, isUnknown)
		return isWrong || plane.IsDone(status)
	})
	if err != nil {
		return err
	}
	w.polled = polled
	return nil
}

func isUnknown(status string) bool { return !plane.IsKnown(status) }

// clientRetrievesSeveralTimes reads a deployment of the test run, because existing ones may be updated by others at any
// time.
func (w *lifecycle) clientRetrievesSeveralTimes(ctx context.Context) error {
	for range 5 {
		if err := w.retrievesRevision(ctx, w.Deployment.Latest()); err != nil {
			return err
		}
		if err := client.Sleep(ctx, w.target.Config.Polling.Interval); err != nil {
			return err
		}
	}
	return nil
}

// clientListsAndRetrievesEach first waits until no revision changes, because only settled revisions must agree. It
// retrieves each revision before and after the list, so that a value that changes between the two reads does not count as
// a difference to the list.
func (w *lifecycle) clientListsAndRetrievesEach(ctx context.Context) error {
	if _, err := w.plane.AwaitSettled(ctx, w.Deployment); err != nil {
		return outcome.AsBlocked(err)
	}
	if err := w.retrievesEach(ctx); err != nil {
		return err
	}
	if err := w.list(ctx, "", false); err != nil {
		return err
	}
	return w.retrievesEach(ctx)
}

func (w *lifecycle) clientUpdatesToBroken(ctx context.Context) error {
	change, _ := w.plane.Sources.Broken()
	if err := w.patchSource(ctx, change); err != nil {
		return err
	}
	a, before := w.scene.Response, w.Deployment.Latest()
	if a.IsRefused() {
		return outcome.Inapplicable("revisions of broken sources",
			"the target refuses the broken source with status %d, so no revision exists", a.Status)
	}
	latest, err := w.plane.AwaitLatest(ctx, w.Deployment, a, "broken source", before)
	if err != nil {
		return err
	}
	if latest == before {
		return outcome.Inconclusive("the update to the broken source created no revision")
	}
	w.plane.ExpectFailure(latest)
	w.Deployment.Revisions = append(w.Deployment.Revisions, latest)
	if err := w.clientPolls(ctx, ""); err != nil {
		return err
	}
	return w.retrieves(ctx) // the invariants judge what the deployment shows while its latest revision has failed
}

// reachesDeployed judges the poll. If it was cut short, it judges the earlier poll that timed out.
func (w *lifecycle) reachesDeployed() error {
	if overdue := w.plane.Overdue(w.revision); overdue != nil && w.polled.Ending == plane.CutShort {
		w.polled = overdue
	}
	isStrange := isUnknown(w.polled.Final)
	if isStrange && w.revision == w.Deployment.First {
		return w.everyStatusKnown()
	}
	if !plane.IsDeployed(w.polled.Final) {
		return w.notDeployed()
	}
	if isStrange {
		w.scene.Note("the status is " + strconv.Quote(w.polled.Final) + ", which CP-POLL-1 judges")
	}
	return nil
}

// notDeployed judges a poll that did not end in DEPLOYED. The hint names the key of the source, because the server is not
// at fault if the source cannot be built. If nothing was fetched from the fixtures, it names them too.
func (w *lifecycle) notDeployed() error {
	if unjudged := w.plane.CheckWhole(w.polled); unjudged != nil {
		return w.target.BlamingFixtures(unjudged)
	}
	key := "create.body.source_revision_config." + w.plane.Sources.Field()
	if w.revision != w.Deployment.First {
		_, key = w.plane.Sources.Another()
	}
	err := judge.ReachesDeployed(w.plane.Judged(w.polled), key)
	if o, is := errors.AsType[*outcome.Outcome](err); is {
		return w.target.BlamingFixtures(o)
	}
	return err
}

// everyStatusKnown judges all statuses that polls have seen of the revision, including those right after its creation.
func (w *lifecycle) everyStatusKnown() error {
	return judge.KnowsStatuses(w.polled.Response, w.plane.Observed(w.revision).Statuses)
}

// deployedEachTime ignores the spelling of the status, because CP-POLL-1 judges it.
func (w *lifecycle) deployedEachTime() error {
	if stays := w.plane.StuckStatus(w.Deployment); stays != "" {
		return outcome.Blocked("the revision stays %q instead of DEPLOYED (CP-POLL-1)", stays).ByRequirement("CP-POLL-1")
	}
	for _, a := range w.responses {
		if err := judge.StaysDeployed(a, plane.CanonicalStatus(a.Get("status").String())); err != nil {
			return err
		}
	}
	return nil
}

func (w *lifecycle) listAgrees() error {
	n := len(w.Deployment.Revisions)
	before, list, after := w.responses[:n], w.responses[n], w.responses[n+1:]
	var revisions []judge.Retrieved
	for i, id := range w.Deployment.Revisions {
		revisions = append(revisions, judge.Retrieved{ID: id, Before: before[i], After: after[i]})
	}
	return judge.ListAgrees(list, revisions)
}

func (w *lifecycle) endsFailed() error {
	if unjudged := w.plane.CheckWhole(w.polled); unjudged != nil {
		return unjudged
	}
	change, key := w.plane.Sources.Broken()
	field := w.plane.Sources.Field()
	broken := fmt.Sprintf("%s, %s %q", key, field, change[field])
	if w.target.Fixtures != nil {
		broken += ": its graph has a syntax error, so a server that loads the graph before DEPLOYED cannot build it"
	}
	return judge.EndsFailed(w.plane.Judged(w.polled), broken)
}
