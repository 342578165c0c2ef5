// Package config reads the configuration of a target from a YAML file, from environment variables and from flags. Later
// sources override earlier ones.
//
// A configuration is read completely or not at all. An unknown key, a value of the wrong type or an invalid URL is an
// [*Error] with the key, its place and the remedy.
package config

import (
	"cmp"
	"fmt"
	"maps"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// Config is the configuration of a target. The struct tags are the YAML keys. The environment variable of a key is
// AGENTCONFORM_ followed by the key in capitals, with nested keys joined by "_". keys.yaml describes each key, and
// docs/configuration.md is generated from it.
type Config struct {
	Target      string `yaml:"target"`       // base address of the control plane ({base_url})
	AgentTarget string `yaml:"agent_target"` // base address of a deployed agent server ({deployment_url})

	Implementation reports.Implementation `yaml:"implementation"`

	Edition  string   `yaml:"edition"`  // decides which sources the target must refuse (section 2)
	Supports []string `yaml:"supports"` // the claim, in words of [features.ClaimWords]; empty: everything

	Credentials         Credentials `yaml:"credentials"`
	CredentialHeaders   Credentials `yaml:"credential_headers"`
	TenantIDAlone       bool        `yaml:"tenant_id_alone"`
	OtherTenant         Credentials `yaml:"other_tenant"`
	SeparateCredentials bool        `yaml:"separate_credentials"` // no credential is valid at both halves

	// How the target is reached.
	Headers     Headers           `yaml:"headers"`
	HeaderHosts []string          `yaml:"header_hosts"` // further hosts that get headers.agent_server: "host", "host:port", "*.domain"
	TLS         TLS               `yaml:"tls"`
	Proxy       string            `yaml:"proxy"`   // a URL; its user info is a secret
	Resolve     map[string]string `yaml:"resolve"` // IP address by host
	Socket      Sockets           `yaml:"socket"`

	Vocabulary map[string]string `yaml:"vocabulary"` // the target's words, by the neutral words of the interface

	Fixtures     Fixtures     `yaml:"fixtures"`
	Create       Create       `yaml:"create"`
	Existing     Existing     `yaml:"existing"`
	Alternatives Alternatives `yaml:"alternatives"`
	AgentURLFrom string       `yaml:"agent_url_from"` // path of the agent server's address in a deployment (GJSON syntax)
	AllowPrivate bool         `yaml:"allow_private"`  // whether that address may be on a private network even if target is not

	Users       []User `yaml:"users"`
	AssistantID string `yaml:"assistant_id"`
	Agent       Agent  `yaml:"agent"`

	Timeouts       Timeouts      `yaml:"timeouts"`
	Polling        Polling       `yaml:"polling"`
	Patience       time.Duration `yaml:"patience"`        // maximum age of the data in a response of a target with replicas
	Rate           string        `yaml:"rate"`            // limit of requests to the target, "5/s" or "300/m"; "": no limit
	MaxDeployments int           `yaml:"max_deployments"` // 0: no limit
	MaxRevisions   int           `yaml:"max_revisions"`   // maximum number for one deployment; 0: no limit

	// ReadOnly is set by run --read-only. No request is sent that creates, changes or removes anything at the target.
	ReadOnly bool `yaml:"-"`

	// From lists the sources of the configuration: the file, if any, and then the environment variables.
	From []string `yaml:"-"`

	// Places has the place of each key that a source sets ("agentconform.yaml:12", "environment AGENTCONFORM_TARGET"), and
	// of the groups around it. It is nil if the configuration was built in code.
	Places map[string]string `yaml:"-"`

	// SecretFiles has the files of credentials by key ("users.0.token"). Reread reads them again.
	SecretFiles map[string]string `yaml:"-"`
}

// Credentials are the values, or the names of the headers, of the control plane's three security schemes (section 5).
type Credentials struct {
	APIKey   string `yaml:"api_key"`
	TenantID string `yaml:"tenant_id"`
	Bearer   string `yaml:"bearer"`
}

// Headers are headers that a gateway in front of the target requires. They are sent with every request to the addresses
// that the configuration names, and to its header_hosts. The values are secrets.
type Headers struct {
	ControlPlane map[string]string `yaml:"control_plane"`
	AgentServer  map[string]string `yaml:"agent_server"`
}

// TLS configures how certificates are verified and which client certificate is sent. The files are PEM files. A
// relative path in a configuration file is relative to its folder.
type TLS struct {
	CA         string `yaml:"ca"`          // file of the authorities to trust, instead of those of the system
	Cert       string `yaml:"cert"`        // sent to target and agent_target only
	Key        string `yaml:"key"`         // key of Cert; "": it is in the same file
	ServerName string `yaml:"server_name"` // name in the certificates of target and agent_target, if it is not the host
	Insecure   bool   `yaml:"insecure"`    // certificates are not verified
}

// Sockets are the paths of Unix domain sockets through which the hosts of target and agent_target are reached.
type Sockets struct {
	ControlPlane string `yaml:"control_plane"`
	AgentServer  string `yaml:"agent_server"`
}

// Fixtures configures the sources that the suite serves to the target's builder, as git over HTTP and as images, until
// the command ends. The sources fill the fields of Create and Alternatives that are not set.
type Fixtures struct {
	Serve     string `yaml:"serve"`     // "host:port"; empty: nothing is served
	Advertise string `yaml:"advertise"` // base URL for the target's builder
	Graph     string `yaml:"graph"`
}

// Languages of the conformance graph that is served.
const (
	Starlark   = "starlark" // for the reference
	Python     = "python"
	JavaScript = "javascript"
)

// Create has the bodies of requests that create deployments. Body is sent unchanged, except that its name, if any, is
// replaced. Refused is a body whose source this edition must refuse.
type Create struct {
	Body    map[string]any `yaml:"body"`
	Refused map[string]any `yaml:"refused"`
}

// Existing names a deployment that existed before the test run. It is read and never changed, and only used if no
// deployment can be created. Both fields are UUIDs.
type Existing struct {
	Deployment string `yaml:"deployment"`
	Revision   string `yaml:"revision"`
}

// Alternatives are further sources of the deployment's repository or registry. Each enables the requirements that
// need it.
type Alternatives struct {
	RepoRef         string `yaml:"repo_ref"`          // a second branch; its graph gives different answers
	TagRef          string `yaml:"tag_ref"`           // refs/tags/...
	GraphConfigPath string `yaml:"graph_config_path"` // a second graph configuration file
	// GraphConfigDiffers reports whether the graph of GraphConfigPath gives different answers than that of create.body.
	GraphConfigDiffers bool              `yaml:"graph_config_differs"`
	ImageURI           string            `yaml:"image_uri"`        // a second image; its graph gives different answers
	BrokenRef          string            `yaml:"broken_ref"`       // a branch that exists and cannot be built
	BrokenImageURI     string            `yaml:"broken_image_uri"` // an image that exists and cannot be deployed
	Commits            map[string]string `yaml:"commits"`          // commit id by ref
}

// User is an end user of the agent server. The first user creates the data, and the second must not see it. A third user
// may have the identity of the first in a different team.
type User struct {
	Name     string            `yaml:"name"`
	Token    string            `yaml:"token"`    // sent as Authorization: Bearer, unless Headers is set
	Headers  map[string]string `yaml:"headers"`  // sent instead of the token
	Identity string            `yaml:"identity"` // the identity that the handler returns; empty: unknown
	Fields   map[string]any    `yaml:"fields"`   // custom fields that the handler adds to the user
	// SameIdentity means that the handler returns the identity of the first user with a different value of TeamField.
	SameIdentity bool `yaml:"same_identity"`
}

// TeamField is a custom field. If users have it, the filter of the authorization handler contains it.
const TeamField = "team"

// Team returns the team of the user, or "" if unknown.
func (u *User) Team() string {
	team, _ := u.Fields[TeamField].(string)
	return team
}

// Owner returns the likely identity of the user: the configured identity, or else the name.
func (u *User) Owner() string { return cmp.Or(u.Identity, u.Name) }

// Known returns the configured identity and custom fields of the user.
func (u *User) Known() map[string]any {
	all := map[string]any{}
	if u.Identity != "" {
		all["identity"] = u.Identity
	}
	maps.Copy(all, u.Fields)
	return all
}

// Agent has the choices that the interface leaves to the agent server.
type Agent struct {
	Listing        string            `yaml:"listing"`         // "get", "search" or ""
	RejectedStatus PerCase[int]      `yaml:"rejected_status"` // statuses of refusals; empty means any 4xx
	RejectedDetail PerCase[string]   `yaml:"rejected_detail"` // details of refusals; empty means not checked
	BlockedToken   string            `yaml:"blocked_token"`   // a token that the handler knows and refuses; sent in the same way as users.0.token
	StudioHeaders  map[string]string `yaml:"studio_headers"`  // recognized as the hosted development environment
	// The following keys override the results of the preflight.
	Words []string      `yaml:"words"` // words of the graph that count as understood, even if trials show otherwise
	Runs  int           `yaml:"runs"`  // number of runs that the server executes at a time; 0: the preflight measures it
	Hold  time.Duration `yaml:"hold"`  // minimum time for which a run is kept in progress
}

// GraphWords are the words of the conformance graph, in the order of its contract.
var GraphWords = keys["agent.words"].OneOf

// Timeouts limit how long the suite waits.
type Timeouts struct {
	Request time.Duration `yaml:"request"` // for one response
	Poll    time.Duration `yaml:"poll"`    // for a revision until it is DEPLOYED
	Run     time.Duration `yaml:"run"`     // for a run of the graph, in addition to its hold
}

// Polling configures how often a status is read. The first interval is Interval, and intervals grow up to MaxInterval.
type Polling struct {
	Interval    time.Duration `yaml:"interval"`
	MaxInterval time.Duration `yaml:"max_interval"`
}

// Sources of a revision (section 2), as named in the interface.
const (
	GitHost           = "git_host"
	ExternalContainer = "external_container"
	InternalContainer = "internal_container"
)

// Editions of a target.
const (
	Cloud      = "cloud"
	SelfHosted = "self-hosted"
)

// Default returns the configuration in which every key has its default.
func Default() Config {
	return Config{
		CredentialHeaders: Credentials{APIKey: "X-Api-Key", TenantID: "X-Tenant-Id", Bearer: "Authorization"},
		Fixtures:          Fixtures{Graph: Python},
		AgentURLFrom:      "source_config.custom_url",
		AssistantID:       "conformance",
		Agent:             Agent{Hold: 400 * time.Millisecond},
		Timeouts:          Timeouts{Request: 10 * time.Second, Poll: 15 * time.Minute, Run: time.Minute},
		Polling:           Polling{Interval: 20 * time.Millisecond, MaxInterval: 5 * time.Second},
		Patience:          200 * time.Millisecond,
	}
}

// Addresses returns the configured addresses of the target, the control plane first.
func (c *Config) Addresses() []string {
	var all []string
	for _, address := range []string{c.Target, c.AgentTarget} {
		if address != "" {
			all = append(all, address)
		}
	}
	return all
}

// HasCredentials reports whether a credential for the control plane is configured.
func (c *Config) HasCredentials() bool { return c.Credentials != (Credentials{}) }

// JudgedUsers returns the users that send requests in a test run: the first two, and the third if it has the identity of
// the first.
func (c *Config) JudgedUsers() []User {
	n := min(2, len(c.Users))
	if len(c.Users) > 2 && c.Users[2].SameIdentity {
		n = 3
	}
	return c.Users[:n]
}

// CredentialOf returns the key of a user's credential, and its name in a remedy (see Named).
func (c *Config) CredentialOf(user int) (key, name string) {
	key = fmt.Sprintf("users.%d.token", user)
	if len(c.Users[user].Headers) == 0 {
		return key, c.Named(key)
	}
	key = fmt.Sprintf("users.%d.headers", user)
	if len(c.Places) == 0 {
		return key, key
	}
	return key, c.Named(key)
}

// Source returns the source of the deployments that the test run creates, in the words of the interface.
func (c *Config) Source() string {
	s, _ := c.Create.Body["source"].(string)
	return s
}
