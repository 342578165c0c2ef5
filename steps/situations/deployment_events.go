package situations

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// DeploymentEvent is an event that can happen to a deployment.
type DeploymentEvent struct {
	Name string // as the features name it: "a deployment of which NAME"

	updated  bool // an update has created its latest revision
	deployed bool // its latest revision is DEPLOYED
	shared   bool // other scenarios read the deployment, which must not be put at risk
	happen   func(d *Deployment, ctx context.Context) error
}

// DeploymentEvents has all events, in the order of the features. Events that wait for a failed build, or for none, use a
// different deployment than events that end with a DEPLOYED revision, so that the two kinds do not wait for each other.
var DeploymentEvents = []DeploymentEvent{
	{Name: "the first build has completed", deployed: true, shared: true, happen: (*Deployment).takeDeployed},
	{Name: "the first build has failed", happen: (*Deployment).takeFailed},
	{Name: "the source was updated", updated: true, deployed: true, shared: true, happen: (*Deployment).takeUpdated},
	{Name: "the history is long", updated: true, deployed: true, shared: true, happen: (*Deployment).takeLong},
	{Name: "the graph_config_path was updated", updated: true, deployed: true, happen: updateField("graph_config_path")},
	{Name: "the repo_ref and graph_config_path were updated", updated: true, // the graph configuration may not exist at the ref
		happen: updateField("repo_ref", "graph_config_path")},
	{Name: "the repo_ref was updated to a tag", updated: true, deployed: true, happen: (*Deployment).updateToTag},
	{Name: "the repo_ref was updated to a second tag", updated: true, deployed: true,
		happen: (*Deployment).updateToSecondTag},
	{Name: "an invalid update was refused", deployed: true, happen: (*Deployment).refuseUpdate},
	{Name: "a later build has failed", updated: true, happen: (*Deployment).failLater},
	{Name: "an update followed a failed build", updated: true, deployed: true, happen: (*Deployment).repair},
	{Name: "an update was just accepted", updated: true, happen: (*Deployment).updateOnly},
	{Name: "an update was superseded", updated: true, deployed: true, happen: (*Deployment).supersede},
	{Name: "two updates were sent at the same time", updated: true, deployed: true, happen: (*Deployment).updateAtOnce},
}

// take uses the deployment of a fixture.
func (d *Deployment) take(ctx context.Context, f *plane.Fixture) error {
	var err error
	d.Deployment, err = d.Plane.Shared(ctx, f)
	if err != nil {
		return err
	}
	return d.build(ctx)
}

func (d *Deployment) takeDeployed(ctx context.Context) error {
	return d.take(ctx, d.Plane.Fixtures.Deployed)
}

func (d *Deployment) takeFailed(ctx context.Context) error {
	if _, err := d.broken(); err != nil {
		return err
	}
	return d.take(ctx, d.Plane.Fixtures.Failed)
}

func (d *Deployment) takeUpdated(ctx context.Context) error {
	if _, err := d.another(); err != nil {
		return err
	}
	return d.take(ctx, d.Plane.Fixtures.Updated)
}

func (d *Deployment) takeLong(ctx context.Context) error {
	d.isLong = true
	return d.take(ctx, d.Plane.Fixtures.Long)
}

// broken returns the change to a source that cannot be built.
func (d *Deployment) broken() (map[string]any, error) {
	change, key := d.Plane.Sources.Broken()
	if change == nil {
		return nil, outcome.Needs(key)
	}
	return change, nil
}

// another returns the change to the second source.
func (d *Deployment) another() (map[string]any, error) {
	change, key := d.Plane.Sources.Another()
	if change == nil {
		return nil, outcome.Needs(key)
	}
	return change, nil
}

// lease leases one of the deployments to which events happen, and waits until its latest revision has settled. It adds
// unknown revisions: those of updates that took effect late, or that should have been refused.
func (d *Deployment) lease(ctx context.Context, n int) error {
	var err error
	d.Deployment, d.giveBack, err = d.Plane.LeaseSituation(ctx, n)
	if err != nil {
		return err
	}
	if err := d.Plane.Settle(ctx, d.ID); err != nil {
		return err
	}
	now, err := d.Plane.Snapshot(ctx, d.Deployment)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	added := judge.Added(judge.Snapshot{Revisions: d.Revisions}, now)
	if len(added) > 0 {
		d.Update = map[string]any{} // it is unknown which request created the latest revision
	}
	d.add(added, now.Latest)
	return nil
}

// add adds the revisions of a list. Usually the first one is the newest. The latest revision is added last.
func (d *Deployment) add(added []string, latest string) {
	slices.Reverse(added)
	all := append(d.Revisions, added...)
	isLatest := func(id string) bool { return exchange.SameID(id, latest) }
	if at := slices.IndexFunc(all, isLatest); at >= 0 {
		all = append(slices.Delete(all, at, at+1), latest)
	}
	d.Revisions = all
}

// The deployments to which events happen.
const (
	forEvents = iota
	forBuilds
)

// build waits until the latest revision is DEPLOYED or has failed. Until then it may have any status, including
// INTERRUPTED.
func (d *Deployment) build(ctx context.Context) error {
	var err error
	d.built, err = d.Plane.Poll(ctx, d.ID, d.Latest(), plane.IsDone)
	return err
}

// update updates a deployment with the body of a request, and waits for the build.
func (d *Deployment) update(ctx context.Context, n int, body map[string]any) error {
	if err := d.lease(ctx, n); err != nil {
		return err
	}
	if err := d.Plane.UpdateWith(ctx, d.Deployment, body); err != nil {
		return err
	}
	return d.build(ctx)
}

// needsRepository skips an event that needs a repository if deployments are created from an image.
func (d *Deployment) needsRepository() error {
	source := d.Target.Config.Source()
	if source == config.GitHost {
		return nil
	}
	return outcome.Inapplicable("create.body.source", "deployments from %s have no repo_ref", source)
}

// updateField returns the event that one request updates the fields of the source.
func updateField(fields ...string) func(*Deployment, context.Context) error {
	return func(d *Deployment, ctx context.Context) error {
		if err := d.needsRepository(); err != nil {
			return err
		}
		change := map[string]any{}
		for _, field := range fields {
			change[field] = d.Plane.Sources.ValueOf(field)
		}
		return d.update(ctx, forEvents, plane.SourceUpdate(change))
	}
}

func (d *Deployment) updateToTag(ctx context.Context) error {
	if err := d.needsRepository(); err != nil {
		return err
	}
	tag := d.Target.Config.Alternatives.TagRef
	if tag == "" {
		return outcome.Needs("alternatives.tag_ref")
	}
	return d.updateTo(ctx, tag)
}

// updateToSecondTag uses another tag with a configured commit. In the repository of the fixtures this is an annotated
// tag.
func (d *Deployment) updateToSecondTag(ctx context.Context) error {
	if err := d.needsRepository(); err != nil {
		return err
	}
	for _, ref := range slices.Sorted(maps.Keys(d.Target.Config.Alternatives.Commits)) {
		if strings.HasPrefix(ref, "refs/tags/") && ref != d.Target.Config.Alternatives.TagRef {
			return d.updateTo(ctx, ref)
		}
	}
	return outcome.Needs("alternatives.commits", " with the commit id of a second tag")
}

// updateTo updates the deployment to a tag, and sets build_on_push to false, because both exclude each other (section 2).
// An earlier event may have set a graph_config_path that does not exist at the tag.
func (d *Deployment) updateTo(ctx context.Context, tag string) error {
	change := map[string]any{"repo_ref": tag}
	if path := plane.RevisionConfig(d.Target.Config.Create.Body)["graph_config_path"]; path != nil {
		change["graph_config_path"] = path
	}
	if err := d.lease(ctx, forEvents); err != nil {
		return err
	}
	if err := d.buildOnPush(ctx); err != nil {
		return err
	}
	body := plane.SourceUpdate(change)
	body["source_config"] = map[string]any{"build_on_push": false}
	if err := d.Plane.UpdateWith(ctx, d.Deployment, body); err != nil {
		return err
	}
	return d.build(ctx)
}

// buildOnPush sets build_on_push to true, so that the next update changes it together with the source. The target may
// refuse that, for example if the ref is a tag.
func (d *Deployment) buildOnPush(ctx context.Context) error {
	body := map[string]any{"source_config": map[string]any{"build_on_push": true}}
	_, err := d.Target.Client.Do(ctx, d.Target.ToControlPlane(target.TheClient, http.MethodPatch, plane.DeploymentPath(d.ID), body))
	return err
}

// refuseUpdate sends an update whose source is not a string.
func (d *Deployment) refuseUpdate(ctx context.Context) error {
	if err := d.lease(ctx, forEvents); err != nil {
		return err
	}
	body := plane.SourceUpdate(map[string]any{d.Plane.Sources.Field(): 42})
	request := d.Target.ToControlPlane(target.TheClient, http.MethodPatch, plane.DeploymentPath(d.ID), body)
	request.Wrong = true
	a, err := d.Target.Client.Do(ctx, request)
	if err != nil {
		return err
	}
	if !a.IsRefused() {
		if err := d.Target.WaitSettleDelay(ctx, a); err != nil { // the update may create a revision, which the next event must know
			return err
		}
		return outcome.Inapplicable("situations", "on this target, an update whose %s is a number is not refused: %s",
			d.Plane.Sources.Field(), outcome.Seen(a))
	}
	return d.build(ctx)
}

func (d *Deployment) failLater(ctx context.Context) error {
	change, err := d.broken()
	if err != nil {
		return err
	}
	if err := d.lease(ctx, forBuilds); err != nil {
		return err
	}
	if err := d.Plane.Update(ctx, d.Deployment, change); err != nil {
		return err
	}
	d.Plane.ExpectFailure(d.Latest())
	_, err = d.Plane.Poll(ctx, d.ID, d.Latest(), plane.IsSettled)
	return err
}

// repair updates the deployment from a source that cannot be built to one that can.
func (d *Deployment) repair(ctx context.Context) error {
	if err := d.failLater(ctx); err != nil {
		return err
	}
	if err := d.Plane.Update(ctx, d.Deployment, d.Plane.Sources.Next(2)); err != nil {
		return err
	}
	return d.build(ctx)
}

// updateOnly does not wait for the build. If the build is slow enough, it is in progress while the checks are made.
func (d *Deployment) updateOnly(ctx context.Context) error {
	if err := d.lease(ctx, forBuilds); err != nil {
		return err
	}
	if err := d.Plane.Update(ctx, d.Deployment, d.Plane.Sources.Next(1)); err != nil {
		return err
	}
	_, err := d.Plane.Poll(ctx, d.ID, d.Latest(), func(string) bool { return true }) // its created_at before a later update
	return err
}

// supersede sends a second update as soon as the deployment names the revision of the first one, whose build may still be
// in progress. If the target continues that build, it may end after the second build.
func (d *Deployment) supersede(ctx context.Context) error {
	if err := d.updateOnly(ctx); err != nil {
		return err
	}
	if err := d.Plane.Update(ctx, d.Deployment, d.Plane.Sources.Next(2)); err != nil {
		return err
	}
	if err := d.build(ctx); err != nil {
		return err
	}
	_, err := d.Plane.AwaitSettled(ctx, d.Deployment)
	return err
}

// updateAtOnce sends two updates to the same source at the same time. The interface does not define which of the two
// revisions is the latest, so it is the one that the deployment names afterwards.
func (d *Deployment) updateAtOnce(ctx context.Context) error {
	if err := d.lease(ctx, forBuilds); err != nil {
		return err
	}
	const times = 2
	for range times {
		if err := d.Plane.TakeRevision(ctx, d.Deployment); err != nil {
			return err
		}
	}
	before, err := d.Plane.Snapshot(ctx, d.Deployment)
	if err != nil {
		return err
	}
	change := d.Plane.Sources.Next(1)
	responses := make([]*exchange.Response, times)
	racing := client.Racing(ctx)
	err = agent.AtOnce(times, func(i int) error {
		request := d.Target.ToControlPlane(target.TheClient, http.MethodPatch, plane.DeploymentPath(d.ID),
			plane.SourceUpdate(change))
		a, err := d.Target.Client.Do(racing, request)
		responses[i] = a
		return err
	})
	if err != nil {
		return err
	}
	served := 0
	var refused *exchange.Response
	for _, a := range responses {
		if a.OK() {
			served++
		} else {
			refused = a
		}
	}
	if served > 0 {
		d.Update = change
		if err := d.learn(ctx, before, served); err != nil {
			return err
		}
	}
	if refused != nil {
		return outcome.Inapplicable("situations", "one of two updates at the same time is not served: %s", outcome.Seen(refused))
	}
	return d.build(ctx)
}

// learn adds the new revisions after the list contains them and the deployment names one of them. The two responses may
// be from different times, so it reads both again after patience. If the deployment still names an earlier revision, the
// checks judge that.
func (d *Deployment) learn(ctx context.Context, before judge.Snapshot, want int) error {
	var added []string
	var latest string
	read := func() (isNamed bool, err error) {
		now, err := d.Plane.Snapshot(ctx, d.Deployment)
		if err != nil {
			return false, err
		}
		added, latest = judge.Added(before, now), now.Latest
		return len(added) >= want && exchange.ContainsID(added, latest), nil
	}
	if err := d.Target.RetryFor(ctx, d.Target.Config.Timeouts.Request, read); err != nil {
		return err
	}
	if err := client.Sleep(ctx, d.Target.Config.Patience); err != nil {
		return err
	}
	if _, err := read(); err != nil {
		return err
	}
	if len(added) < want {
		d.add(added, latest)
		return outcome.Blocked("%d of %d updates created a revision", len(added), want)
	}
	if !exchange.ContainsID(added, latest) {
		latest = added[0] // usually the list begins with the newest revision; the checks judge which one the deployment names
	}
	d.add(added, latest)
	return nil
}
