// Package vendor has the configuration with which the vendor of the independent server would have it tested.
package vendor

import (
	"time"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/internal/independent"
)

// Configuration of a test of both halves of the server. It is complete.
func Configuration(s *independent.Server) (*config.Config, error) {
	c := config.Default()
	c.Target, c.AgentURLFrom, c.Edition = s.ControlURL, s.AgentURLField, s.Edition
	c.Credentials = config.Credentials(s.Owner)
	c.OtherTenant = config.Credentials(s.Other)
	c.CredentialHeaders.TenantID = s.TenantHeader
	at := s.Sources.Main
	c.Alternatives = config.Alternatives{RepoRef: s.Sources.Second, TagRef: s.Sources.Tag, BrokenRef: s.Sources.Broken,
		GraphConfigPath: s.Sources.OtherConfig, Commits: s.Sources.Commits}
	if s.Edition == independent.SelfHosted {
		at = s.Sources.Image
		c.Alternatives = config.Alternatives{ImageURI: s.Sources.SecondImage, BrokenImageURI: s.Sources.BrokenImage}
	}
	c.Create.Body, c.Create.Refused = s.CreateBody("template", at), s.RefusedBody("refused")
	for _, u := range s.Users[:2] {
		c.Users = append(c.Users, config.User{Name: u.Identity, Token: u.Token, Identity: u.Identity, Fields: map[string]any{"role": u.Role}})
	}
	c.Agent.StudioHeaders = map[string]string{"Authorization": "Bearer " + s.Users[2].Token}
	c.AssistantID, c.Agent.RejectedStatus, c.Agent.RejectedDetail = s.AssistantID, s.RefusedStatus, s.RefusedDetail
	c.Timeouts.Request, c.Timeouts.Poll = 5*time.Second, 20*time.Second
	c.Polling.Interval = 5 * time.Millisecond
	return &c, c.Complete()
}

// Address configures the control plane and its key alone, as a vendor does who has the suite serve the sources.
func Address(s *independent.Server) (*config.Config, error) {
	c := config.Default()
	c.Target, c.Credentials.APIKey = s.ControlURL, s.Owner.APIKey
	return &c, c.Complete()
}
