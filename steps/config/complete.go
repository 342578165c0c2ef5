package config

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Complete fills what follows from other keys and holds the whole to what a run can use. Load does so itself; a
// configuration that was put together in code needs it before a run.
func (c *Config) Complete() error { return c.complete().err() }

func (c *Config) complete() Errors {
	v := &validator{}
	v.address("target", &c.Target)
	v.address("agent_target", &c.AgentTarget)
	v.oneOf("edition", c.Edition, "", Cloud, SelfHosted)
	v.oneOf("agent.listing", c.Agent.Listing, "get", "search")
	if s := c.Agent.RejectedStatus; s < 400 || s > 599 {
		v.add("agent.rejected_status", fmt.Sprintf("%d is no HTTP error status", s), "give one from 400 to 599")
	}
	if c.Polling.MaxInterval < c.Polling.Interval {
		v.add("polling.max_interval", "is shorter than polling.interval", "give one that is at least as long")
	}
	if c.AgentURLFrom == "" {
		v.add("agent_url_from", "is empty", "give the path of the agent server's address in a deployment, such as source_config.custom_url")
	}
	if c.Target != "" {
		v.create(c)
	}
	v.alternatives(c)
	v.credentials(c)
	v.users(c)
	return v.problems
}

// shortestSecret is the length below which replacing a secret wherever it occurs would spoil every report.
const shortestSecret = 4

type validator struct{ problems Errors }

func (v *validator) add(key, problem, remedy string) {
	v.problems = append(v.problems, &Error{Source: "configuration", Key: key, Problem: problem, Remedy: remedy})
}

// address holds a base address to http or https with a host, and strips a closing slash.
func (v *validator) address(key string, at *string) {
	if *at == "" {
		return
	}
	u, err := url.Parse(*at)
	switch {
	case err != nil:
		v.add(key, "is no URL", "give one such as https://host.example/api")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.Hostname() == "":
		v.add(key, fmt.Sprintf("%q is no http or https address", u.Redacted()), "give one such as https://host.example/api")
	case u.User != nil:
		v.add(key, "holds a user name or password", "take it out of the address and use the keys below credentials")
	case u.RawQuery != "" || u.Fragment != "":
		v.add(key, "has a query or a fragment", "give the base address only")
	default:
		*at = strings.TrimRight(*at, "/")
	}
}

func (v *validator) oneOf(key, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		v.add(key, fmt.Sprintf("%q is not known", value), "give one of "+strings.Join(slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" }), ", "))
	}
}

func (v *validator) create(c *Config) {
	sources := []string{GitHost, ExternalContainer, InternalContainer}
	if len(c.Create.Body) == 0 {
		v.add("create.body", "is missing", "give the JSON object that your control plane takes at POST /v2/deployments (serve --write-config shows an example)")
		return
	}
	if !slices.Contains(sources, c.Source()) {
		v.add("create.body.source", fmt.Sprintf("%q is no source of the interface", c.Source()), "give one of "+strings.Join(sources, ", ")+" (vocabulary translates it)")
	}
	for _, key := range []string{"source_config", "source_revision_config"} {
		if value, given := c.Create.Body[key]; given {
			if _, object := value.(map[string]any); !object {
				v.add("create.body."+key, "is no object", "give it keys with values")
			}
		}
	}
}

func (v *validator) alternatives(c *Config) {
	if tag := c.Alternatives.TagRef; tag != "" && !strings.HasPrefix(tag, "refs/tags/") {
		v.add("alternatives.tag_ref", fmt.Sprintf("%q does not begin with refs/tags/", tag), "give the full path of the tag")
	}
	for _, wire := range slices.Sorted(maps.Keys(c.Vocabulary)) {
		if c.Vocabulary[wire] == "" {
			v.add("vocabulary."+wire, "is empty", "give the target's own word, or leave the key out")
		}
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
	if c.Target != "" && c.Credentials == (Credentials{}) {
		v.add("credentials.api_key", "is missing, and so is every other credential", "set "+EnvPrefix+"CREDENTIALS_API_KEY, or the key in the file")
	}
}

func (v *validator) users(c *Config) {
	names := map[string]bool{}
	for i := range c.Users {
		u := &c.Users[i]
		key := fmt.Sprintf("users.%d", i)
		if u.Name == "" || names[u.Name] {
			v.add(key+".name", "is missing or used twice", "give each user a name of its own")
		}
		names[u.Name] = true
		if u.Identity == "" {
			u.Identity = u.Name
		}
		if u.Token == "" && len(u.Headers) == 0 {
			v.add(key+".token", "is missing", fmt.Sprintf("set %sUSERS_%d_TOKEN, or headers for another scheme", EnvPrefix, i))
		}
		v.header(key+".token", http.CanonicalHeaderKey("authorization"), u.Token)
		for name, value := range u.Headers {
			v.header(key+".headers."+name, name, value)
		}
	}
	for name, value := range c.Agent.StudioHeaders {
		v.header("agent.studio_headers."+name, name, value)
	}
}

// header refuses what HTTP cannot carry; the value may be a secret and is never shown.
func (v *validator) header(key, name, value string) {
	if !httpguts.ValidHeaderFieldName(name) {
		v.add(key, fmt.Sprintf("%q is no name of an HTTP header", name), "use letters, digits and hyphens")
	}
	if value != "" && len(value) < shortestSecret {
		v.add(key, fmt.Sprintf("is shorter than %d characters, too short to be kept out of reports", shortestSecret), "use a longer one")
	}
	if !httpguts.ValidHeaderFieldValue(value) || strings.TrimSpace(value) != value {
		v.add(key, "has a line break, a blank at an end or another character that no HTTP header can carry", "check how it was pasted")
	}
}
