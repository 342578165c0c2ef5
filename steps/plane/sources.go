package plane

import (
	"cmp"
	"maps"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Sources are the sources of deployments in a configuration: the source in create.body and the alternatives.
type Sources struct{ config *config.Config }

// SourcesOf returns the sources of a configuration.
func SourcesOf(c *config.Config) Sources { return Sources{c} }

// CanCreate returns nil if deployments can be created. Otherwise it returns a skip: the configuration lacks a key, or
// the test run only reads. Without a target it returns nil, because other skips name that key.
func (s Sources) CanCreate() error {
	switch {
	case s.config.Target == "":
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

// Body returns a copy of create.body with the name and the changes (see [Changed]).
func (s Sources) Body(name string, changes map[string]any) map[string]any {
	body := Changed(s.config.Create.Body, changes)
	Rename(body, name)
	return body
}

// Another returns a change of the source revision configuration to the second source, and the key that configures it. The
// change is nil if none is configured.
func (s Sources) Another() (change map[string]any, key string) {
	return s.changeTo(s.second(s.Field())), "alternatives." + s.Field()
}

// Broken returns a change to a source that cannot be built, and the key that configures it. The change is nil if none is
// configured.
func (s Sources) Broken() (change map[string]any, key string) {
	a := s.config.Alternatives
	if s.Field() == "image_uri" {
		return s.changeTo(a.BrokenImageURI), "alternatives.broken_image_uri"
	}
	return s.changeTo(a.BrokenRef), "alternatives.broken_ref"
}

// changeTo returns a change to the source, or nil if it is "".
func (s Sources) changeTo(source string) map[string]any {
	if source == "" {
		return nil
	}
	return map[string]any{s.Field(): source}
}

// Field returns the field of the source revision configuration that identifies the version of the source.
func (s Sources) Field() string {
	if s.config.Source() == config.GitHost {
		return "repo_ref"
	}
	return "image_uri"
}

// second returns the configured second value for a field of the source, or "".
func (s Sources) second(field string) string {
	switch field {
	case "repo_ref":
		return s.config.Alternatives.RepoRef
	case "graph_config_path":
		return s.config.Alternatives.GraphConfigPath
	case "image_uri":
		return s.config.Alternatives.ImageURI
	}
	return ""
}

// ValueOf returns the configured second value for a field of the source, or else the value in create.body.
func (s Sources) ValueOf(field string) string {
	current, _ := RevisionConfig(s.config.Create.Body)[field].(string)
	return cmp.Or(s.second(field), current)
}

// Next returns the nth change of a sequence that alternates between the second source and that of create.body. If no
// second one is configured, all changes are to the current value: any value that is not null creates a revision
// (section 2).
func (s Sources) Next(n int) map[string]any {
	change, _ := s.Another()
	if change != nil && n%2 == 1 {
		return change
	}
	same := RevisionConfig(s.config.Create.Body)
	for _, field := range []string{"repo_ref", "image_uri", "graph_config_path"} {
		if value, ok := same[field].(string); ok {
			return map[string]any{field: value}
		}
	}
	return change
}

// Rename sets the name in a body that has a name. It adds none to other bodies, because the interface does not define the
// field and a target may refuse it.
func Rename(body map[string]any, name string) {
	if _, isNamed := body["name"]; isNamed {
		body["name"] = name
	}
}

// Changed returns an object with the changes, including changes of nested objects. A change to nil deletes the key. It
// does not create a nested object only to delete a key in it.
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
			merged := Changed(existing, inner)
			if existing != nil || len(merged) > 0 {
				changed[key] = merged
			}
		default:
			changed[key] = value
		}
	}
	return changed
}

// SourceUpdate returns the body of an update of the source revision configuration.
func SourceUpdate(change map[string]any) map[string]any {
	return map[string]any{"source_revision_config": change}
}

// RevisionConfig returns the source revision configuration in a body, or nil.
func RevisionConfig(body map[string]any) map[string]any {
	object, _ := body["source_revision_config"].(map[string]any)
	return object
}
