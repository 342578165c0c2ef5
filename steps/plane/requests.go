package plane

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/controlplane/judge"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// send sends a request as the client.
func (p *Plane) send(ctx context.Context, method, path string, body any) (*exchange.Response, error) {
	return p.target.Client.Do(ctx, p.target.ToControlPlane(target.TheClient, method, path, body))
}

// Get reads from the control plane as the client.
func (p *Plane) Get(ctx context.Context, path, query string) (*exchange.Response, error) {
	request := p.target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)
	request.Query = query
	return p.target.Client.Do(ctx, request)
}

// GetDeployment reads a deployment as the client.
func (p *Plane) GetDeployment(ctx context.Context, id string) (*exchange.Response, error) {
	return p.Get(ctx, DeploymentPath(id), "")
}

// GetRevision reads a revision as the client.
func (p *Plane) GetRevision(ctx context.Context, id, revision string) (*exchange.Response, error) {
	return p.Get(ctx, RevisionPath(id, revision), "")
}

// GetEach reads each revision of the deployment, one after the other.
func (p *Plane) GetEach(ctx context.Context, d *Deployment) ([]*exchange.Response, error) {
	all := make([]*exchange.Response, len(d.Revisions))
	for i, revision := range d.Revisions {
		a, err := p.GetRevision(ctx, d.ID, revision)
		if err != nil {
			return nil, err
		}
		all[i] = a
	}
	return all, nil
}

// LookAtEach returns a response for each revision of a deployment whose revisions do not change, such as the one with a
// long history or the existing deployment that replaces it. The responses are read once in a test run. A scenario that
// judges a revision reads it again.
func (p *Plane) LookAtEach(ctx context.Context, d *Deployment) ([]*exchange.Response, error) {
	return shared.Get(ctx, p.maker, "a look at each revision of "+d.ID, func(ctx context.Context) ([]*exchange.Response, error) {
		return p.GetEach(ctx, d)
	})
}

// ListAll reads the revisions of a deployment that match the filter ("" or "status=..."), page by page. It depends
// neither on the maximum limit nor on the returned offset, because other requirements judge them, and it accepts pages
// with the default limit. If the first page is not a list, the result has no rows.
func (p *Plane) ListAll(ctx context.Context, id, filter string) (all List, err error) {
	const size, defaultLimit = 50, 20
	maxPages := 100
	if p.endlessList.Load() { // other lists of this target do not end either
		maxPages /= 10
	}
	for range maxPages {
		a, err := p.Get(ctx, RevisionsPath(id), Query(PageOf(size, len(all.Rows)), filter))
		if err != nil {
			return List{}, err
		}
		if all.Response == nil {
			all.Response = a
		}
		if !a.OK() || !a.Get("resources").IsArray() {
			return all, nil
		}
		rows := a.Get("resources").Array()
		all.Rows = append(all.Rows, rows...)
		if len(rows) != size && len(rows) != defaultLimit {
			return all, nil
		}
	}
	p.endlessList.Store(true)
	return List{}, outcome.Inconclusive("the list of revisions did not end after %d pages", maxPages)
}

// List has the rows of one or several pages of a list of revisions.
type List struct {
	Rows     []gjson.Result
	Response *exchange.Response // if there are several pages, the first response, or the last if the scenario reads page by page
}

// ListOf returns the list of one page.
func ListOf(a *exchange.Response) List { return List{a.Get("resources").Array(), a} }

// IDs returns the ids of the rows.
func (l List) IDs() []string {
	all := make([]string, len(l.Rows))
	for i, row := range l.Rows {
		all[i] = row.Get("id").String()
	}
	return all
}

// PageOf returns the query for a page.
func PageOf(limit, offset int) string {
	return "limit=" + strconv.Itoa(limit) + "&offset=" + strconv.Itoa(offset)
}

// StatusFilter returns the query of a filter by statuses, or "" if there are none.
func StatusFilter(statuses ...string) string {
	joined := strings.Join(statuses, ",")
	if joined == "" {
		return ""
	}
	return "status=" + url.QueryEscape(joined)
}

// Query joins the parts of a query that are not empty.
func Query(parts ...string) string {
	var used []string
	for _, part := range parts {
		if part != "" {
			used = append(used, part)
		}
	}
	return strings.Join(used, "&")
}

// list reads the deployments that the target lists, each once, page by page until a page shows nothing new. This is a
// vendor extension: supported is false if a page is not served, unless that page may be refused because it is past the
// end.
func (p *Plane) list(ctx context.Context, filter string) (all []gjson.Result, supported bool, err error) {
	const size, maxPages = 100, 20
	shown := map[string]bool{}
	for page := range maxPages {
		a, err := p.Get(ctx, DeploymentsPath, Query(PageOf(size, len(shown)), filter))
		if err != nil {
			return all, false, err
		}
		if !a.OK() || !a.Get("resources").IsArray() {
			mayBePastTheEnd := page > 0 && a.IsRefused() && a.Status != http.StatusTooManyRequests
			return all, mayBePastTheEnd, nil
		}
		before := len(shown)
		for _, row := range a.Get("resources").Array() {
			id := exchange.IDKey(row.Get("id").String())
			if !shown[id] {
				shown[id] = true
				all = append(all, row)
			}
		}
		if len(shown) == before { // the end of the list, or a target that ignores offset
			break
		}
	}
	return all, true, nil
}

// FindByName returns the ids of the deployments with a name of this test run, and adds them to the ledger. supported
// reports whether the target lists deployments (a vendor extension).
func (p *Plane) FindByName(ctx context.Context, name string) (found []string, supported bool, err error) {
	rows, supported, err := p.list(ctx, "name_contains="+url.QueryEscape(name))
	for _, row := range rows { // even after an error, so that all known deployments are removed
		if row.Get("name").String() == name {
			id := row.Get("id").String()
			found = append(found, id)
			err = errors.Join(err, p.enter(ctx, id))
		}
	}
	return found, supported && err == nil, err
}

// enter adds a deployment to the ledger, unless it existed before the test run: then it must not be removed, even if a
// response claims that the test run has created it.
func (p *Plane) enter(ctx context.Context, id string) error {
	if id == "" || p.Existing.has(id) {
		return nil
	}
	return p.target.Ledger.Created(evidence.Deployment, id, evidence.Scenario(ctx))
}

// DeploymentsPath is the path of the deployments (section 4).
const DeploymentsPath = "/v2/deployments"

// DeploymentPath returns the path of a deployment. The target chooses the id, which may need escaping.
func DeploymentPath(id string) string { return DeploymentsPath + "/" + url.PathEscape(id) }

// RevisionsPath returns the path of the revisions of a deployment.
func RevisionsPath(id string) string { return DeploymentPath(id) + "/revisions" }

// RevisionPath returns the path of a revision.
func RevisionPath(id, revision string) string {
	return RevisionsPath(id) + "/" + url.PathEscape(revision)
}

// Remove removes a deployment. It returns the reason why it could not, or "". The operation is a vendor extension.
func (p *Plane) Remove(ctx context.Context, id string) (problem string) {
	if p.Existing.has(id) {
		return "it existed before the test run"
	}
	a, err := p.send(ctx, http.MethodDelete, DeploymentPath(id), nil)
	switch {
	case err != nil:
		return exchange.Reason(err)
	case a.OK() || a.Status == http.StatusNotFound:
		return ""
	}
	return p.target.Redact.Excerpt(outcome.SeenShort(a))
}

// Snapshot reads the deployment and the list of its revisions.
func (p *Plane) Snapshot(ctx context.Context, d *Deployment) (judge.Snapshot, error) {
	var none judge.Snapshot
	shown, err := p.GetDeployment(ctx, d.ID)
	if err != nil {
		return none, err
	}
	if !shown.OK() {
		return none, outcome.Fails(shown, outcome.Violation{Kind: outcome.Unserved(shown),
			Summary: fmt.Sprintf("GET of the deployment returns %d", shown.Status), Expected: "2xx"})
	}
	l, err := p.ListAll(ctx, d.ID, "")
	if err != nil {
		return none, err
	}
	if !l.Response.OK() || !l.Response.Get("resources").IsArray() {
		return none, outcome.Fails(l.Response, outcome.Violation{Kind: outcome.Unserved(l.Response),
			Summary: "The list of revisions cannot be read", Expected: "2xx, with an array in resources"})
	}
	latest := shown.Get("latest_revision_id").String()
	return judge.Snapshot{Deployment: shown, List: l.Response, Latest: latest, Revisions: l.IDs()}, nil
}

// Address is a URL in the JSON of a deployment. Path is its place in the syntax of agent_url_from (GJSON).
type Address struct{ Path, URL string }

// AddressesIn returns the first http and https URLs in a deployment. It omits URLs that the suite itself has sent, such
// as the URL of the repository. sent is the JSON of the request.
func AddressesIn(a *exchange.Response, sent []byte) (found []Address) {
	const maxFound = 3
	for way, value := range exchange.Values(a.Get("@this")) {
		text := value.Str
		u, err := url.Parse(text)
		isURL := err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
		if !isURL || bytes.Contains(sent, target.Encode(text)) {
			continue
		}
		names := make([]string, len(way))
		for i, name := range way {
			names[i] = gjson.Escape(name)
		}
		found = append(found, Address{strings.Join(names, "."), text})
		if len(found) == maxFound {
			break
		}
	}
	return found
}
