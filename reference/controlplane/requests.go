package controlplane

import (
	"cmp"
	"encoding/json"
	"maps"

	"github.com/agentconform/agentconform/reference/controlplane/validate"
)

// createRequest is the body of a create.
type createRequest struct {
	name    string
	source  Source
	config  SourceConfig
	built   SourceRevisionConfig
	secrets []secretChange
}

// updateRequest is the body of an update; nil leaves things as they are.
type updateRequest struct {
	name        *string
	source      *string
	repoURL     *string
	buildOnPush *bool
	other       map[string]json.RawMessage
	built       SourceRevisionConfig
	secrets     []secretChange // nil when none were sent
}

// secretChange is a secret in a request. Without a value it keeps the one that is stored: clients send back what
// they were shown, and values are never shown.
type secretChange struct {
	name  string
	value *string
}

// asksForRevision says whether a non-null field triggers a new revision (interface, section 2).
func (u updateRequest) asksForRevision() bool {
	return u.built.RepoRef != nil || u.built.GraphConfigPath != nil || u.built.ImageURI != nil
}

// decodeCreate reads a create body. Fields that are read-only or unknown are passed over.
func decodeCreate(body []byte, problems *validate.Problems) createRequest {
	f := validate.Body(body, problems)
	var req createRequest
	if name := f.Text("name"); name != nil {
		req.name = *name
	} else if !f.Has("name") {
		f.Missing("name")
	}
	if source := f.Choice("source", names(Sources())); source != nil {
		req.source = Source(*source)
	} else if !f.Has("source") {
		f.Missing("source")
	}
	config, built := f.Object("source_config"), f.Object("source_revision_config")
	update := decodeSourceConfig(config)
	req.config = SourceConfig{RepoURL: update.repoURL, Other: update.other}
	if update.buildOnPush != nil {
		req.config.BuildOnPush = *update.buildOnPush
	}
	req.built = decodeRevisionConfig(built)
	req.secrets = decodeSecrets(f)

	switch req.source {
	case GitHost:
		if !config.Has("repo_url") {
			config.Missing("repo_url")
		}
	case ExternalContainer, InternalContainer:
		if !built.Has("image_uri") {
			built.Missing("image_uri")
		}
	}
	checkApplies(req.source, req.built, problems)
	return req
}

// decodeUpdate reads an update body.
func decodeUpdate(body []byte, problems *validate.Problems) updateRequest {
	f := validate.Body(body, problems)
	u := decodeSourceConfig(f.Object("source_config"))
	u.name = f.Text("name")
	u.source = f.Choice("source", names(Sources()))
	u.built = decodeRevisionConfig(f.Object("source_revision_config"))
	u.secrets = decodeSecrets(f)
	return u
}

func decodeSourceConfig(f validate.Fields) updateRequest {
	return updateRequest{
		repoURL:     f.Text("repo_url"),
		buildOnPush: f.Bool("build_on_push"),
		other:       f.Others("repo_url", "build_on_push", "custom_url"), // the last is ours to say
	}
}

func decodeRevisionConfig(f validate.Fields) SourceRevisionConfig {
	return SourceRevisionConfig{
		RepoRef:         f.Text("repo_ref"),
		GraphConfigPath: f.Text("graph_config_path"),
		ImageURI:        f.Text("image_uri"),
	}
}

func decodeSecrets(f validate.Fields) []secretChange {
	items := f.Secrets("secrets")
	if items == nil {
		return nil
	}
	secrets := make([]secretChange, 0, len(items))
	for _, item := range items {
		name, value := item.Text("name"), item.String("value")
		if !item.Has("name") {
			item.Missing("name")
		}
		if name != nil {
			secrets = append(secrets, secretChange{name: *name, value: value})
		}
	}
	return secrets
}

// checkApplies complains of fields that have no meaning for the source (interface, section 2, "Applies to source").
// internal_container is given an image as well: the interface names no other way to say what to run.
func checkApplies(source Source, c SourceRevisionConfig, problems *validate.Problems) {
	refuse := func(field string, value *string) {
		if value != nil {
			problems.Add([]any{"body", "source_revision_config", field}, "value_error",
				"Value error, "+field+" does not apply to the source "+string(source), *value)
		}
	}
	switch source {
	case GitHost:
		refuse("image_uri", c.ImageURI)
	case ExternalContainer, InternalContainer:
		refuse("repo_ref", c.RepoRef)
		refuse("graph_config_path", c.GraphConfigPath)
	}
}

// merge lays what was sent over what is there, and leaves both as they are.
func merge(c SourceConfig, u updateRequest) SourceConfig {
	merged := c
	merged.RepoURL = cmp.Or(u.repoURL, c.RepoURL)
	if u.buildOnPush != nil {
		merged.BuildOnPush = *u.buildOnPush
	}
	merged.Other = maps.Clone(c.Other)
	if merged.Other == nil {
		merged.Other = map[string]json.RawMessage{}
	}
	maps.Copy(merged.Other, u.other)
	return merged
}

// secretsAfter returns the secrets after a change.
func secretsAfter(stored []Secret, changes []secretChange) []Secret {
	if changes == nil {
		return stored
	}
	var after []Secret
	for _, c := range changes {
		if c.value != nil {
			after = append(after, Secret{Name: c.name, Value: *c.value})
			continue
		}
		for _, s := range stored {
			if s.Name == c.name {
				after = append(after, s)
			}
		}
	}
	return after
}

func names[S ~string](values []S) []string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	return list
}
