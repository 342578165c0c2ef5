package plane

import (
	"context"
	"fmt"
	"net/url"
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
	"github.com/agentconform/agentconform/steps/shared"
)

// Existing is the set of deployments that existed before the test run. If the test run cannot create deployments,
// scenarios that only read use these. The suite never writes to them and never adds them to the ledger.
type Existing struct {
	found   []*Deployment   // deployments that are DEPLOYED, in the order of preference
	ids     map[string]bool // keys of all deployments that were listed or named by the configuration
	unfit   error           // the skip for scenarios if existing.deployment cannot be used
	sources Sources
}

// The limits of the search for existing deployments. Scenarios send a request for each revision of the deployment that
// they read.
const (
	maxCandidates        = 10
	maxExistingRevisions = 200
)

// FindExisting looks for deployments to read if the configuration has credentials but none can be created. It uses the
// deployment existing.deployment, or else the deployments that the target lists (a vendor extension). Call it before
// scenarios start.
func (p *Plane) FindExisting(ctx context.Context) error {
	c := p.target.Config
	if !c.HasCredentials() || p.Sources.CanCreate() == nil {
		return nil
	}
	ctx = evidence.WithScenario(ctx, shared.Attribution("existing deployments"), 0)
	e := NoneExisting(c)
	if c.Existing.Deployment != "" {
		e.unfit = e.readNamed(ctx, p, c.Existing)
	} else {
		e.readListed(ctx, p)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	slices.SortStableFunc(e.found, comparePreference)
	p.Existing, p.target.Client.MayWrite = e, e.mayWrite
	return nil
}

// comparePreference returns a negative number if scenarios should read a rather than b. Deployments whose revisions can
// be listed are preferred, and among these the deployment with the longest history.
func comparePreference(a, b *Deployment) int {
	isListedA, isListedB := len(a.statuses) > 0, len(b.statuses) > 0
	if isListedA && !isListedB {
		return -1
	}
	if isListedB && !isListedA {
		return 1
	}
	return len(b.Revisions) - len(a.Revisions)
}

// readListed considers the first deployments in the target's list. It stops if the target does not respond, because each
// further deployment could cost another timeout.
func (e *Existing) readListed(ctx context.Context, p *Plane) {
	rows, _, _ := p.list(ctx, "")
	for _, row := range rows {
		e.ids[exchange.IDKey(row.Get("id").String())] = true
	}
	considered := 0
	for _, row := range rows {
		shown, id := row, row.Get("id").String()
		if uuid.Validate(id) != nil {
			continue
		}
		if considered == maxCandidates {
			return
		}
		considered++
		if row.Get("latest_revision_id").String() == "" {
			a, err := p.GetDeployment(ctx, id)
			if err != nil {
				return
			}
			shown = a.Get("@this")
		}
		if err := e.consider(ctx, p, newFound(id, shown)); err != nil {
			return
		}
	}
}

// readNamed reads the deployment existing.deployment. It returns a skip if the configuration is wrong: the deployment
// does not exist, is not DEPLOYED, or has too many revisions.
func (e *Existing) readNamed(ctx context.Context, p *Plane, named config.Existing) error {
	const key = "existing.deployment"
	e.ids[exchange.IDKey(named.Deployment)] = true
	shown, err := p.GetDeployment(ctx, named.Deployment)
	if err != nil || !shown.OK() {
		return outcome.NotConfigured(key, "not configured: correct existing.deployment: GET of the deployment %s: %s",
			named.Deployment, responseOrError(shown, err))
	}
	d := newFound(named.Deployment, shown.Get("@this"))
	if d.First == "" {
		d.First = named.Revision
	}
	if d.First == "" {
		return outcome.Needs("existing.revision", "; the deployment has no latest_revision_id")
	}
	_ = e.consider(ctx, p, d) // scenarios judge a deployment that cannot be read
	if len(e.found) == 0 {
		return outcome.NotConfigured(key, "not configured: set existing.deployment to a deployment whose latest revision is "+
			"DEPLOYED, with at most %d revisions", maxExistingRevisions)
	}
	if named.Revision == "" || exchange.ContainsID(d.Revisions, named.Revision) {
		return nil
	}
	a, err := p.GetRevision(ctx, d.ID, named.Revision)
	if err != nil || !a.OK() {
		e.found = nil
		return outcome.NotConfigured("existing.revision",
			"not configured: correct existing.revision: GET of the revision %s: %s", named.Revision, responseOrError(a, err))
	}
	if d.statuses == nil {
		d.Revisions = slices.Insert(d.Revisions, 0, named.Revision)
	}
	return nil
}

// responseOrError describes the response, or the error if there was none.
func responseOrError(a *exchange.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	return outcome.SeenShort(a)
}

// newFound returns an existing deployment from its JSON.
func newFound(id string, shown gjson.Result) *Deployment {
	return &Deployment{ID: id, First: shown.Get("latest_revision_id").String(), Found: true,
		Body: map[string]any{"source": shown.Get("source").String()}}
}

// consider adds an existing deployment, unless its latest revision is not DEPLOYED or its history is too long. It also
// adds a deployment that cannot be read, because scenarios judge that. It returns the errors of requests.
func (e *Existing) consider(ctx context.Context, p *Plane, d *Deployment) error {
	d.Revisions = []string{d.First}
	latest, err := p.GetRevision(ctx, d.ID, d.First)
	if err != nil {
		e.found = append(e.found, d)
		return err
	}
	if latest.OK() && latest.Get("status").Exists() && !IsDeployed(latest.Get("status").String()) {
		return nil
	}
	all, err := p.ListAll(ctx, d.ID, "")
	if len(all.Rows) > maxExistingRevisions {
		return nil
	}
	if err == nil && exchange.ContainsID(all.IDs(), d.First) {
		d.addListed(all)
	}
	e.found = append(e.found, d)
	return err
}

// addListed sets the revisions and their statuses from the list of a deployment that was found. The list has the newest
// revision first, and d.First is the latest revision.
func (d *Deployment) addListed(all List) {
	var revisions []string
	for _, id := range slices.Backward(all.IDs()) {
		if !exchange.SameID(id, d.First) {
			revisions = append(revisions, id)
		}
	}
	d.Revisions = append(revisions, d.First)
	d.statuses = map[string]bool{}
	for _, row := range all.Rows {
		d.statuses[row.Get("status").String()] = true
	}
}

// AssumeNamed assumes that existing.deployment can be read and has a long history. It is for a plan, which sends no
// requests.
func (e *Existing) AssumeNamed() {
	named := e.sources.config.Existing.Deployment
	if named == "" || e.sources.CanCreate() == nil {
		return
	}
	e.found = []*Deployment{{ID: named, Revisions: make([]string, maxExistingRevisions), Found: true,
		statuses: map[string]bool{"DEPLOYED": true, "BUILD_FAILED": true}}}
}

// With returns the same deployments for a configuration with more keys.
func (e *Existing) With(c *config.Config) *Existing {
	copied := *e
	copied.sources = SourcesOf(c)
	if e.sources.config.Existing != c.Existing {
		copied.unfit = nil
		copied.AssumeNamed()
	}
	return &copied
}

// NoneExisting returns an empty set, for use before the first request.
func NoneExisting(c *config.Config) *Existing {
	return &Existing{ids: map[string]bool{}, sources: SourcesOf(c)}
}

// CheckReads returns nil if a scenario can read everything that its tag @reads names. Otherwise it returns a skip: the
// history that the test run may create is too short, or no existing deployment has it.
func (e *Existing) CheckReads(r features.Reads) error {
	revisions := r.Revisions // the number of revisions that must be listed
	if r.Settled > 0 {
		revisions = max(revisions, 1)
	}
	if e.sources.CanCreate() == nil {
		return e.checkHistoryBudget(revisions)
	}
	deployments := r.Deployments
	if revisions > 0 {
		deployments = max(deployments, 1)
	}
	if err := e.CheckDeployments(deployments); err != nil || revisions == 0 {
		return err
	}
	first := e.found[0]
	if first.statuses == nil || len(first.Revisions) < revisions {
		return e.skipLacking(fmt.Sprintf("; no existing deployment has %d revisions that can be listed", revisions))
	}
	if r.Settled == 0 {
		return nil
	}
	for status := range first.statuses {
		if !IsSettled(status) {
			return e.skipLacking("; a revision of the existing deployment has not settled")
		}
	}
	if len(first.statuses) < r.Settled {
		return e.skipLacking(fmt.Sprintf("; the revisions of the existing deployment are not in %d different statuses",
			r.Settled))
	}
	return nil
}

// checkHistoryBudget returns a skip if revisions must be listed and the budget does not allow a long history.
func (e *Existing) checkHistoryBudget(revisions int) error {
	most := e.sources.config.MaxRevisions
	if revisions > 0 && most > 0 && most < longHistory {
		return outcome.Skipped(reports.OverBudget, "max_revisions",
			"the budget is too small: raise max_revisions to %d (now %d)", longHistory, most)
	}
	return nil
}

// Deployments returns up to two deployments that existed before the test run.
func (e *Existing) Deployments() []*Deployment {
	return e.found[:min(2, len(e.found))]
}

// has reports whether a deployment existed before the test run.
func (e *Existing) has(id string) bool { return e.ids[exchange.IDKey(id)] }

// mayWrite returns an error of the suite if a request would change a deployment from before the test run.
func (e *Existing) mayWrite(r exchange.Request) error {
	below, isDeployment := strings.CutPrefix(r.Path, DeploymentsPath+"/")
	segment, _, _ := strings.Cut(below, "/")
	id, err := url.PathUnescape(segment)
	if isDeployment && err == nil && e.has(id) {
		return outcome.SuiteError("%s %s would change a deployment that this run has not created", r.Method, r.Path)
	}
	return nil
}

// CheckDeployments returns nil if deployments can be created or at least n exist. Otherwise it returns a skip.
func (e *Existing) CheckDeployments(n int) error {
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

// skipLacking returns the skip for a feature that no existing deployment has, but a created one would have.
func (e *Existing) skipLacking(explanation string) error {
	if e.sources.config.ReadOnly {
		return outcome.ReadOnly(explanation)
	}
	return outcome.Needs("create.body", explanation)
}

// CheckNamed returns nil if existing.deployment can be read. Otherwise it returns a skip. Scenarios about the agent
// server use no other deployment, because their requests have the credentials of users.
func (e *Existing) CheckNamed() error {
	if e.sources.config.Existing.Deployment == "" {
		return outcome.Needs("existing.deployment", ", or agent_target, the base URL of an agent server")
	}
	return e.CheckDeployments(1)
}

// CheckUnchanged returns an inconclusive outcome if others have changed an existing deployment during the test run.
func (p *Plane) CheckUnchanged(ctx context.Context, d *Deployment) error {
	all, err := p.ListAll(ctx, d.ID, "")
	if err != nil || !all.Response.OK() {
		return err
	}
	shown, err := p.GetDeployment(ctx, d.ID)
	if err != nil {
		return err
	}
	isLatest := exchange.SameID(shown.Get("latest_revision_id").String(), d.Latest())
	if !isLatest && !exchange.SameIDs(all.IDs(), d.Revisions) {
		return outcome.Inconclusive("the existing deployment %s got a new revision during the test run", d.ID)
	}
	return nil
}
