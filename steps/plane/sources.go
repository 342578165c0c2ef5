package plane

import (
	"cmp"
	"maps"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Sources are what deployments are made from, as the configuration tells.
type Sources struct{ config *config.Config }

// SourcesOf are those of a configuration.
func SourcesOf(c *config.Config) Sources { return Sources{c} }

// CanCreate skips where the configuration lacks what a deployment is created with, or the run only reads.
func (s Sources) CanCreate() error {
	switch {
	case s.config.Target == "": // said by what needs a control plane
		return nil
	case !s.config.HasCredentials():
		return outcome.Needs("credentials.api_key")
	case s.config.ReadOnly:
		return outcome.ReadOnly()
	case len(s.config.Create.Body) == 0:
		return outcome.Needs("create.body")
	}
	return nil
}

// Body is the create body of the configuration under the name, with changes applied (see [Changed]).
func (s Sources) Body(name string, changes map[string]any) map[string]any {
	body := Changed(s.config.Create.Body, changes)
	Rename(body, name)
	return body
}

// Another returns a change of the source revision configuration to the second source that is configured, and
// the key that would configure it where none is.
func (s Sources) Another() (change map[string]any, key string) {
	return s.changeTo(s.second(s.Field())), "alternatives." + s.Field()
}

// Broken is like Another, for a source that cannot be built.
func (s Sources) Broken() (change map[string]any, key string) {
	a := s.config.Alternatives
	if s.Field() == "image_uri" {
		return s.changeTo(a.BrokenImageURI), "alternatives.broken_image_uri"
	}
	return s.changeTo(a.BrokenRef), "alternatives.broken_ref"
}

func (s Sources) changeTo(source string) map[string]any {
	if source == "" {
		return nil
	}
	return map[string]any{s.Field(): source}
}

// Field is the field of the source revision configuration that belongs to the source that is created.
func (s Sources) Field() string {
	if s.config.Source() == config.GitHost {
		return "repo_ref"
	}
	return "image_uri"
}

// second is the second value that is configured for a field of the source, or "".
func (s Sources) second(field string) string {
	a := s.config.Alternatives
	return map[string]string{
		"repo_ref":          a.RepoRef,
		"graph_config_path": a.GraphConfigPath,
		"image_uri":         a.ImageURI,
	}[field]
}

// ValueOf returns the second value that is configured for a field of the source, or that of the template.
func (s Sources) ValueOf(field string) string {
	current, _ := Asked(s.config.Create.Body)[field].(string)
	return cmp.Or(s.second(field), current)
}

// Next alternates between the second source and that of the template. Where no second one is configured the
// same value serves: any value that is not null makes a revision (section 2).
func (s Sources) Next(n int) map[string]any {
	change, _ := s.Another()
	if change != nil && n%2 == 1 {
		return change
	}
	same := Asked(s.config.Create.Body)
	for _, field := range []string{"repo_ref", "image_uri", "graph_config_path"} {
		if value, ok := same[field].(string); ok {
			return map[string]any{field: value}
		}
	}
	return change
}

// Rename gives a body the name where it has one: the interface shows no such field, and a target may refuse it.
func Rename(body map[string]any, name string) {
	if _, named := body["name"]; named {
		body["name"] = name
	}
}

// Changed returns an object with changes applied, also to the objects within it. A change to nil takes the key out, and
// makes no object where there is none.
func Changed(object, changes map[string]any) map[string]any {
	changed := map[string]any{}
	maps.Copy(changed, object)
	for key, value := range changes {
		inner, isObject := value.(map[string]any)
		existing, _ := changed[key].(map[string]any)
		switch {
		case value == nil:
			delete(changed, key)
		case isObject:
			if merged := Changed(existing, inner); existing != nil || len(merged) > 0 {
				changed[key] = merged
			}
		default:
			changed[key] = value
		}
	}
	return changed
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
