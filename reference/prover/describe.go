package prover

import (
	"net/http"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
)

// Describe sets the keys of the configuration for a test run against the reference. The suite finds the agent server
// through the control plane.
func Describe(cfg *config.Config, server *reference.Server) {
	set := server.Fixtures()
	cfg.Target = server.ControlPlaneURL()
	cfg.Implementation = reports.Implementation{Name: "agentconform reference"}
	cfg.Edition = string(set.Edition)
	cfg.Credentials = config.Credentials(set.Owner)
	cfg.OtherTenant = config.Credentials(set.OtherTenant)
	cfg.TenantIDAlone = true
	cfg.SeparateCredentials = true
	cfg.Create = config.Create{Body: set.Create, Refused: set.RefusedCreate}
	cfg.Alternatives = config.Alternatives{
		RepoRef: set.SecondRef, TagRef: set.TagRef, BrokenRef: set.BrokenRef, Commits: set.CommitIDs,
		GraphConfigPath: set.AlternativeGraphConfigPath, GraphConfigDiffers: set.AlternativeGraphConfigPath != "", ImageURI: set.SecondImageURI, BrokenImageURI: set.BrokenImageURI,
	}
	cfg.Vocabulary = set.Vocabulary
	cfg.AssistantID = set.AssistantID
	cfg.Agent.StudioHeaders = set.StudioHeaders
	// See the auth handler in reference/graphs.
	cfg.Agent.RejectedStatus = config.Always(http.StatusUnauthorized)
	cfg.Agent.RejectedStatus.Blocked = config.OneOrMore[int]{http.StatusForbidden}
	cfg.Agent.RejectedDetail = config.Always("Invalid credentials")
	cfg.Agent.RejectedDetail.Blocked = config.OneOrMore[string]{"This account is blocked"}
	cfg.Agent.BlockedToken = set.BlockedToken
	cfg.Users = nil
	for i, u := range set.Users {
		cfg.Users = append(cfg.Users, config.User{Name: u.Name, Token: u.Token, Identity: u.Identity,
			Fields: u.CustomFields(), SameIdentity: i > 0 && u.Identity == set.Users[0].Identity})
	}
}
