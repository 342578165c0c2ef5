package steps

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// deploymentsPath is where the deployments are (section 4).
const deploymentsPath = "/v2/deployments"

func deploymentPath(id string) string { return deploymentsPath + "/" + url.PathEscape(id) }
func revisionsPath(id string) string  { return deploymentPath(id) + "/revisions" }
func revisionPath(id, revision string) string {
	return revisionsPath(id) + "/" + url.PathEscape(revision)
}

// toControlPlane makes a request to the control plane by the asker. The body is sent as JSON; a []byte is sent as
// it is.
func (r *run) toControlPlane(who asker, method, path string, body any) client.Request {
	request := client.Request{
		Side: spec.ControlPlane, Base: r.config.Target, Method: method, Path: path,
		Header: r.credentials(who), Timeout: r.config.Timeouts.Request, Trusted: who == theClient || isScheme(who),
	}
	switch body := body.(type) {
	case nil:
	case []byte:
		request.Body = body
	default:
		request.Body = encode(body)
	}
	if request.Body != nil {
		request.Header["Content-Type"] = []string{"application/json"}
	}
	return request
}

func (r *run) get(ctx context.Context, path, query string) (*client.Answer, error) {
	request := r.toControlPlane(theClient, http.MethodGet, path, nil)
	request.Query = query
	return r.client.Do(ctx, request)
}

// template returns the create body of the configuration under the name, with changes applied. A change to nil takes
// the key out.
func (r *run) template(name string, changes map[string]any) map[string]any {
	body := cloneObject(r.config.Create.Body)
	rename(body, name)
	applyChanges(body, changes)
	return body
}

// rename gives a body the name where it has one. It gets none where it has none: the interface shows no such field, and
// a target may refuse what it does not know.
func rename(body map[string]any, name string) (named bool) {
	if _, named = body["name"]; named {
		body["name"] = name
	}
	return named
}

func applyChanges(object, changes map[string]any) {
	for key, value := range changes {
		inner, isObject := value.(map[string]any)
		existing, _ := object[key].(map[string]any)
		switch {
		case value == nil:
			delete(object, key)
		case isObject && existing != nil:
			applyChanges(existing, inner)
		default:
			object[key] = value
		}
	}
}

func cloneObject(object map[string]any) map[string]any {
	clone := make(map[string]any, len(object))
	for key, value := range object {
		if inner, ok := value.(map[string]any); ok {
			value = cloneObject(inner)
		}
		clone[key] = value
	}
	return clone
}

// anotherSource returns a change of the source revision configuration to the second source that is configured, and
// the key that would configure it where none is.
func (r *run) anotherSource() (change map[string]any, key string) {
	a := r.config.Alternatives
	if r.config.Source() == config.GitHost {
		return optional("repo_ref", a.RepoRef), "alternatives.repo_ref"
	}
	return optional("image_uri", a.ImageURI), "alternatives.image_uri"
}

// brokenSource is like anotherSource, for a source that cannot be built.
func (r *run) brokenSource() (change map[string]any, key string) {
	a := r.config.Alternatives
	if r.config.Source() == config.GitHost {
		return optional("repo_ref", a.BrokenRef), "alternatives.broken_ref"
	}
	return optional("image_uri", a.BrokenImageURI), "alternatives.broken_image_uri"
}

func optional(field, value string) map[string]any {
	if value == "" {
		return nil
	}
	return map[string]any{field: value}
}

// sourceUpdate is the body of an update of the source revision configuration.
func sourceUpdate(change map[string]any) map[string]any {
	return map[string]any{"source_revision_config": change}
}

// asked returns what a create body asks of the source revision configuration.
func asked(body map[string]any) map[string]any {
	object, _ := body["source_revision_config"].(map[string]any)
	return object
}

// listAll reads all revisions of a deployment that the filter keeps ("" or "&status=..."). It needs neither the largest
// limit nor the returned offset, which have requirements of their own, and bears with a target that cuts every page
// to the default limit. The answer is the first page's; where that is no list, there are no rows.
func (r *run) listAll(ctx context.Context, id, filter string) (all []gjson.Result, first *client.Answer, err error) {
	const size, defaultLimit, most = 50, 20, 100
	for range most {
		a, err := r.get(ctx, revisionsPath(id), pageOf(size, len(all))+filter)
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
	return nil, nil, inconclusive("the list of revisions did not end after %d pages", most)
}

func ids(rows []gjson.Result) []string {
	all := make([]string, len(rows))
	for i, row := range rows {
		all[i] = row.Get("id").String()
	}
	return all
}

func pageOf(limit, offset int) string {
	return "limit=" + strconv.Itoa(limit) + "&offset=" + strconv.Itoa(offset)
}

func pageOfDeployments(limit, offset int, name string) string {
	return pageOf(limit, offset) + "&name_contains=" + url.QueryEscape(name)
}
