package independent

import (
	"net/http"
	"strings"
	"time"

	"github.com/agentconform/agentconform/steps/config"
)

// The sources that can be deployed: refs of a repository in the cloud edition, and images in the self-hosted edition.
const (
	mainRef   = "trunk"
	secondRef = "feature/second-voice"
	tagRef    = "refs/tags/2026.1-rc+1"
	brokenRef = "does-not-compile" // ends in BUILD_FAILED

	repoURL    = "https://git.invalid/choir/parrot.git"
	mainGraph  = "graphs.json"
	otherGraph = "nested/dir/graphs.json"
	image      = "registry.invalid:5000/choir/parrot:" // with an unknown tag, it ends in DEPLOY_FAILED

	assistantID   = "parrot"
	refusedDetail = "the doorman does not know this token"
	blockedDetail = "the doorman knows this token too well"
	tenantHeader  = "X-Organization-Id"
)

// commits contains the commits of the refs, with IDs of 64 digits as in SHA-256 repositories of git.
var commits = map[string]string{
	mainRef: strings.Repeat("0a1b2c3d", 8), secondRef: strings.Repeat("4e5f6a7b", 8),
	tagRef: strings.Repeat("8c9d0e1f", 8), brokenRef: strings.Repeat("deadbeef", 8),
}

// voices contains the prefix with which the graph of each build answers.
var voices = map[string]string{mainRef: "First voice", secondRef: "Second voice", tagRef: "Tagged voice",
	image + "1": "First voice", image + "2": "Second voice"}

// refusedStatus contains the status for invalid credentials at the agent server, by edition.
var refusedStatus = map[string]int{config.Cloud: http.StatusUnauthorized, config.SelfHosted: http.StatusForbidden}

// blockedStatus contains the status for the blocked token, by edition.
var blockedStatus = map[string]int{config.Cloud: http.StatusLocked, config.SelfHosted: http.StatusForbidden}

// Configure sets the keys of the configuration for a test run against both halves.
func (s *Server) Configure(c *config.Config) error {
	c.Target, c.AgentURLFrom, c.Edition = s.ControlURL, "source_config.custom_url", s.edition
	c.Credentials, c.OtherTenant, c.CredentialHeaders.TenantID = tenants[0], tenants[1], tenantHeader
	ofGit := object{"name": "template", "source": gitHost, "source_config": object{"repo_url": repoURL},
		"source_revision_config": object{"repo_ref": mainRef, "graph_config_path": mainGraph, "image_uri": nil}}
	ofImage := object{"name": "template", "source": externalContainer, "source_config": object{"repo_url": nil},
		"source_revision_config": object{"repo_ref": nil, "image_uri": image + "1"}}
	c.Create.Body, c.Create.Refused = ofGit, ofImage
	c.Alternatives = config.Alternatives{RepoRef: secondRef, TagRef: tagRef, BrokenRef: brokenRef,
		GraphConfigPath: otherGraph, GraphConfigDiffers: true, Commits: commits}
	if s.edition == config.SelfHosted {
		c.Create.Body, c.Create.Refused = ofImage, ofGit
		c.Alternatives = config.Alternatives{ImageURI: image + "2", BrokenImageURI: image + "broken"}
	}
	for _, u := range []User{Users[0], Users[1], Users[3]} {
		fields := map[string]any{"role": u.Role}
		if u.Team != "" {
			fields["team"] = u.Team
		}
		c.Users = append(c.Users, config.User{Name: strings.TrimSpace(u.Identity + " " + u.Team), Identity: u.Identity, Token: u.Token, Fields: fields})
	}
	c.Users[2].SameIdentity = true
	c.Agent.StudioHeaders = map[string]string{"Authorization": "Bearer " + Users[2].Token}
	c.AssistantID = assistantID
	c.Agent.RejectedStatus, c.Agent.RejectedDetail = config.Always(refusedStatus[s.edition]), config.Always(refusedDetail)
	c.Agent.BlockedToken = blockedToken
	c.Agent.RejectedStatus.Blocked = config.OneOrMore[int]{blockedStatus[s.edition]}
	c.Agent.RejectedDetail.Blocked = config.OneOrMore[string]{blockedDetail}
	c.Timeouts.Request, c.Timeouts.Poll = 5*time.Second, 20*time.Second
	c.Polling.Interval = 5 * time.Millisecond
	return c.Complete()
}
