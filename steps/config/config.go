// Package config reads what a run needs to know of its target: from a YAML file, from environment variables and
// from flags, where later ones override earlier ones.
//
// A configuration is never read in part. An unknown key, a value of the wrong type or an invalid URL is an [*Error]
// with the key, its place and the remedy.
package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// Config is everything a run knows of its target. The YAML keys are the struct's tags; the environment variable of
// a key is AGENTCONFORM_ and the key in capitals, nested keys joined with "_". What each key is for, keys.yaml says,
// and from it docs/configuration.md.
type Config struct {
	Target      string `yaml:"target"`       // base address of the control plane ({base_url})
	AgentTarget string `yaml:"agent_target"` // that of a deployed agent server ({deployment_url})

	Implementation reports.Implementation `yaml:"implementation"`

	Edition  string   `yaml:"edition"`  // decides which sources the target must refuse (section 2)
	Supports []string `yaml:"supports"` // in words of [features.ClaimWords]; empty: everything

	Credentials         Credentials `yaml:"credentials"`
	CredentialHeaders   Credentials `yaml:"credential_headers"`
	TenantIDAlone       bool        `yaml:"tenant_id_alone"`
	OtherTenant         Credentials `yaml:"other_tenant"`
	SeparateCredentials bool        `yaml:"separate_credentials"` // no credential is valid at both halves

	// How the target is reached.
	Headers Headers           `yaml:"headers"`
	TLS     TLS               `yaml:"tls"`
	Proxy   string            `yaml:"proxy"`   // a URL, whose user info is a secret
	Resolve map[string]string `yaml:"resolve"` // the IP address for a host
	Socket  Sockets           `yaml:"socket"`

	Vocabulary map[string]string `yaml:"vocabulary"` // the target's words, by neutral word

	Fixtures     Fixtures     `yaml:"fixtures"`
	Create       Create       `yaml:"create"`
	Existing     Existing     `yaml:"existing"`
	Alternatives Alternatives `yaml:"alternatives"`
	AgentURLFrom string       `yaml:"agent_url_from"` // path of the agent server's address in a deployment (GJSON syntax)
	AllowPrivate bool         `yaml:"allow_private"`  // that address may be on a private network although target is not

	Users       []User `yaml:"users"`
	AssistantID string `yaml:"assistant_id"`
	Agent       Agent  `yaml:"agent"`

	Timeouts       Timeouts      `yaml:"timeouts"`
	Polling        Polling       `yaml:"polling"`
	Patience       time.Duration `yaml:"patience"`        // how old an answer may be
	Rate           string        `yaml:"rate"`            // of requests to the target, "5/s" or "300/m"; "": no limit
	MaxDeployments int           `yaml:"max_deployments"` // 0: no limit
	MaxRevisions   int           `yaml:"max_revisions"`   // of one deployment; 0: no limit

	// ReadOnly is set by run --read-only: nothing is created, changed or removed at the target, and no request that
	// would is sent.
	ReadOnly bool `yaml:"-"`

	// From are the file and the environment variables that it was read from.
	From []string `yaml:"-"`

	// SecretFiles are the files of the credentials that came from files, by key ("users.0.token"). Reread reads them
	// again.
	SecretFiles map[string]string `yaml:"-"`
}

// Credentials are the values, or the names of the headers, of the control plane's three security schemes (section 5).
type Credentials struct {
	APIKey   string `yaml:"api_key"`
	TenantID string `yaml:"tenant_id"`
	Bearer   string `yaml:"bearer"`
}

// Headers are what a gateway in front of the target wants with every request to the addresses that the configuration
// names. The values are secrets.
type Headers struct {
	ControlPlane map[string]string `yaml:"control_plane"`
	AgentServer  map[string]string `yaml:"agent_server"`
}

// TLS says how certificates are verified and which client certificate is shown. The files are PEM; a relative path in a
// configuration file is relative to its folder.
type TLS struct {
	CA         string `yaml:"ca"`          // trusted in place of the system's authorities
	Cert       string `yaml:"cert"`        // shown to target and agent_target only
	Key        string `yaml:"key"`         // of Cert; "": it is in the same file
	ServerName string `yaml:"server_name"` // expected of target and agent_target in place of the host
	Insecure   bool   `yaml:"insecure"`    // certificates are not verified
}

// Sockets are the paths of Unix domain sockets through which the hosts of target and agent_target are reached.
type Sockets struct {
	ControlPlane string `yaml:"control_plane"`
	AgentServer  string `yaml:"agent_server"`
}

// Fixtures has the suite serve the sources that it has the target build, as git over HTTP and as images, for as long
// as a command lasts. They fill Create and Alternatives where these are not set.
type Fixtures struct {
	Serve     string `yaml:"serve"`     // "host:port"; empty: nothing is served
	Advertise string `yaml:"advertise"` // base URL for the target's builder
	Graph     string `yaml:"graph"`
}

// Languages of the conformance graph that is served.
const (
	Starlark   = "starlark" // what the reference runs
	Python     = "python"
	JavaScript = "javascript"
)

// Create says how deployments are created: Body is sent as it is, except that the run replaces its name, if it has
// one. Refused is a body whose source this edition must refuse.
type Create struct {
	Body    map[string]any `yaml:"body"`
	Refused map[string]any `yaml:"refused"`
}

// Existing names a deployment that was there before the run, which reads it and never changes it, where no deployment
// can be created. Both are UUIDs.
type Existing struct {
	Deployment string `yaml:"deployment"`
	Revision   string `yaml:"revision"`
}

// Alternatives are further sources of the deployment's repository or registry. Each enables the requirements that
// need it.
type Alternatives struct {
	RepoRef         string            `yaml:"repo_ref"`          // a second branch, whose graph answers differently
	TagRef          string            `yaml:"tag_ref"`           // refs/tags/...
	GraphConfigPath string            `yaml:"graph_config_path"` // a second graph configuration file
	ImageURI        string            `yaml:"image_uri"`         // a second image, whose graph answers differently
	BrokenRef       string            `yaml:"broken_ref"`        // a branch that exists and cannot be built
	BrokenImageURI  string            `yaml:"broken_image_uri"`  // an image that exists and cannot be deployed
	Commits         map[string]string `yaml:"commits"`           // commit id by ref
}

// User is an end user of the agent server. The first creates the data, the second must not see it.
type User struct {
	Name     string            `yaml:"name"`
	Token    string            `yaml:"token"`    // sent as Authorization: Bearer, unless Headers say otherwise
	Headers  map[string]string `yaml:"headers"`  // sent instead of the token
	Identity string            `yaml:"identity"` // what the handler returns as identity; empty: not known
	Fields   map[string]any    `yaml:"fields"`   // custom fields that the handler adds to the user
}

// Owner is what the user probably has as identity: the configured one, or else the name.
func (u *User) Owner() string { return cmp.Or(u.Identity, u.Name) }

// Known are the identity and the custom fields of the user, as far as they are configured.
func (u *User) Known() map[string]any {
	all := map[string]any{}
	if u.Identity != "" {
		all["identity"] = u.Identity
	}
	maps.Copy(all, u.Fields)
	return all
}

// Agent holds the choices that the interface leaves to the agent server.
type Agent struct {
	Listing        string            `yaml:"listing"`         // "get", "search" or ""
	RejectedStatus PerCase[int]      `yaml:"rejected_status"` // statuses of refusals; empty means any 4xx
	RejectedDetail PerCase[string]   `yaml:"rejected_detail"` // details of refusals; empty means not checked
	StudioHeaders  map[string]string `yaml:"studio_headers"`  // recognised as the hosted development environment
	// What follows overrides what the preflight of a run finds out.
	Words []string      `yaml:"words"` // of the conformance graph that it understands, whatever its trials show
	Runs  int           `yaml:"runs"`  // that the server executes at a time; 0: as many as are seen
	Hold  time.Duration `yaml:"hold"`  // how long runs are told to wait at least
}

// GraphWords are the words of the conformance graph, in the order of its contract.
var GraphWords = keys["agent.words"].OneOf

// Timeouts bound every wait.
type Timeouts struct {
	Request time.Duration `yaml:"request"` // one answer
	Poll    time.Duration `yaml:"poll"`    // a revision until it is DEPLOYED
	Run     time.Duration `yaml:"run"`     // a run of the graph, in addition to the time that it is told to take
}

// Polling says how often a status is read: at first after Interval, then less and less often up to MaxInterval.
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

// Addresses are those of the target that are configured, the control plane first.
func (c *Config) Addresses() []string {
	return slices.DeleteFunc([]string{c.Target, c.AgentTarget}, func(address string) bool { return address == "" })
}

// HasCredentials tells whether a credential for the control plane is configured.
func (c *Config) HasCredentials() bool { return c.Credentials != (Credentials{}) }

// CredentialOf is the key of the credential of a user, and its name in a remedy: the variable, or the key of headers.
func (c *Config) CredentialOf(user int) (key, name string) {
	key = fmt.Sprintf("users.%d.token", user)
	if len(c.Users[user].Headers) == 0 {
		return key, Variable(key)
	}
	key = fmt.Sprintf("users.%d.headers", user)
	return key, key
}

// Source is the source of the deployments that the run creates, as named in the interface.
func (c *Config) Source() string {
	s, _ := c.Create.Body["source"].(string)
	return s
}
