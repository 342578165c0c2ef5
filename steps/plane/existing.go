package plane

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Existing is what was at the target before the run. Where the run cannot create deployments, scenarios that only read
// use one of these. Nothing is ever written to them, and they never stand in the ledger.
type Existing struct {
	found   []*Deployment   // DEPLOYED; the one with the longest history that can be listed first
	ids     map[string]bool // of all deployments that were listed, or named by the configuration
	unfit   error           // skips what would read the one that the configuration names, and that cannot be used
	sources Sources
}

// The bounds of the search for existing deployments. A longer history would cost a request for each revision.
const (
	candidates        = 10
	longestOfExisting = 200
)

// FindExisting looks for deployments that can be read where the configuration has credentials and none can be created:
// the one that the configuration names, else those that the target lists. The list of deployments is an extension of
// the interface: a target without it has none that are known. It must have returned before scenarios begin.
func (p *Plane) FindExisting(ctx context.Context) error {
	c := p.target.Config
	if !c.HasCredentials() || p.Sources.CanCreate() == nil {
		return nil
	}
	ctx = evidence.WithScenario(ctx, "fixture: existing deployments", 0)
	e := NoneExisting(c)
	if c.Existing.Deployment != "" {
		e.unfit = e.readNamed(ctx, p, c.Existing)
	} else {
		e.readListed(ctx, p)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	slices.SortStableFunc(e.found, func(a, b *Deployment) int {
		isListed := min(len(b.statuses), 1) - min(len(a.statuses), 1) // one that can be listed first
		return cmp.Or(isListed, len(b.Revisions)-len(a.Revisions))
	})
	p.Existing, p.target.Client.MayWrite = e, e.mayWrite
	return nil
}

// readListed considers the first deployments that the target lists, as far as it lists any.
func (e *Existing) readListed(ctx context.Context, p *Plane) {
	rows, _, _ := p.listed(ctx, "")
	for _, row := range rows {
		e.ids[row.Get("id").String()] = true
	}
	isOther := func(row gjson.Result) bool { return uuid.Validate(row.Get("id").String()) != nil }
	rows = slices.DeleteFunc(rows, isOther)
	for _, row := range rows[:min(len(rows), candidates)] {
		shown, id := row, row.Get("id").String()
		if row.Get("latest_revision_id").String() == "" {
			a, err := p.GetDeployment(ctx, id)
			if err != nil {
				return
			}
			shown = a.Get("@this")
		}
		if answered := e.consider(ctx, p, existing(id, shown)); !answered { // each of the others may take as long
			return
		}
	}
}

// readNamed takes the deployment that the configuration names. That it is not there, not DEPLOYED or has too many
// revisions is a mistake of the configuration, and not one of the target.
func (e *Existing) readNamed(ctx context.Context, p *Plane, named config.Existing) error {
	const key = "existing.deployment"
	e.ids[named.Deployment] = true
	shown, err := p.GetDeployment(ctx, named.Deployment)
	if err != nil || !shown.OK() {
		return outcome.NotConfigured(key, "not configured: correct existing.deployment: GET of the deployment %s: %s",
			named.Deployment, seen(shown, err))
	}
	d := existing(named.Deployment, shown.Get("@this"))
	if d.First = cmp.Or(d.First, named.Revision); d.First == "" {
		return outcome.Needs("existing.revision", "; the deployment has no latest_revision_id")
	}
	if e.consider(ctx, p, d); len(e.found) == 0 {
		return outcome.NotConfigured(key, "not configured: set existing.deployment to a deployment whose latest revision is "+
			"DEPLOYED, with at most %d revisions", longestOfExisting)
	}
	if named.Revision == "" || slices.Contains(d.Revisions, named.Revision) {
		return nil
	}
	if a, err := p.GetRevision(ctx, d.ID, named.Revision); err != nil || !a.OK() {
		e.found = nil
		return outcome.NotConfigured("existing.revision",
			"not configured: correct existing.revision: GET of the revision %s: %s", named.Revision, seen(a, err))
	}
	if d.statuses == nil {
		d.Revisions = slices.Insert(d.Revisions, 0, named.Revision)
	}
	return nil
}

func seen(a *exchange.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	return outcome.SeenShort(a)
}

// existing is a deployment as the target shows it.
func existing(id string, shown gjson.Result) *Deployment {
	return &Deployment{ID: id, First: shown.Get("latest_revision_id").String(), Found: true,
		Body: map[string]any{"source": shown.Get("source").String()}}
}

// consider adds an existing deployment, unless it is known not to be DEPLOYED, or its history is too long. That
// something of it cannot be read is for the scenarios to find. It tells whether the target has answered.
func (e *Existing) consider(ctx context.Context, p *Plane, d *Deployment) (answered bool) {
	latest, err := p.GetRevision(ctx, d.ID, d.First)
	if err == nil && latest.OK() && latest.Get("status").Exists() && !IsDeployed(latest.Get("status").String()) {
		return true
	}
	var all List
	if err == nil {
		all, err = p.ListAll(ctx, d.ID, "")
	}
	ids := all.IDs()
	if len(ids) > longestOfExisting {
		return true
	}
	d.Revisions = []string{d.First}
	if err == nil && slices.Contains(ids, d.First) {
		slices.Reverse(ids)
		d.Revisions = append(slices.DeleteFunc(ids, func(id string) bool { return id == d.First }), d.First)
		d.statuses = map[string]bool{}
		for _, row := range all.Rows {
			d.statuses[row.Get("status").String()] = true
		}
	}
	e.found = append(e.found, d)
	return err == nil
}

// Assume has the deployment that the configuration names stand for one that can be read, with a long history: what can
// be known of a run without asking the target.
func (e *Existing) Assume() {
	named := e.sources.config.Existing.Deployment
	if named == "" || e.sources.CanCreate() == nil {
		return
	}
	e.found = []*Deployment{{ID: named, Revisions: make([]string, longestOfExisting), Found: true,
		statuses: map[string]bool{"DEPLOYED": true, "BUILD_FAILED": true}}}
}

// NoneExisting is what is known before a target was asked.
func NoneExisting(c *config.Config) *Existing {
	return &Existing{ids: map[string]bool{}, sources: SourcesOf(c)}
}

// Serves skips what reads a longer history than may be created, or what no existing deployment has.
func (e *Existing) Serves(r features.Reads) error {
	listed := max(r.Revisions, min(r.Settled, 1)) // so many revisions are to be listed
	if e.sources.CanCreate() == nil {
		if most := e.sources.config.MaxRevisions; listed > 0 && most > 0 && most < longHistory {
			return outcome.Skipped(reports.OverBudget, "max_revisions",
				"the budget is too small: raise max_revisions to %d (now %d)", longHistory, most)
		}
		return nil
	}
	if err := e.Readable(max(r.Deployments, min(listed, 1))); err != nil || listed == 0 {
		return err
	}
	first := e.found[0]
	unsettled := func(status string) bool { return !IsSettled(status) }
	switch {
	case first.statuses == nil || len(first.Revisions) < listed:
		return e.lacks(fmt.Sprintf("; no existing deployment has %d revisions that can be listed", listed))
	case r.Settled > 0 && slices.ContainsFunc(slices.Collect(maps.Keys(first.statuses)), unsettled):
		return e.lacks("; a revision of the existing deployment has not settled")
	case len(first.statuses) < r.Settled:
		return e.lacks(fmt.Sprintf("; the revisions of the existing deployment are not in %d different statuses", r.Settled))
	}
	return nil
}

// Deployments returns two deployments that were there before the run, as far as there are any.
func (e *Existing) Deployments() []*Deployment {
	return e.found[:min(2, len(e.found))]
}

// mayWrite ends a scenario as a mistake of the suite that would change what was there before the run.
func (e *Existing) mayWrite(r exchange.Request) error {
	for id := range e.ids {
		if r.Path == DeploymentPath(id) || strings.HasPrefix(r.Path, DeploymentPath(id)+"/") {
			return outcome.SuiteError("%s %s would change a deployment that this run has not created", r.Method, r.Path)
		}
	}
	return nil
}

// Readable skips where there are fewer deployments to read than so many, and none can be created.
func (e *Existing) Readable(n int) error {
	missing := e.sources.CanCreate()
	switch {
	case missing == nil || len(e.Deployments()) >= n:
		return nil
	case e.unfit != nil:
		return e.unfit
	case e.sources.config.ReadOnly && e.sources.config.HasCredentials() && len(e.found) == 0:
		return outcome.Needs("existing.deployment", ", the id of a DEPLOYED deployment")
	}
	return missing
}

// lacks skips what no existing deployment has, and one that the run creates would have.
func (e *Existing) lacks(explanation string) error {
	if e.sources.config.ReadOnly {
		return outcome.ReadOnly(explanation)
	}
	return outcome.Needs("create.body", explanation)
}

// Named skips where the configuration names no existing deployment that can be read. What is sent to its agent server
// has the credentials of users, which are for no other.
func (e *Existing) Named() error {
	if e.sources.config.Existing.Deployment == "" {
		return outcome.Needs("existing.deployment", ", or agent_target, the base URL of an agent server")
	}
	return e.Readable(1)
}

// Unchanged says that somebody else has changed an existing deployment while it was judged.
func (p *Plane) Unchanged(ctx context.Context, d *Deployment) error {
	all, err := p.ListAll(ctx, d.ID, "")
	if err != nil || !all.Answer.OK() {
		return err
	}
	shown, err := p.GetDeployment(ctx, d.ID)
	if err != nil {
		return err
	}
	if !SameIDs(all.IDs(), d.Revisions) && shown.Get("latest_revision_id").String() != d.Latest() {
		return outcome.Inconclusive("the existing deployment %s got a new revision during the run", d.ID)
	}
	return nil
}
