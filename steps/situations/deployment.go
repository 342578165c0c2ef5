package situations

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/shared"
)

// Deployment is a deployment to which an event has happened, with the responses that the checks have read.
type Deployment struct {
	*plane.Deployment
	*Situations
	isShared   bool                 // other scenarios read it
	isLong     bool                 // it has many revisions, and nobody changes it
	giveBack   func()               // ends the use of a deployment that other events change, or nil
	built      *plane.History       // the poll of the latest revision, or nil if its build is in progress
	last       judge.Snapshot       // the deployment and its revisions when they were read last
	beforeList []*exchange.Response // responses to GET of each revision, patience before the list was read
	afterList  []*exchange.Response // responses to GET of each revision after the list
	isSettled  bool                 // no status can change or be out of date
}

// UseDeployment makes an event happen and makes all checks of the deployment. It returns the outcome of each check by its
// step. Each event happens once.
func (s *Situations) UseDeployment(ctx context.Context, event string) (map[string]error, error) {
	at := slices.IndexFunc(DeploymentEvents, func(e DeploymentEvent) bool { return e.Name == event })
	if at < 0 {
		return nil, outcome.SuiteError("no event is called %q", event)
	}
	name := deploymentPrefix + event
	found, err := shared.Get(ctx, s.Agents.Maker(), name, func(ctx context.Context) (outcomes, error) {
		return s.examineDeployment(ctx, DeploymentEvents[at])
	})
	if isUndecided(err) || isPrevented(err) {
		return nil, keepingCause(didNotHappen(err), err)
	}
	return found, outcome.AsPrecondition(err)
}

// keepingCause adds to a skip the requirement that a response violated, and the violation. The rules about the record
// judge updates that were served and created no revision.
func keepingCause(skipped *outcome.Outcome, err error) error {
	cause, is := errors.AsType[*outcome.Outcome](outcome.AsPrecondition(err))
	if is && cause.IsBy(reports.ByRequirement) {
		skipped.BlockedBy, skipped.Violations = cause.BlockedBy, cause.Violations
	}
	return skipped
}

// examineDeployment makes the event happen, and makes the checks after patience.
func (s *Situations) examineDeployment(ctx context.Context, e DeploymentEvent) (outcomes, error) {
	d := &Deployment{Situations: s, isShared: e.shared}
	defer func() {
		if d.giveBack != nil {
			d.giveBack()
		}
	}()
	if err := e.happen(d, ctx); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	if err := s.Plane.AwaitListed(ctx, d.ID, d.Revisions...); err != nil {
		return nil, err
	}
	if err := d.read(ctx); err != nil {
		return nil, err
	}
	found := outcomes{}
	for _, c := range DeploymentChecks {
		if c.leftOut(e) == "" && s.Selected.has(deploymentPrefix+e.Name, c.Step) {
			found[c.Step] = c.judge(d, ctx)
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// read reads each revision before and after the list, so that a value that changes meanwhile does not count as a
// difference to the list. A response may be as old as patience, so the list must show a status only if GET shows it both
// before and after that time. The revisions of a long history are read only once in a test run, unless the target still
// builds superseded ones.
func (d *Deployment) read(ctx context.Context) error {
	each := d.Plane.GetEach
	if d.isLong {
		seen, err := d.Plane.LookAtEach(ctx, d.Deployment)
		if err != nil {
			return err
		}
		if areSettled(seen) {
			each = d.Plane.LookAtEach
		}
	}
	var err error
	d.beforeList, err = each(ctx, d.Deployment)
	if err != nil {
		return err
	}
	if err := client.Sleep(ctx, d.Target.Config.Patience); err != nil {
		return err
	}
	shown, err := d.Plane.GetDeployment(ctx, d.ID)
	if err != nil {
		return err
	}
	list, err := d.Plane.ListAll(ctx, d.ID, "")
	if err != nil {
		return err
	}
	latest := shown.Get("latest_revision_id").String()
	d.last = judge.Snapshot{Deployment: shown, List: list.Response, Latest: latest, Revisions: list.IDs()}
	d.forgetUnknown()
	d.isSettled = areSettled(d.beforeList)
	if err := d.rest(ctx); err != nil {
		return err
	}
	d.afterList, err = each(ctx, d.Deployment)
	return err
}

// forgetUnknown removes ids that the deployment named only for a moment: they are in no list, and GET returns 404. The
// lists need not contain them. CP-GET-1 judges the response that named them.
func (d *Deployment) forgetUnknown() {
	var known []string
	var read []*exchange.Response
	for i, id := range d.Revisions {
		isUnknown := d.beforeList[i] != nil && d.beforeList[i].Status == http.StatusNotFound
		if isUnknown && !exchange.ContainsID(d.last.Revisions, id) && !exchange.SameID(id, d.last.Latest) {
			continue
		}
		known = append(known, id)
		read = append(read, d.beforeList[i])
	}
	d.Revisions, d.beforeList = known, read
}

// areSettled reports whether no revision can change its status without a request.
func areSettled(revisions []*exchange.Response) bool {
	return !slices.ContainsFunc(revisions, func(a *exchange.Response) bool {
		return !a.OK() || !plane.IsSettled(plane.CanonicalStatus(a.Get("status").String()))
	})
}

// rest waits until every response is newer than the earlier ones, unless all revisions have settled.
func (d *Deployment) rest(ctx context.Context) error {
	if d.isSettled {
		return nil
	}
	return client.Sleep(ctx, d.Target.Config.Patience)
}

// latest returns the last response to GET of the latest revision.
func (d *Deployment) latest() *exchange.Response { return d.afterList[len(d.afterList)-1] }
