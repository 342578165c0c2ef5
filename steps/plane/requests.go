package plane

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/shared"
	"github.com/agentconform/agentconform/steps/target"
)

// Get reads from the control plane as the client.
func (p *Plane) Get(ctx context.Context, path, query string) (*client.Answer, error) {
	request := p.target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)
	request.Query = query
	return p.target.Client.Do(ctx, request)
}

// GetEach asks for each revision of the deployment, one after the other.
func (p *Plane) GetEach(ctx context.Context, d *Deployment) ([]*client.Answer, error) {
	all := make([]*client.Answer, len(d.Revisions))
	for i, revision := range d.Revisions {
		a, err := p.Get(ctx, RevisionPath(d.ID, revision), "")
		if err != nil {
			return nil, err
		}
		all[i] = a
	}
	return all, nil
}

// ListAll reads all revisions of a deployment that the filter keeps ("" or "&status=..."). It needs neither the largest
// limit nor the returned offset, which have requirements of their own, and bears with a target that cuts every page
// to the default limit. The answer is the first page's; where that is no list, there are no rows.
func (p *Plane) ListAll(ctx context.Context, id, filter string) (all []gjson.Result, first *client.Answer, err error) {
	const size, defaultLimit, most = 50, 20, 100
	for range most {
		a, err := p.Get(ctx, RevisionsPath(id), PageOf(size, len(all))+filter)
		if err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = a
		}
		rows := a.Get("resources")
		if !a.OK() || !rows.IsArray() {
			return all, first, nil
		}
		all = append(all, rows.Array()...)
		if n := len(rows.Array()); n != size && n != defaultLimit {
			return all, first, nil
		}
	}
	return nil, nil, outcome.Inconclusive("the list of revisions did not end after %d pages", most)
}

// IDs are the ids of the rows of a list.
func IDs(rows []gjson.Result) []string {
	all := make([]string, len(rows))
	for i, row := range rows {
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

// ListDeployments reads the deployments with a name. The operation is a vendor extension: where the
// target has none, supported is false.
func (p *Plane) ListDeployments(ctx context.Context, name string) (found []string, supported bool, err error) {
	const size, most = 100, 20
	for page := range most {
		request := p.target.ToControlPlane(target.TheClient, http.MethodGet, DeploymentsPath, nil)
		request.Query = PageOf(size, page*size) + "&name_contains=" + url.QueryEscape(name)
		a, err := p.target.Client.Do(ctx, request)
		if err != nil {
			return nil, false, err
		}
		rows := a.Get("resources")
		if a.Status != http.StatusOK || !rows.IsArray() {
			return nil, false, nil
		}
		for _, row := range rows.Array() {
			if row.Get("name").String() == name {
				found = append(found, row.Get("id").String())
			}
		}
		if len(rows.Array()) < size {
			break
		}
	}
	return found, true, nil
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
	if p.Existing.has(id) {
		return "it was there before the run"
	}
	a, err := p.target.Client.Do(ctx, p.target.ToControlPlane(target.TheClient, http.MethodDelete, DeploymentPath(id), nil))
	switch {
	case err != nil:
		return client.Reason(err)
	case a.OK() || a.Status == http.StatusNotFound:
		return ""
	}
	return p.target.Redact.Excerpt(outcome.SeenShort(a))
}

// RowWithID returns the row of a list that has the id.
func RowWithID(rows []gjson.Result, id string) (gjson.Result, bool) {
	for _, row := range rows {
		if row.Get("id").String() == id {
			return row, true
		}
	}
	return gjson.Result{}, false
}

// Snapshot is how a deployment was at one time.
type Snapshot struct {
	Deployment *client.Answer
	List       *client.Answer // of its revisions; the first page
	Latest     string
	Revisions  []string
}

// Snapshot reads how the deployment is now: the deployment itself, and the ids of its revisions.
func (p *Plane) Snapshot(ctx context.Context, d *Deployment) (*Snapshot, error) {
	shown, err := p.Get(ctx, DeploymentPath(d.ID), "")
	if err != nil {
		return nil, err
	}
	if !shown.OK() {
		return nil, outcome.Violated(shown, "the deployment", "%s", outcome.Seen(shown))
	}
	rows, a, err := p.ListAll(ctx, d.ID, "")
	if err == nil && (!a.OK() || !a.Get("resources").IsArray()) {
		err = outcome.Violated(a, "a list of revisions", "%s", outcome.Seen(a))
	}
	if err != nil {
		return nil, err
	}
	return &Snapshot{Deployment: shown, List: a, Latest: shown.Get("latest_revision_id").String(), Revisions: IDs(rows)}, nil
}

// look is what scenarios read of a shared deployment before they act. The first that needs it reads for all of them: nobody changes such
// a deployment. What a scenario judges it reads itself.
type look = shared.Value[[]*client.Answer]

// LookAt returns how the path was answered when the first scenario asked for it under the name.
func (p *Plane) LookAt(ctx context.Context, name, path string) (*client.Answer, error) {
	all, err := p.look(path).Get(ctx, p.maker, name, func(ctx context.Context) ([]*client.Answer, error) {
		a, err := p.AwaitFound(ctx, path)
		return []*client.Answer{a}, err
	})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// LookAtEach returns how each revision of the deployment was answered when the first scenario asked for it.
func (p *Plane) LookAtEach(ctx context.Context, d *Deployment) ([]*client.Answer, error) {
	return p.look(RevisionsPath(d.ID)).Get(ctx, p.maker, "a look at each revision", func(ctx context.Context) ([]*client.Answer, error) {
		return p.GetEach(ctx, d)
	})
}

// look is the look at the path; not done yet where nobody asked for it.
func (p *Plane) look(path string) *look {
	first, _ := p.looks.LoadOrStore(path, &look{})
	return first.(*look)
}

// Address is a URL in a deployment, with its path there, as agent_url_from names it (GJSON syntax).
type Address struct{ Path, URL string }

// AddressesIn finds the first few strings in a deployment that are http or https URLs, without those that the suite has sent itself,
// such as that of the repository: these are in the JSON text.
func AddressesIn(a *client.Answer, sent []byte) (found []Address) {
	const most = 3
	for way, value := range client.Values(a.Get("@this")) {
		text := value.Str
		u, err := url.Parse(text)
		if err != nil || !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Host == "" || bytes.Contains(sent, target.Encode(text)) {
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
