package independent

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The editions decide which sources may be deployed (interface, section 2, source).
const (
	Cloud      = "cloud"
	SelfHosted = "self-hosted"
)

// Options chooses among the differences that the interface allows. The zero value is a cloud edition on two hosts.
type Options struct {
	Edition       string        // Cloud (default) or SelfHosted
	Prefix        string        // when set, both servers share one host under this path, e.g. "/shared/box"
	BuildTime     time.Duration // how long a revision is under way; default 15ms
	Jitter        time.Duration // every answer is late by up to this much
	BusyEvery     int           // every n-th request is answered 429 or 503 with Retry-After; 0 is never, else at least 2
	RefusedStatus int           // what the agent server's handler answers to bad credentials; default 401
	RefusalAsJSON bool          // the handler's detail as {"detail": ...} rather than as plain text
	TenantHeader  string        // default "X-Organization-Id": the interface does not name the header
	Clone         bool          // deployments are built from what a request names, fetched over HTTP, in place of a table of constants
	Extras        bool          // also offer vendor extensions: list and delete deployments, and their name; get a thread
}

func (o Options) withDefaults() (Options, error) {
	o.Edition, o.BuildTime = cmp.Or(o.Edition, Cloud), cmp.Or(o.BuildTime, 15*time.Millisecond)
	o.RefusedStatus = cmp.Or(o.RefusedStatus, http.StatusUnauthorized)
	o.TenantHeader = cmp.Or(o.TenantHeader, "X-Organization-Id")
	if o.Edition != Cloud && o.Edition != SelfHosted {
		return o, fmt.Errorf("edition %q is unknown: use %q or %q", o.Edition, Cloud, SelfHosted)
	}
	if o.BusyEvery == 1 || o.BusyEvery < 0 {
		return o, fmt.Errorf("BusyEvery is %d: use 0 for never, or 2 and more, so that a repeated request can be served", o.BusyEvery)
	}
	if o.RefusedStatus < 400 || o.RefusedStatus > 499 {
		return o, fmt.Errorf("RefusedStatus is %d: a refusal is a 4xx", o.RefusedStatus)
	}
	if o.Prefix = strings.Trim(o.Prefix, "/"); o.Prefix != "" {
		o.Prefix = "/" + o.Prefix
	}
	return o, nil
}

// Credentials are those of one tenant of the control plane (interface, section 5).
type Credentials struct {
	APIKey   string // header X-Api-Key
	TenantID string // header Options.TenantHeader, in addition to the key
	Bearer   string // header Authorization: Bearer ...
}

// User is a caller that the agent server's authentication handler knows (interface, section 2, authenticated user).
type User struct {
	Token    string // header Authorization: Bearer ...
	Identity string
	Role     string // the custom field "role" of the user object
	Studio   bool   // comes from the visual development environment: is not filtered (section 5, 7)
}

// Sources names what can be deployed. Which of the two groups applies follows from the edition.
type Sources struct {
	RepoURL                   string
	Main, Second, Tag, Broken string            // refs; Broken ends in BUILD_FAILED
	Commits                   map[string]string // ref to the commit id that a DEPLOYED revision shows
	GraphConfig, OtherConfig  string            // two paths that hold a graph configuration
	Image, SecondImage        string            // Second and SecondImage answer in another voice than Main and Image
	BrokenImage               string            // ends in DEPLOY_FAILED
}

// Facts is everything that a configuration of the suite needs to know of the server.
type Facts struct {
	Edition       string
	ControlURL    string // {base_url}
	AgentURL      string // {deployment_url} of an agent server that is up from the start, without a deployment
	AgentURLField string // where a deployment carries its agent server's address
	TenantHeader  string
	Owner, Other  Credentials // two tenants
	Users         []User      // two ordinary users, then one studio user
	AssistantID   string
	RefusedStatus int
	RefusedDetail string
	Source        string // the value of `source` that this edition deploys
	Sources       Sources
}

// CreateBody is a body for POST /v2/deployments that deploys the given ref (cloud) or image (self-hosted).
func (f Facts) CreateBody(name, refOrImage string) map[string]any {
	revision := map[string]any{"repo_ref": nil, "graph_config_path": nil, "image_uri": nil}
	config := map[string]any{"repo_url": nil, "build_on_push": nil}
	if f.Source == sourceGit {
		revision["repo_ref"], revision["graph_config_path"] = refOrImage, f.Sources.GraphConfig
		config["repo_url"], config["build_on_push"] = f.Sources.RepoURL, false
	} else {
		revision["image_uri"] = refOrImage
	}
	return map[string]any{"name": name, "source": f.Source, "source_config": config,
		"source_revision_config": revision, "secrets": []any{}}
}

// RefusedBody is a body for POST /v2/deployments that is well-formed, but whose source the other edition has (interface,
// section 2, source).
func (f Facts) RefusedBody(name string) map[string]any {
	if f.Source == sourceGit {
		f.Source = sourceExternal
		return f.CreateBody(name, f.Sources.Image)
	}
	f.Source = sourceGit
	return f.CreateBody(name, f.Sources.Main)
}

// The values of source (interface, section 2).
const (
	sourceGit      = "git_host"
	sourceExternal = "external_container"
	sourceInternal = "internal_container"
)

const (
	mainRef   = "trunk"
	secondRef = "feature/second-voice"
	tagRef    = "refs/tags/2026.1-rc+1"
	brokenRef = "does-not-compile"

	repoURL     = "https://git.invalid/choir/parrot.git"
	mainGraph   = "graphs.json"
	otherGraph  = "nested/dir/graphs.json"
	mainImage   = "registry.invalid:5000/choir/parrot:1"
	secondImage = "registry.invalid:5000/choir/parrot:2"
	brokenImage = "registry.invalid:5000/choir/parrot:broken"

	assistantID   = "parrot"
	refusedDetail = "the doorman does not know this token"
	clonedDetail  = "Invalid credentials" // what the handler of each conformance graph says, by the contract of the graph
)

// commits has ids of 64 digits, as repositories of git's SHA-256 format have.
var commits = map[string]string{
	mainRef:   strings.Repeat("0a1b2c3d", 8),
	secondRef: strings.Repeat("4e5f6a7b", 8),
	tagRef:    strings.Repeat("8c9d0e1f", 8),
	brokenRef: strings.Repeat("deadbeef", 8),
}

// voices are how the builds sound: each decorates the echo of the conformance graph in its own way.
var voices = map[string]string{
	mainRef:     "First voice",
	secondRef:   "Second voice",
	tagRef:      "Tagged voice",
	mainImage:   "First voice",
	secondImage: "Second voice",
}

func newFacts(opts Options, planeURL, agentURL string) Facts {
	source := sourceGit
	if opts.Edition == SelfHosted {
		source = sourceExternal
	}
	detail := refusedDetail
	if opts.Clone {
		detail = clonedDetail
	}
	return Facts{
		Edition: opts.Edition, ControlURL: planeURL, AgentURL: agentURL, AgentURLField: "source_config.custom_url",
		TenantHeader: opts.TenantHeader,
		Owner:        Credentials{APIKey: "key/of/the+owner=", TenantID: "tenant-one", Bearer: "owner.bearer~token"},
		Other:        Credentials{APIKey: "key/of/another=", TenantID: "tenant-two", Bearer: "other.bearer~token"},
		Users: []User{
			{Token: "ada.token.aaaa", Identity: "ada@example.org", Role: "alto"},
			{Token: "bob.token.bbbb", Identity: "bob#2", Role: "bass"},
			{Token: "dev.token.cccc", Identity: "dev", Role: "builder", Studio: true},
		},
		AssistantID: assistantID, RefusedStatus: opts.RefusedStatus, RefusedDetail: detail,
		Source: source,
		Sources: Sources{
			RepoURL: repoURL, Main: mainRef, Second: secondRef, Tag: tagRef, Broken: brokenRef, Commits: maps.Clone(commits),
			GraphConfig: mainGraph, OtherConfig: otherGraph,
			Image: mainImage, SecondImage: secondImage, BrokenImage: brokenImage,
		},
	}
}

// tenantOf finds the tenant of the request (interface, section 5). The three schemes are alternatives; a tenant id beside a key
// has to be the key's own.
func (s *Server) tenantOf(r *http.Request) (string, bool) {
	for _, c := range []Credentials{s.Owner, s.Other} {
		if _, sent := r.Header["X-Api-Key"]; sent {
			tenant := r.Header.Get(s.TenantHeader)
			if r.Header.Get("X-Api-Key") == c.APIKey {
				return c.TenantID, tenant == "" || tenant == c.TenantID
			}
		} else if bearer(r) == c.Bearer {
			return c.TenantID, true
		}
	}
	return "", false
}

// userOf is the authentication handler of the agent servers (interface, section 5, 2).
func (a *agent) userOf(r *http.Request) (User, bool) {
	token := bearer(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.users, func(u User) bool { return token != "" && token == u.Token })
	if i < 0 {
		return User{}, false
	}
	return a.users[i], true
}

// bearer reads the token; the scheme's name is the same in any case (RFC 9110, section 11.1).
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
