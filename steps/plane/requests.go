package plane

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// send sends a request by the client.
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

// GetEach asks for each revision of the deployment, one after the other.
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

// LookAtEach returns how each revision of the deployment with a long history, or of the one that takes its place, was
// answered when the first scenario asked for it: nobody changes it. What a scenario judges it reads itself.
func (p *Plane) LookAtEach(ctx context.Context, d *Deployment) ([]*exchange.Response, error) {
	return shared.Get(ctx, p.maker, "a look at each revision", func(ctx context.Context) ([]*exchange.Response, error) {
		return p.GetEach(ctx, d)
	})
}

// ListAll reads all revisions of a deployment that the filter keeps ("" or "status=..."). It needs neither the largest
// limit nor the returned offset, which have requirements of their own, and bears with a target that cuts every page
// to the default limit. The answer is the first page's; where that is no list, there are no rows.
func (p *Plane) ListAll(ctx context.Context, id, filter string) (all List, err error) {
	const size, defaultLimit = 50, 20
	most := 100
	if p.endless.Load() { // nor do the others end
		most /= 10
	}
	for range most {
		a, err := p.Get(ctx, RevisionsPath(id), Query(PageOf(size, len(all.Rows)), filter))
		if err != nil {
			return List{}, err
		}
		all.Answer = cmp.Or(all.Answer, a)
		rows := a.Get("resources")
		if !a.OK() || !rows.IsArray() {
			return all, nil
		}
		all.Rows = append(all.Rows, rows.Array()...)
		if n := len(rows.Array()); n != size && n != defaultLimit {
			return all, nil
		}
	}
	p.endless.Store(true)
	return List{}, outcome.Inconclusive("the list of revisions did not end after %d pages", most)
}

// List is what one page of a list of revisions holds, or several.
type List struct {
	Rows   []gjson.Result
	Answer *exchange.Response // of several pages the first, or the last where a client goes from page to page itself
}

// ListOf is the list of one page.
func ListOf(a *exchange.Response) List { return List{a.Get("resources").Array(), a} }

// IDs are the ids of its rows.
func (l List) IDs() []string {
	all := make([]string, len(l.Rows))
	for i, row := range l.Rows {
		all[i] = row.Get("id").String()
	}
	return all
}

// SameIDs tells whether two lists hold the same ids, in whichever order.
func SameIDs(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// PageOf is the query of a page.
func PageOf(limit, offset int) string {
	return "limit=" + strconv.Itoa(limit) + "&offset=" + strconv.Itoa(offset)
}

// Query joins those parts of a query that are there.
func Query(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "&")
}

// listed reads the deployments that the target lists, each once, page by page until one shows nothing new. This is a
// vendor extension: where a page is not served, supported is false, unless it may be refused as one past the end.
func (p *Plane) listed(ctx context.Context, filter string) (all []gjson.Result, supported bool, err error) {
	const size, most = 100, 20
	shown := map[string]bool{}
	for page := range most {
		a, err := p.Get(ctx, DeploymentsPath, Query(PageOf(size, len(shown)), filter))
		if err != nil || !a.OK() || !a.Get("resources").IsArray() {
			mayBePastTheEnd := page > 0 && err == nil && a.IsRefused() && a.Status != http.StatusTooManyRequests
			return all, mayBePastTheEnd, err
		}
		before := len(shown)
		for _, row := range a.Get("resources").Array() {
			if id := row.Get("id").String(); !shown[id] {
				shown[id], all = true, append(all, row)
			}
		}
		if len(shown) == before { // the end, or a target that ignores offset
			break
		}
	}
	return all, true, nil
}

// Named reads the deployments with a name of this run into the ledger, where the target lists them (supported).
func (p *Plane) Named(ctx context.Context, name string) (found []string, supported bool, err error) {
	rows, supported, err := p.listed(ctx, "name_contains="+url.QueryEscape(name))
	for _, row := range rows { // also where not all could be read: what is known is removed
		if row.Get("name").String() == name {
			id := row.Get("id").String()
			found = append(found, id)
			err = errors.Join(err, p.enter(ctx, id))
		}
	}
	return found, supported && err == nil, err
}

// enter notes a deployment of the run in the ledger. What was there before is never removed, whatever an answer claims.
func (p *Plane) enter(ctx context.Context, id string) error {
	if id == "" || p.Existing.ids[id] {
		return nil
	}
	return p.target.Ledger.Created(evidence.Deployment, id, evidence.Scenario(ctx))
}

// DeploymentsPath is where the deployments are (section 4).
const DeploymentsPath = "/v2/deployments"

// DeploymentPath is where one deployment is. Ids are the target's own and may need escaping.
func DeploymentPath(id string) string { return DeploymentsPath + "/" + url.PathEscape(id) }

// RevisionsPath is where the revisions of a deployment are.
func RevisionsPath(id string) string { return DeploymentPath(id) + "/revisions" }

// RevisionPath is where one revision is.
func RevisionPath(id, revision string) string {
	return RevisionsPath(id) + "/" + url.PathEscape(revision)
}

// Remove removes a deployment, and says why it could not. The operation is a vendor extension.
func (p *Plane) Remove(ctx context.Context, id string) (problem string) {
	if p.Existing.ids[id] {
		return "it was there before the run"
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

// Snapshot is how a deployment was at one time.
type Snapshot struct {
	Deployment *exchange.Response
	List       *exchange.Response // of its revisions; the first page
	Latest     string
	Revisions  []string
}

// Snapshot reads how the deployment is now: the deployment itself, and the ids of its revisions.
func (p *Plane) Snapshot(ctx context.Context, d *Deployment) (*Snapshot, error) {
	shown, err := p.GetDeployment(ctx, d.ID)
	if err != nil {
		return nil, err
	}
	if !shown.OK() {
		return nil, outcome.Fails(shown, outcome.Violation{Kind: outcome.Unserved(shown),
			Summary: "GET of the deployment is refused", Expected: "the deployment"})
	}
	l, err := p.ListAll(ctx, d.ID, "")
	if err != nil {
		return nil, err
	}
	if !l.Answer.OK() || !l.Answer.Get("resources").IsArray() {
		return nil, outcome.Fails(l.Answer, outcome.Violation{Kind: outcome.Unserved(l.Answer),
			Summary: "GET returns no list of revisions", Expected: "a list of revisions"})
	}
	return &Snapshot{shown, l.Answer, shown.Get("latest_revision_id").String(), l.IDs()}, nil
}

// Address is a URL in a deployment, with its path there, as agent_url_from names it (GJSON syntax).
type Address struct{ Path, URL string }

// AddressesIn finds the first few strings in a deployment that are http or https URLs, without those that the suite has
// sent itself, such as that of the repository: these are in the JSON text.
func AddressesIn(a *exchange.Response, sent []byte) (found []Address) {
	const most = 3
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
		if found = append(found, Address{strings.Join(names, "."), text}); len(found) == most {
			break
		}
	}
	return found
}
