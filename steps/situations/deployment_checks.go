package situations

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/agentconform/agentconform/steps/common"
	commonjudge "github.com/agentconform/agentconform/steps/common/judge"
	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// DeploymentCheck is a condition that every deployment must satisfy after any event.
type DeploymentCheck struct {
	Step string // of the features

	madeAfter condition
	judge     func(d *Deployment, ctx context.Context) error
}

// condition determines after which events a check is made.
type condition int

const (
	anyEvent            condition = iota
	afterUpdate                   // an update has created the latest revision
	afterBuild                    // the latest revision is DEPLOYED
	afterUpdateAndBuild           // both
	afterOwnEvent                 // no other scenario reads the deployment
)

// leftOut returns the reason why a check is not made after an event, or "".
func (c DeploymentCheck) leftOut(e DeploymentEvent) string {
	switch {
	case (c.madeAfter == afterUpdate || c.madeAfter == afterUpdateAndBuild) && !e.updated:
		return "the event creates no later revision"
	case (c.madeAfter == afterBuild || c.madeAfter == afterUpdateAndBuild) && !e.deployed:
		return "the event leaves a latest revision that need not be DEPLOYED"
	case c.madeAfter == afterOwnEvent && e.shared:
		return "other scenarios read the deployment, and the check sends updates that a faulty server may carry out"
	}
	return ""
}

// DeploymentChecks has all checks, in the order in which they are made. The last two send updates.
var DeploymentChecks = []DeploymentCheck{
	{"each of three reads shows its id and the id of its latest revision", anyEvent, (*Deployment).namesLatest},
	{"it shows the source_revision_config of its latest revision", anyEvent, (*Deployment).showsLatestConfig},
	{"its latest revision is DEPLOYED", afterUpdateAndBuild, (*Deployment).latestIsDeployed},
	{"each of its DEPLOYED revisions shows the commit id of its ref", afterBuild, (*Deployment).showCommits},
	{"its first revision shows the source_revision_config of its creation", afterUpdate, (*Deployment).firstShowsConfig},
	{"each of its revisions is returned under its own id", anyEvent, (*Deployment).revisionsHaveIDs},
	{"the created_at of each revision is that of its first read", anyEvent, (*Deployment).createdAtIsUnchanged},
	{"an unknown revision of it is refused with 4xx", anyEvent, (*Deployment).unknownRevisionIsRefused},
	{"its list and GET of each revision agree", anyEvent, (*Deployment).listAgrees},
	{"each revision in its list has its source", anyEvent, (*Deployment).listHasSource},
	{"pages by computed offsets return each of its revisions once", anyEvent, (*Deployment).computedPages},
	{"pages by returned offsets return each of its revisions once", anyEvent, (*Deployment).returnedPages},
	{"each status filter returns exactly the revisions with that status", anyEvent, (*Deployment).filtersHold},
	{"a filter with all thirteen statuses returns each of its revisions once", anyEvent, (*Deployment).allStatusesHold},
	{"limit 101 is refused with 422 under each security scheme", anyEvent, refusesParameter("limit", "101")},
	{"offset -1 is refused with 422 under each security scheme", anyEvent, refusesParameter("offset", "-1")},
	{"no operation serves a client without credentials", anyEvent, refusesSender(target.Nobody, "")},
	{"no operation serves a client with an unknown API key", anyEvent, refusesSender(target.UnknownKey, "unknown")},
	{"another tenant gets the status for unknown deployments", anyEvent, (*Deployment).otherTenantSeesNothing},
	{"an update without a source field creates no revision", afterOwnEvent, createsNothing(target.TheClient)},
	{"an update without credentials creates no revision", afterOwnEvent, createsNothing(target.Nobody)},
}

// namesLatest judges several reads, because one of several replicas may show an older state.
func (d *Deployment) namesLatest(ctx context.Context) error {
	for range 3 {
		a, err := d.Plane.GetDeployment(ctx, d.ID)
		if err != nil {
			return err
		}
		d.last.Deployment = a
		if err := judge.IsTheCreated(a, judge.Created{ID: d.ID, Revision: d.Latest()}); err != nil {
			return d.unlessOthers(err)
		}
	}
	return nil
}

// sent returns the source revision configuration in the request that created the latest revision. It is empty if the
// request is unknown.
func (d *Deployment) sent() map[string]any {
	if d.Update != nil {
		return d.Update
	}
	return plane.RevisionConfig(d.Body)
}

func (d *Deployment) showsLatestConfig(context.Context) error {
	if len(d.sent()) == 0 {
		return outcome.Inapplicable("situations", "it is unknown which request has created the latest revision")
	}
	return judge.ConfigFollowsLatest([]*exchange.Response{d.last.Deployment}, d.Latest(), d.sent())
}

func (d *Deployment) latestIsDeployed(context.Context) error {
	if unjudged := d.Plane.CheckWhole(d.built); unjudged != nil {
		return unjudged
	}
	if !plane.IsDeployed(d.built.Final) && d.isMixed() {
		return outcome.Inapplicable("situations", "the latest revision is %s: its graph_config_path may not exist at its repo_ref",
			d.built.Final)
	}
	return d.unlessOthers(judge.ReachesDeployed(d.Plane.Judged(d.built), "alternatives"))
}

// isMixed reports whether the latest revision has the second graph_config_path together with a repo_ref other than that
// of create.body. A sequence of events may produce this combination, and the file need not exist at that ref.
func (d *Deployment) isMixed() bool {
	latest, second := d.latest().Get("source_revision_config"), d.Target.Config.Alternatives.GraphConfigPath
	return second != "" && latest.Get("graph_config_path").String() == second &&
		latest.Get("repo_ref").String() != plane.RevisionConfig(d.Body)["repo_ref"]
}

// showCommits judges the DEPLOYED revisions whose ref has a configured commit. The latest revision must show one. An
// earlier revision is judged only if it shows a commit, because it may have the status of the latest one without having
// been built.
func (d *Deployment) showCommits(context.Context) error {
	if err := d.needsRepository(); err != nil {
		return err
	}
	if status := d.latest().Get("status").String(); !plane.IsDeployed(status) {
		return outcome.Inapplicable("situations", "the latest revision is %q", status)
	}
	ref := d.latest().Get("source_revision_config.repo_ref").String()
	commit := d.Target.Config.Alternatives.Commits[ref]
	if commit == "" {
		return outcome.Needs("alternatives.commits", " with the commit id of "+strconv.Quote(ref))
	}
	for _, a := range d.afterList[:len(d.afterList)-1] {
		own := d.Target.Config.Alternatives.Commits[a.Get("source_revision_config.repo_ref").String()]
		isBuilt := a.OK() && plane.IsDeployed(a.Get("status").String()) && a.Get("source_revision_config.repo_commit_sha").String() != ""
		if own == "" || !isBuilt {
			continue
		}
		if err := judge.HasCommit(a, own); err != nil {
			return err
		}
	}
	return judge.HasCommit(d.latest(), commit)
}

func (d *Deployment) firstShowsConfig(context.Context) error {
	if a := d.afterList[0]; !exchange.SameID(a.Get("id").String(), d.First) {
		return outcome.Blocked("the first revision cannot be retrieved: %s", outcome.Seen(a)).ByRequirement("CP-REV-1")
	}
	return judge.HasConfig(d.afterList[0], plane.RevisionConfig(d.Body))
}

func (d *Deployment) revisionsHaveIDs(context.Context) error {
	if err := judge.HaveIDs(d.afterList, d.Revisions); err != nil {
		return err
	}
	return common.Each(d.afterList, judge.IsComplete)
}

func (d *Deployment) createdAtIsUnchanged(context.Context) error {
	var all []judge.Reread
	for i, id := range d.Revisions {
		if !exchange.SameID(d.afterList[i].Get("id").String(), id) {
			continue // another requirement judges a revision with a different id
		}
		first := d.Plane.Observed(id).First
		if first == nil && d.beforeList[i].OK() {
			first = d.beforeList[i]
		}
		all = append(all, judge.Reread{First: first, Now: d.afterList[i]})
	}
	return judge.CreatedAtUnchanged(all)
}

func (d *Deployment) unknownRevisionIsRefused(ctx context.Context) error {
	a, err := d.Plane.GetRevision(ctx, d.ID, target.UnknownID())
	if err != nil {
		return err
	}
	return commonjudge.IsRefused(a, "an unknown revision")
}

func (d *Deployment) listAgrees(context.Context) error {
	var all []judge.Retrieved
	for i, id := range d.Revisions {
		all = append(all, judge.Retrieved{ID: id, Before: d.beforeList[i], After: d.afterList[i]})
	}
	return judge.ListAgrees(d.last.List, all)
}

func (d *Deployment) listHasSource(context.Context) error {
	rows := plane.ListOf(d.last.List).Rows
	if len(rows) == 0 {
		return outcome.Inconclusive("the list is empty, so no source can be compared")
	}
	return judge.HasSources(d.last.List, rows, d.Source())
}

// pageSize returns a page size with which the revisions fill two or three pages.
func (d *Deployment) pageSize() int { return max(1, len(d.Revisions)/2) }

// computedPages reads the pages at computed offsets.
func (d *Deployment) computedPages(ctx context.Context) error {
	size := d.pageSize()
	var all plane.List
	for offset := 0; offset < len(d.Revisions); offset += size {
		a, err := d.Plane.Get(ctx, plane.RevisionsPath(d.ID), plane.PageOf(size, offset))
		if err != nil {
			return err
		}
		all.Rows, all.Response = append(all.Rows, plane.ListOf(a).Rows...), a
	}
	return d.holdsAll(all, "in pages of "+strconv.Itoa(size))
}

// returnedPages reads pages at the returned offsets, until a page is not full.
func (d *Deployment) returnedPages(ctx context.Context) error {
	size := d.pageSize()
	query := "limit=" + strconv.Itoa(size)
	var all plane.List
	for range len(d.Revisions)/size + 1 {
		a, err := d.Plane.Get(ctx, plane.RevisionsPath(d.ID), query)
		if err != nil {
			return err
		}
		page := plane.ListOf(a)
		all.Rows, all.Response = append(all.Rows, page.Rows...), a
		if len(page.Rows) < size || len(all.Rows) >= len(d.Revisions) {
			break
		}
		next, err := judge.NextOffset(a)
		if err != nil {
			return err
		}
		query = plane.PageOf(size, next)
	}
	return d.holdsAll(all, "in pages of "+strconv.Itoa(size))
}

// holdsAll judges a list that must contain all revisions.
func (d *Deployment) holdsAll(l plane.List, what string) error {
	wrong := judge.HoldsExactly(judge.Listed{Response: l.Response, IDs: l.IDs(), Want: d.Revisions, What: what})
	return d.unlessOthers(wrong)
}

// unlessOthers blocks a violation if the complete list has revisions that are unknown to this test run: an update has
// created one too many, or its revision was not found.
func (d *Deployment) unlessOthers(wrong error) error {
	if wrong == nil {
		return nil
	}
	others := judge.Added(judge.Snapshot{Revisions: d.Revisions}, d.last)
	if len(others) > 0 {
		return outcome.Blocked("the deployment has the revision %s, which no update is known to have created", others[0])
	}
	return wrong
}

// refusesParameter returns the check that a parameter is refused with each configured security scheme.
func refusesParameter(name, value string) func(*Deployment, context.Context) error {
	return func(d *Deployment, ctx context.Context) error {
		query := name + "=" + value
		return common.Each(d.Target.Given(d.Target.Config.Credentials), func(given target.Given) error {
			request := d.Target.ToControlPlane(target.Sender(given.Scheme), http.MethodGet, plane.RevisionsPath(d.ID), nil)
			request.Query, request.Wrong = query, true
			a, err := d.Target.Client.Do(ctx, request)
			if err != nil {
				return err
			}
			return judge.RefusesParameter(a, query, "out of range", name)
		})
	}
}

// operations returns a request of each operation on a deployment and its revision, and a GET with the id in capital
// letters. The list has a filter. The update, which is the last request, sets nothing.
func (d *Deployment) operations(who target.Sender, id, revision string) []exchange.Request {
	read := func(path string) exchange.Request { return d.Target.ToControlPlane(who, http.MethodGet, path, nil) }
	filtered := read(plane.RevisionsPath(id))
	filtered.Query = plane.Query(plane.StatusFilter(plane.StatusDeployed), "limit=1")
	update := d.Target.ToControlPlane(who, http.MethodPatch, plane.DeploymentPath(id), plane.SourceUpdate(map[string]any{}))
	capitals := read(plane.DeploymentPath(strings.ToUpper(id)))
	return []exchange.Request{read(plane.DeploymentPath(id)), filtered, read(plane.RevisionPath(id, revision)), capitals, update}
}

// ownOperations returns a request of each operation on this deployment. If other scenarios read the deployment, it omits
// the update.
func (d *Deployment) ownOperations(who target.Sender) []exchange.Request {
	all := d.operations(who, d.ID, d.Latest())
	if d.isShared {
		return all[:len(all)-1]
	}
	return all
}

// refusesSender returns the check that each operation refuses a sender. class describes the credentials.
func refusesSender(who target.Sender, class string) func(*Deployment, context.Context) error {
	return func(d *Deployment, ctx context.Context) error {
		return common.Each(d.ownOperations(who), func(r exchange.Request) error {
			a, err := d.Target.Client.Do(ctx, r)
			if err != nil {
				return err
			}
			return judge.RefusesCredentials(a, class)
		})
	}
}

// otherTenantSeesNothing compares the responses with the responses for an unknown deployment.
func (d *Deployment) otherTenantSeesNothing(ctx context.Context) error {
	if len(d.Target.Given(d.Target.Config.OtherTenant)) == 0 {
		return outcome.Needs("other_tenant.api_key")
	}
	unknown, err := shared.Get(ctx, d.Agents.Maker(), "an unknown deployment for the other tenant",
		func(ctx context.Context) ([]*exchange.Response, error) {
			return d.tryAll(ctx, d.operations(target.AnotherTenant, target.UnknownID(), target.UnknownID()))
		})
	if err != nil {
		return err
	}
	responses, err := d.tryAll(ctx, d.ownOperations(target.AnotherTenant))
	if err != nil {
		return err
	}
	for i, a := range responses {
		if err := judge.IsAsForUnknown(a, unknown[i], d.Latest()); err != nil {
			return err
		}
		if err := judge.HidesName(a, d.Name()); err != nil {
			return err
		}
	}
	return nil
}

// tryAll sends requests one after the other.
func (d *Deployment) tryAll(ctx context.Context, requests []exchange.Request) (all []*exchange.Response, err error) {
	for _, r := range requests {
		a, err := d.Target.Client.Do(ctx, r)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// createsNothing returns the check that an update creates no revision. The client sends two updates without a field of
// the source. The second one names an earlier revision in latest_revision_id. Other senders send an update of the source.
func createsNothing(who target.Sender) func(*Deployment, context.Context) error {
	return func(d *Deployment, ctx context.Context) error {
		change := map[string]any{}
		if who != target.TheClient {
			change = d.Plane.Sources.Next(1)
		}
		update := d.Target.ToControlPlane(who, http.MethodPatch, plane.DeploymentPath(d.ID), plane.SourceUpdate(change))
		updates := []exchange.Request{update}
		if who == target.TheClient && d.First != d.Latest() {
			update.Body, update.Wrong = target.Encode(map[string]any{"latest_revision_id": d.First}), true
			updates = append(updates, update)
		}
		return common.Each(updates, func(r exchange.Request) error { return d.createsNone(ctx, r) })
	}
}

// createsNone sends an update, and judges that the deployment has the same revisions and the same latest revision as
// before.
func (d *Deployment) createsNone(ctx context.Context, update exchange.Request) error {
	a, err := d.Target.Client.Do(ctx, update)
	if err != nil {
		return err
	}
	if err := d.Target.WaitSettleDelay(ctx, a); err != nil {
		return err
	}
	after, err := d.Plane.Snapshot(ctx, d.Deployment)
	if err != nil {
		return outcome.AsPrecondition(err)
	}
	before := d.last
	if !before.List.OK() {
		return outcome.Blocked("the list cannot be read: %s", outcome.Seen(before.List))
	}
	d.last = after
	return judge.CreatesRevisions(a, before, after, 0, "the same revisions as before")
}
