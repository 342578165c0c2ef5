package plane

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

func (p *Plane) Get(ctx context.Context, path, query string) (*client.Answer, error) {
	request := p.target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)
	request.Query = query
	return p.target.Client.Do(ctx, request)
}

// Template returns the create body of the configuration under the name, with changes applied. A change to nil takes
// the key out.
func (p *Plane) Template(name string, changes map[string]any) map[string]any {
	body := CloneObject(p.target.Config.Create.Body)
	Rename(body, name)
	applyChanges(body, changes)
	return body
}

// Rename gives a body the name where it has one. It gets none where it has none: the interface shows no such field, and
// a target may refuse what it does not know.
func Rename(body map[string]any, name string) (named bool) {
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

func CloneObject(object map[string]any) map[string]any {
	clone := make(map[string]any, len(object))
	for key, value := range object {
		if inner, ok := value.(map[string]any); ok {
			value = CloneObject(inner)
		}
		clone[key] = value
	}
	return clone
}

// AnotherSource returns a change of the source revision configuration to the second source that is configured, and
// the key that would configure it where none is.
func (p *Plane) AnotherSource() (change map[string]any, key string) {
	a := p.target.Config.Alternatives
	if p.target.Config.Source() == config.GitHost {
		return optional("repo_ref", a.RepoRef), "alternatives.repo_ref"
	}
	return optional("image_uri", a.ImageURI), "alternatives.image_uri"
}

// SecondSource skips where no second source is configured.
func (p *Plane) SecondSource() error {
	if change, key := p.AnotherSource(); change == nil {
		return outcome.Needs(key)
	}
	return nil
}

// BrokenSource is like anotherSource, for a source that cannot be built.
func (p *Plane) BrokenSource() (change map[string]any, key string) {
	a := p.target.Config.Alternatives
	if p.target.Config.Source() == config.GitHost {
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

// SourceUpdate is the body of an update of the source revision configuration.
func SourceUpdate(change map[string]any) map[string]any {
	return map[string]any{"source_revision_config": change}
}

// Asked returns what a create body asks of the source revision configuration.
func Asked(body map[string]any) map[string]any {
	object, _ := body["source_revision_config"].(map[string]any)
	return object
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

func IDs(rows []gjson.Result) []string {
	all := make([]string, len(rows))
	for i, row := range rows {
		all[i] = row.Get("id").String()
	}
	return all
}

func PageOf(limit, offset int) string {
	return "limit=" + strconv.Itoa(limit) + "&offset=" + strconv.Itoa(offset)
}

func pageOfDeployments(limit, offset int, name string) string {
	return PageOf(limit, offset) + "&name_contains=" + url.QueryEscape(name)
}

// ListDeployments reads the deployments with a name. The operation is the field's, not the interface's: where the
// target has none, supported is false.
func (p *Plane) ListDeployments(ctx context.Context, name string) (found []string, supported bool, err error) {
	const size, most = 100, 20
	for page := range most {
		request := p.target.ToControlPlane(target.TheClient, http.MethodGet, DeploymentsPath, nil)
		request.Query = pageOfDeployments(size, page*size, name)
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

// edition returns the source that only the other edition offers.
func ForeignSource(edition string) string {
	if edition == config.SelfHosted {
		return config.GitHost
	}
	return config.ExternalContainer
}

// SourceField is the field of the source revision configuration that belongs to the source that is created.
func (p *Plane) SourceField() string {
	if p.target.Config.Source() == config.GitHost {
		return "repo_ref"
	}
	return "image_uri"
}

// bothFields make a revision each when they come alone.
var SourceFields = []string{"repo_ref", "graph_config_path"}

// ValueFor returns the second value that is configured for a field of a git_host, or that of the template.
func (p *Plane) ValueFor(field string) string {
	stands, _ := Asked(p.target.Config.Create.Body)[field].(string)
	if field == "repo_ref" {
		return cmp.Or(p.target.Config.Alternatives.RepoRef, stands)
	}
	return cmp.Or(p.target.Config.Alternatives.GraphConfigPath, stands)
}
