package independent

import (
	"net/http"
	"strings"
)

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
	known := map[string]string{}
	for ref, id := range commits {
		known[ref] = id
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
		AssistantID: assistantID, RefusedStatus: opts.RefusedStatus, RefusedDetail: refusedDetail,
		Source: source,
		Sources: Sources{
			RepoURL: repoURL, Main: mainRef, Second: secondRef, Tag: tagRef, Broken: brokenRef, Commits: known,
			GraphConfig: mainGraph, OtherConfig: otherGraph,
			Image: mainImage, SecondImage: secondImage, BrokenImage: brokenImage,
		},
	}
}

// tenantOf tells whose the request is (interface, section 5). The three schemes are alternatives; a tenant id beside a key
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
func (s *Server) userOf(r *http.Request) (User, bool) {
	token := bearer(r)
	for _, u := range s.Users {
		if token == u.Token {
			return u, true
		}
	}
	return User{}, false
}

// bearer reads the token; the scheme's name is the same in any case (RFC 9110, section 11.1).
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}
