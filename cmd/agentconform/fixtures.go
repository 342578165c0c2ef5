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

// startFixtures serves the fixtures if the configuration has them and a control plane, and fills the keys that are not
// set. If there are no fixtures, served is nil.
func startFixtures(cfg *config.Config) (served target.Fixtures, stop func(), err error) {
	if cfg.Fixtures.Serve == "" || cfg.Target == "" {
		return nil, func() {}, nil
	}
	if err := refuseOwnSource(cfg); err != nil {
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
	stop = func() { _ = host.Close() } // an error has no consequence
	if err := fillFrom(cfg, material, host.Place()); err != nil {
		stop()
		return nil, nil, err
	}
	return host, stop, nil
}

// materialIn returns the fixtures with the conformance graph in a language.
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

// refuseOwnSource refuses a create body that names a source, because the alternatives and commits of the fixtures would
// not belong to it.
func refuseOwnSource(cfg *config.Config) error {
	for key, field := range map[string]string{"source_config": "repo_url", "source_revision_config": "image_uri"} {
		object, _ := cfg.Create.Body[key].(map[string]any)
		if object[field] != nil {
			return &config.Error{Source: "configuration", Key: "create.body." + key + "." + field,
				Problem: "names a source, and fixtures.serve is set",
				Remedy:  "remove one of the two; the fixtures fill in the fields that create.body does not have"}
		}
	}
	return nil
}

// fillFrom fills the keys that the configuration does not set, from the material at a place. If agent_target is set, its
// agent server does not use the material's graph, so the fields of users and the refusals are not filled.
func fillFrom(cfg *config.Config, material *fixtures.Material, at fixtures.Place) error {
	secrets := fixtures.Secrets{BlockedToken: cfg.Agent.BlockedToken}
	for i := range cfg.Users {
		u := &cfg.Users[i]
		role, _ := u.Fields["role"].(string)
		role = cmp.Or(role, fmt.Sprintf("role-%d", i+1))
		team := u.Team()
		if cfg.AgentTarget == "" {
			u.Identity = u.Owner()
			if u.SameIdentity {
				u.Identity = cfg.Users[0].Identity
			}
			u.Fields = map[string]any{"role": role} // the handler accepts no field other than team
			if team != "" {
				u.Fields[config.TeamField] = team
			}
		}
		if u.Token == "" { // allowed only if agent_target is set
			continue
		}
		secrets.Users = append(secrets.Users, fixtures.User{Name: u.Name, Token: u.Token, Identity: u.Owner(), Role: role, Team: team})
	}
	edition := cmp.Or(cfg.Edition, config.Cloud)
	if cfg.Edition == "" && cfg.Source() == config.ExternalContainer {
		edition = config.SelfHosted
	}
	set := material.NewSet(controlplane.Edition(edition), at, secrets)
	cfg.Create.Body = merged(set.Create, cfg.Create.Body).(map[string]any)
	if len(cfg.Create.Refused) == 0 {
		cfg.Create.Refused = set.RefusedCreate
	}
	a := &cfg.Alternatives
	a.RepoRef = cmp.Or(a.RepoRef, set.SecondRef)
	a.TagRef = cmp.Or(a.TagRef, set.TagRef)
	a.BrokenRef = cmp.Or(a.BrokenRef, set.BrokenRef)
	a.GraphConfigPath = cmp.Or(a.GraphConfigPath, set.AlternativeGraphConfigPath)
	a.GraphConfigDiffers = a.GraphConfigDiffers || a.GraphConfigPath != "" && a.GraphConfigPath == set.AlternativeGraphConfigPath
	a.ImageURI = cmp.Or(a.ImageURI, set.SecondImageURI)
	a.BrokenImageURI = cmp.Or(a.BrokenImageURI, set.BrokenImageURI)
	if len(a.Commits) == 0 {
		a.Commits = set.CommitIDs
	}
	if cfg.AgentTarget == "" {
		setRefusals(&cfg.Agent)
	}
	return cfg.Complete()
}

// setRefusals sets the refusals of the handlers of all graphs, unless the configuration sets them.
func setRefusals(a *config.Agent) {
	if a.RejectedStatus.IsZero() {
		a.RejectedStatus = config.Always(http.StatusUnauthorized)
		a.RejectedStatus.Blocked = config.OneOrMore[int]{http.StatusForbidden}
	}
	if a.RejectedDetail.IsZero() {
		a.RejectedDetail = config.Always("Invalid credentials")
		a.RejectedDetail.Blocked = config.OneOrMore[string]{"This account is blocked"}
	}
}

// merged returns a value of a body with the overriding value. Objects are merged by key, and lists of named objects,
// which are secrets, by name. Any other value is replaced.
func merged(base, override any) any {
	switch override := override.(type) {
	case map[string]any:
		object, isObject := base.(map[string]any)
		if !isObject {
			return override
		}
		all := maps.Clone(object)
		for key, value := range override {
			all[key] = merged(all[key], value)
		}
		return all
	case []any:
		list, isList := base.([]any)
		if !isList {
			return override
		}
		all := []any{}
		for _, item := range list {
			isReplaced := slices.ContainsFunc(override, func(other any) bool { return nameIn(other) == nameIn(item) })
			if !isReplaced {
				all = append(all, item)
			}
		}
		return append(all, override...)
	}
	return override
}

func nameIn(item any) any {
	object, _ := item.(map[string]any)
	return object["name"]
}
