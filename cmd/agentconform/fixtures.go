package main

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/interop"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/fixtures"
	"github.com/agentconform/agentconform/reference/graphs"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/target"
)

// startFixtures serves the fixtures where the configuration wants that and names a control plane, and fills what the
// configuration leaves to them. served is nil where nothing is; stop is never nil.
func startFixtures(cfg *config.Config) (served target.Fixtures, stop func(), err error) {
	if cfg.Fixtures.Serve == "" || cfg.Target == "" {
		return nil, func() {}, nil
	}
	if err := ownSource(cfg); err != nil {
		return nil, nil, err
	}
	material, err := materialIn(cfg.Fixtures.Graph)
	if err != nil {
		return nil, nil, err
	}
	host, err := material.Serve(cfg.Fixtures.Serve, cfg.Fixtures.Advertise)
	if err != nil {
		return nil, nil, fmt.Errorf("%w; choose another address with fixtures.serve", err)
	}
	stop = func() { _ = host.Close() } // nothing is left to do about it
	if err := fillFrom(cfg, material, host.Place()); err != nil {
		stop()
		return nil, nil, err
	}
	return host, stop, nil
}

// materialIn makes the fixtures with the conformance graph in the language.
func materialIn(language string) (*fixtures.Material, error) {
	if language == config.Starlark {
		return fixtures.Build(graphs.FS, fixtures.GraphConfigPath)
	}
	sources, err := interop.Sources(language)
	if err != nil {
		return nil, err
	}
	return fixtures.Build(sources, interop.ConfigPath)
}

// ownSource refuses a create body that names a source: alternatives and commits of the fixtures would be those of
// another one.
func ownSource(cfg *config.Config) error {
	for key, field := range map[string]string{"source_config": "repo_url", "source_revision_config": "image_uri"} {
		if object, _ := cfg.Create.Body[key].(map[string]any); object[field] != nil {
			return &config.Error{Source: "configuration", Key: "create.body." + key + "." + field,
				Problem: "names a source, and fixtures.serve is set",
				Remedy:  "remove one of the two; the fixtures fill in what create.body lacks"}
		}
	}
	return nil
}

// fillFrom fills what the configuration does not set from the material at a place. An agent server with an address of
// its own in the configuration does not serve the material's graph: what its users are like, and what its handler
// answers, is not filled.
func fillFrom(cfg *config.Config, material *fixtures.Material, at fixtures.Place) error {
	var secrets fixtures.Secrets
	for i := range cfg.Users {
		u := &cfg.Users[i]
		role, _ := u.Fields["role"].(string)
		role = cmp.Or(role, fmt.Sprintf("role-%d", i+1))
		if cfg.AgentTarget == "" {
			u.Identity = u.Owner()
			u.Fields = map[string]any{"role": role} // no other field is accepted
		}
		if u.Token == "" {
			continue // of an agent server with an address of its own
		}
		told := fixtures.User{Name: u.Name, Token: u.Token, Identity: u.Owner(), Role: role}
		secrets.Users = append(secrets.Users, told)
	}
	edition := cmp.Or(cfg.Edition, config.Cloud)
	if cfg.Edition == "" && cfg.Source() == config.ExternalContainer {
		edition = config.SelfHosted
	}
	set := material.NewSet(controlplane.Edition(edition), at, secrets)
	cfg.Create.Body = overlaid(set.Create, cfg.Create.Body).(map[string]any)
	if len(cfg.Create.Refused) == 0 {
		cfg.Create.Refused = set.RefusedCreate
	}
	a := &cfg.Alternatives
	a.RepoRef = cmp.Or(a.RepoRef, set.SecondRef)
	a.TagRef = cmp.Or(a.TagRef, set.TagRef)
	a.BrokenRef = cmp.Or(a.BrokenRef, set.BrokenRef)
	a.GraphConfigPath = cmp.Or(a.GraphConfigPath, set.AlternativeGraphConfigPath)
	a.ImageURI = cmp.Or(a.ImageURI, set.SecondImageURI)
	a.BrokenImageURI = cmp.Or(a.BrokenImageURI, set.BrokenImageURI)
	if len(a.Commits) == 0 {
		a.Commits = set.CommitIDs
	}
	if cfg.AgentTarget == "" {
		refuseAsGraph(&cfg.Agent)
	}
	return cfg.Complete()
}

// refuseAsGraph sets how the handlers of all graphs refuse a request, if the configuration does not.
func refuseAsGraph(a *config.Agent) {
	if a.RejectedStatus.IsZero() {
		a.RejectedStatus = config.Always(http.StatusUnauthorized)
	}
	if a.RejectedDetail.IsZero() {
		a.RejectedDetail = config.Always("Invalid credentials")
	}
}

// overlaid returns a value of a body with another one over it: objects key by key, lists of named objects, which are
// the secrets, name by name, and anything else in place of it.
func overlaid(below, above any) any {
	switch over := above.(type) {
	case map[string]any:
		if under, both := below.(map[string]any); both {
			all := maps.Clone(under)
			for key, value := range over {
				all[key] = overlaid(all[key], value)
			}
			return all
		}
	case []any:
		if under, both := below.([]any); both {
			replaced := func(old any) bool {
				return slices.ContainsFunc(over, func(item any) bool { return nameIn(item) == nameIn(old) })
			}
			return append(slices.DeleteFunc(slices.Clone(under), replaced), over...)
		}
	}
	return above
}

func nameIn(item any) any {
	object, _ := item.(map[string]any)
	return object["name"]
}
