package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/net/http/httpguts"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/spec/spelling"
)

// Complete derives values from other keys and validates the configuration. Load calls it; one made in code needs it before a run.
func (c *Config) Complete() error { return c.complete().err() }

func (c *Config) complete() Errors {
	v := &validator{}
	v.address("target", &c.Target)
	v.address("agent_target", &c.AgentTarget)
	v.oneOf("edition", c.Edition, "", Cloud, SelfHosted)
	for _, word := range c.Supports {
		v.oneOf("supports", word, features.ClaimWords()...)
	}
	for _, word := range c.Agent.Words {
		v.oneOf("agent.words", word, GraphWords...)
	}
	v.oneOf("agent.listing", c.Agent.Listing, "", "get", "search")
	if s := c.Agent.RejectedStatus; s < 400 || s > 599 {
		v.add("agent.rejected_status", fmt.Sprintf("%d is not an HTTP error status", s), "use 400 to 599")
	}
	if c.Polling.MaxInterval < c.Polling.Interval {
		v.add("polling.max_interval", "is shorter than polling.interval", "set it to polling.interval or longer")
	}
	if c.AgentURLFrom == "" {
		v.add("agent_url_from", "is empty", "set it to the path of the agent server's URL in a deployment, such as source_config.custom_url")
	}
	v.fixtures(c)
	if c.Target != "" {
		v.create(c)
	}
	v.existing(c)
	if _, err := parseRate(c.Rate); err != nil {
		v.add("rate", fmt.Sprintf("%q is not a rate", c.Rate), "use a number of requests per second, minute or hour, such as 5/s or 300/m")
	}
	v.alternatives(c)
	v.vocabulary(c)
	v.credentials(c)
	v.users(c)
	v.separate(c)
	v.reach(c)
	return v.problems
}

// ShortestSecret is the length in bytes below which replacing a secret wherever it occurs would spoil every report.
const ShortestSecret = 4

type validator struct{ problems Errors }

func (v *validator) add(key, problem, remedy string) {
	v.problems = append(v.problems, &Error{Source: "configuration", Key: key, Problem: problem, Remedy: remedy})
}

// shownAddress is an address for an error; one that may hold a password is not shown.
func shownAddress(u *url.URL) string {
	if u.Opaque != "" || u.User != nil {
		return "the value"
	}
	return fmt.Sprintf("%q", u)
}

// address accepts http and https URLs with a host, and strips a trailing slash.
func (v *validator) address(key string, at *string) {
	if *at == "" {
		return
	}
	u, err := url.Parse(*at)
	switch {
	case err != nil:
		v.add(key, "is not a URL", "use a URL such as https://host.example/api")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Hostname() == "":
		v.add(key, shownAddress(u)+" is not an http or https URL", "use a URL such as https://host.example/api")
	case u.User != nil:
		v.add(key, "contains a user name or password", "remove it from the URL and set the keys of credentials")
	case u.RawQuery != "" || u.Fragment != "":
		v.add(key, "has a query or a fragment", "use the base URL only")
	default:
		*at = strings.TrimRight(*at, "/")
	}
}

func (v *validator) oneOf(key, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		v.add(key, fmt.Sprintf("unknown value %q", value), "use one of "+strings.Join(slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" }), ", "))
	}
}

func (v *validator) create(c *Config) {
	sources := []string{GitHost, ExternalContainer, InternalContainer}
	if len(c.Create.Body) == 0 {
		return // a partial run: checks that need no new deployment
	}
	_, named := c.Create.Body["source"]
	filled := c.Fixtures.Serve != "" && !named // by the fixtures
	if !filled && !slices.Contains(sources, c.Source()) {
		v.add("create.body.source", fmt.Sprintf("%q is not a source of the interface", c.Source()), "use one of "+strings.Join(sources, ", ")+"; if the target has another name for it, set vocabulary")
	}
	for _, key := range []string{"source_config", "source_revision_config"} {
		if value, given := c.Create.Body[key]; given {
			if _, object := value.(map[string]any); !object {
				v.add("create.body."+key, "is not an object", "write it as keys with values")
			}
		}
	}
}

// existing wants ids as the interface has them (section 2), at a control plane.
func (v *validator) existing(c *Config) {
	for _, id := range []struct{ key, value string }{{"existing.deployment", c.Existing.Deployment}, {"existing.revision", c.Existing.Revision}} {
		if id.value != "" && uuid.Validate(id.value) != nil {
			v.add(id.key, fmt.Sprintf("%q is not a valid UUID", id.value), "use the id that the control plane returns")
		}
	}
	if c.Existing.Revision != "" && c.Existing.Deployment == "" {
		v.add("existing.deployment", "is missing", "set it to the id of the deployment of existing.revision")
	}
}

func (v *validator) alternatives(c *Config) {
	if tag := c.Alternatives.TagRef; tag != "" && !strings.HasPrefix(tag, "refs/tags/") {
		v.add("alternatives.tag_ref", fmt.Sprintf("%q does not begin with refs/tags/", tag), "use the full name, such as refs/tags/v1")
	}
}

// vocabulary accepts neutral words of the interface only.
func (v *validator) vocabulary(c *Config) {
	for _, m := range spec.Words(c.Vocabulary).Misuses() {
		remedy := "use one of " + strings.Join(spec.Neutral(), ", ")
		if near := spelling.Nearest(m.Name, spec.Neutral()); near != "" && near != m.Name {
			remedy = "did you mean " + near + "?"
		} else if name := c.Vocabulary[m.Name]; slices.Contains(spec.Neutral(), name) {
			remedy = "write the interface's word on the left: " + name + ": " + m.Name
		}
		v.add("vocabulary."+m.Name, m.Problem, remedy)
	}
}

func (v *validator) credentials(c *Config) {
	for key, h := range map[string]string{"api_key": c.CredentialHeaders.APIKey, "tenant_id": c.CredentialHeaders.TenantID, "bearer": c.CredentialHeaders.Bearer} {
		v.header("credential_headers."+key, h, "")
	}
	for group, set := range map[string]Credentials{"credentials": c.Credentials, "other_tenant": c.OtherTenant} {
		v.header(group+".api_key", "X", set.APIKey)
		v.header(group+".tenant_id", "X", set.TenantID)
		v.header(group+".bearer", "X", set.Bearer)
	}
}

// separate wants no token of a user among the credentials of the control plane, where they are said to be separate.
func (v *validator) separate(c *Config) {
	for i, u := range c.Users {
		if c.SeparateCredentials && u.Token != "" && slices.Contains([]string{c.Credentials.APIKey, c.Credentials.TenantID, c.Credentials.Bearer}, u.Token) {
			v.add("separate_credentials", fmt.Sprintf("is true, but users.%d.token is also a credential for the control plane", i), "use another token, or remove separate_credentials")
		}
	}
}

func (v *validator) users(c *Config) {
	names := map[string]bool{}
	for i := range c.Users {
		u := &c.Users[i]
		key := fmt.Sprintf("users.%d", i)
		if u.Name == "" || names[u.Name] {
			v.add(key+".name", "is missing or used twice", "give each user a different name")
		}
		names[u.Name] = true
		u.Identity = cmp.Or(u.Identity, u.Name)
		if u.Token == "" && len(u.Headers) == 0 {
			v.add(key+".token", "is missing", fmt.Sprintf("set %sUSERS_%d_TOKEN, or headers for another scheme", EnvPrefix, i))
		}
		v.header(key+".token", http.CanonicalHeaderKey("authorization"), u.Token)
		for name, value := range u.Headers {
			v.header(key+".headers."+name, name, value)
		}
		v.distinct(c.Users[:i], u, key)
	}
	for name, value := range c.Agent.StudioHeaders {
		v.header("agent.studio_headers."+name, name, value)
	}
}

// distinct wants a user to be another one than those before: the second must not see what the first has created.
func (v *validator) distinct(before []User, u *User, key string) {
	for i, other := range before {
		switch {
		case (u.Token != "" || len(u.Headers) > 0) && u.Token == other.Token && maps.Equal(u.Headers, other.Headers):
			v.add(key+".token", fmt.Sprintf("is that of users.%d", i), "use the token of another user: the second must not see the data of the first")
		case u.Identity != "" && u.Identity == other.Identity:
			v.add(key+".identity", fmt.Sprintf("is that of users.%d", i), "use another user: the second must not see the data of the first")
		}
	}
}

// header rejects what is not valid in an HTTP header; the value may be a secret and is never shown.
func (v *validator) header(key, name, value string) {
	if !httpguts.ValidHeaderFieldName(name) {
		v.add(key, fmt.Sprintf("%q is not a valid HTTP header name", name), "use letters, digits and hyphens")
	}
	if value != "" && len(value) < ShortestSecret {
		v.add(key, fmt.Sprintf("is shorter than %d characters: too short to redact it in reports", ShortestSecret), "use a longer secret")
	}
	if !httpguts.ValidHeaderFieldValue(value) || strings.TrimSpace(value) != value {
		v.add(key, "has a line break, leading or trailing whitespace, or another character that is not allowed in an HTTP header", "check for a copy error")
	}
}
