package plane

import (
	"cmp"

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

// Body returns the create body of the configuration under the name, with changes applied. A change to nil takes
// the key out.
func (s Sources) Body(name string, changes map[string]any) map[string]any {
	body := CloneObject(s.config.Create.Body)
	Rename(body, name)
	return Changed(body, changes)
}

// Another returns a change of the source revision configuration to the second source that is configured, and
// the key that would configure it where none is.
func (s Sources) Another() (change map[string]any, key string) {
	return s.alternative("repo_ref", s.config.Alternatives.RepoRef, "image_uri", s.config.Alternatives.ImageURI)
}

// Broken is like Another, for a source that cannot be built.
func (s Sources) Broken() (change map[string]any, key string) {
	a := s.config.Alternatives
	return s.alternative("broken_ref", a.BrokenRef, "broken_image_uri", a.BrokenImageURI)
}

func (s Sources) alternative(refKey, ref, imageKey, image string) (change map[string]any, key string) {
	key, value := refKey, ref
	if s.config.Source() != config.GitHost {
		key, value = imageKey, image
	}
	if value != "" {
		change = map[string]any{s.Field(): value}
	}
	return change, "alternatives." + key
}

// Field is the field of the source revision configuration that belongs to the source that is created.
func (s Sources) Field() string {
	if s.config.Source() == config.GitHost {
		return "repo_ref"
	}
	return "image_uri"
}

// ValueOf returns the second value that is configured for a field of the source, or that of the template.
func (s Sources) ValueOf(field string) string {
	current, _ := Asked(s.config.Create.Body)[field].(string)
	a := s.config.Alternatives
	second := map[string]string{"repo_ref": a.RepoRef, "graph_config_path": a.GraphConfigPath, "image_uri": a.ImageURI}
	return cmp.Or(second[field], current)
}

// Next alternates between the second source and that of the template. Where no second one is configured the
// same value serves: any value that is not null makes a revision (section 2).
func (s Sources) Next(n int) map[string]any {
	if change, _ := s.Another(); change != nil && n%2 == 1 {
		return change
	}
	same := Asked(s.config.Create.Body)
	for _, field := range []string{"repo_ref", "image_uri", "graph_config_path"} {
		if value, ok := same[field].(string); ok {
			return map[string]any{field: value}
		}
	}
	change, _ := s.Another()
	return change
}

// Rename gives a body the name where it has one. It gets none where it has none: the interface shows no such field, and
// a target may refuse what it does not know.
func Rename(body map[string]any, name string) (named bool) {
	if _, named = body["name"]; named {
		body["name"] = name
	}
	return named
}

// Changed returns an object with changes applied. A change to nil takes the key out.
func Changed(object, changes map[string]any) map[string]any {
	changed := CloneObject(object)
	applyChanges(changed, changes)
	return changed
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

// CloneObject copies an object and the objects within it.
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

// SourceUpdate is the body of an update of the source revision configuration.
func SourceUpdate(change map[string]any) map[string]any {
	return map[string]any{"source_revision_config": change}
}

// Asked returns what a create body asks of the source revision configuration.
func Asked(body map[string]any) map[string]any {
	object, _ := body["source_revision_config"].(map[string]any)
	return object
}
