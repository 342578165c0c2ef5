package plane

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// reader reads from the control plane as the client. What a run knows of it plays no part.
type reader struct{ target *target.Target }

// Get reads from the control plane as the client.
func (r *reader) Get(ctx context.Context, path, query string) (*client.Answer, error) {
	request := r.target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)
	request.Query = query
	return r.target.Client.Do(ctx, request)
}

// GetEach asks for each revision of the deployment, one after the other.
func (r *reader) GetEach(ctx context.Context, d *Deployment) ([]*client.Answer, error) {
	all := make([]*client.Answer, len(d.Revisions))
	for i, revision := range d.Revisions {
		a, err := r.Get(ctx, RevisionPath(d.ID, revision), "")
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
func (r *reader) ListAll(ctx context.Context, id, filter string) (all []gjson.Result, first *client.Answer, err error) {
	const size, defaultLimit, most = 50, 20, 100
	for range most {
		a, err := r.Get(ctx, RevisionsPath(id), PageOf(size, len(all))+filter)
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

// PageOf is the query of a page.
func PageOf(limit, offset int) string {
	return "limit=" + strconv.Itoa(limit) + "&offset=" + strconv.Itoa(offset)
}

func pageOfDeployments(limit, offset int, name string) string {
	return PageOf(limit, offset) + "&name_contains=" + url.QueryEscape(name)
}

// ListDeployments reads the deployments with a name. The operation is a vendor extension: where the
// target has none, supported is false.
func (r *reader) ListDeployments(ctx context.Context, name string) (found []string, supported bool, err error) {
	const size, most = 100, 20
	for page := range most {
		request := r.target.ToControlPlane(target.TheClient, http.MethodGet, DeploymentsPath, nil)
		request.Query = pageOfDeployments(size, page*size, name)
		a, err := r.target.Client.Do(ctx, request)
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
