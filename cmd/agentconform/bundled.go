package main

import (
	"context"
	"fmt"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
)

// startBundled starts the reference in the process and points the configuration at it.
func startBundled(ctx context.Context, cfg *config.Config, edition string) (stop func(), err error) {
	server, err := reference.Start(ctx, reference.Options{Edition: edition})
	if err != nil {
		return nil, fmt.Errorf("starting the bundled reference: %w", err)
	}
	cfg.Headers, cfg.TLS, cfg.Proxy, cfg.Resolve, cfg.Socket = config.Headers{}, config.TLS{}, "", nil, config.Sockets{} // it is in this process
	describe(cfg, server)
	cfg.Fixtures.Serve, cfg.Fixtures.Advertise = "", "" // it has its own
	if err := cfg.Complete(); err != nil {
		return nil, err
	}
	return func() { _ = server.Close() }, nil // its data is temporary, and nothing is left to do about it
}

// describe writes into the configuration how the reference is judged. The agent server is the one that its control
// plane deploys.
func describe(cfg *config.Config, server *reference.Server) {
	set := server.Fixtures()
	cfg.Target = server.ControlPlaneURL()
	cfg.Implementation = reports.Implementation{Name: "agentconform reference", Version: suiteVersion()}
	cfg.Edition = string(set.Edition)
	cfg.Credentials = config.Credentials{APIKey: set.Owner.APIKey, TenantID: set.Owner.TenantID, Bearer: set.Owner.Bearer}
	cfg.OtherTenant = config.Credentials{APIKey: set.OtherTenant.APIKey, TenantID: set.OtherTenant.TenantID, Bearer: set.OtherTenant.Bearer}
	cfg.TenantIDAlone, cfg.SeparateCredentials = true, true
	cfg.Create = config.Create{Body: set.Create, Refused: set.RefusedCreate}
	cfg.Alternatives = config.Alternatives{
		RepoRef: set.SecondRef, TagRef: set.TagRef, GraphConfigPath: set.AlternativeGraphConfigPath, ImageURI: set.SecondImageURI,
		BrokenRef: set.BrokenRef, BrokenImageURI: set.BrokenImageURI, Commits: set.CommitIDs,
	}
	cfg.Vocabulary = set.Vocabulary
	cfg.AssistantID = set.AssistantID
	cfg.Agent.StudioHeaders = set.StudioHeaders
	cfg.Agent.RejectedDetail = "Invalid credentials" // of the handler in reference/graphs
	cfg.Users = nil
	for _, u := range set.Users {
		cfg.Users = append(cfg.Users, config.User{Name: u.Name, Token: u.Token, Identity: u.Identity, Fields: u.CustomFields()})
	}
}
