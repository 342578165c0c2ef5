package config

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/net/http/httpguts"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
)

// Complete derives values from other keys and validates the configuration. Load calls it; one made in code needs it
// before a run.
func (c *Config) Complete() error { return told(c.complete()) }

// choices are the values of keys that have few.
var choices = map[string][]string{
	"edition":        {Cloud, SelfHosted, ""},
	"supports":       features.ClaimWords(),
	"agent.listing":  {"get", "search", ""},
	"fixtures.graph": {Python, JavaScript, Starlark},
}

func (c *Config) complete() []*Error {
	v := &validator{}
	v.address("target", &c.Target)
	v.address("agent_target", &c.AgentTarget)
	whole := reflect.ValueOf(c).Elem()
	for key, allowed := range choices {
		eachString(valueOf(whole, key), key, func(_, value string) {
			if !slices.Contains(allowed, value) {
				list := strings.TrimSuffix(strings.Join(allowed, ", "), ", ")
				v.add(key, fmt.Sprintf("unknown value %q", value), "use one of "+list)
			}
		})
	}
	if s := c.Agent.RejectedStatus; s < 400 || s > 599 {
		v.add("agent.rejected_status", fmt.Sprintf("%d is not an HTTP error status", s), "use 400 to 599")
	}
	if c.Polling.MaxInterval < c.Polling.Interval {
		v.add("polling.max_interval", "is shorter than polling.interval", "set it to polling.interval or longer")
	}
	if c.AgentURLFrom == "" {
		v.add("agent_url_from", "is empty", "set it to the path of the agent server's URL in a deployment, such as "+
			Default().AgentURLFrom)
	}
	if _, valid := parseRate(c.Rate); !valid {
		v.add("rate", fmt.Sprintf("%q is not a rate", c.Rate), "use a number of requests per second, minute or hour, "+
			"such as 5/s or 300/m")
	}
	if tag := c.Alternatives.TagRef; tag != "" && !strings.HasPrefix(tag, "refs/tags/") {
		v.add("alternatives.tag_ref", fmt.Sprintf("%q does not begin with refs/tags/", tag), "use the full name, such as "+
			"refs/tags/v1")
	}
	v.fixtures(c)
	v.deployments(c)
	v.vocabulary(c)
	v.users(c)
	v.secrets(c)
	v.reach(c)
	slices.SortStableFunc(v.problems, func(a, b *Error) int { return strings.Compare(a.Key, b.Key) })
	return v.problems
}

type validator struct{ problems []*Error }

func (v *validator) add(key, problem, remedy string) {
	v.problems = append(v.problems, &Error{Source: "configuration", Key: key, Problem: problem, Remedy: remedy})
}

// address accepts http and https URLs with a host, and strips a trailing slash. One that may hold a password is not
// shown.
func (v *validator) address(key string, at *string) {
	const example = "use a URL such as https://host.example/api"
	u, err := url.Parse(*at)
	switch {
	case *at == "":
	case err != nil:
		v.add(key, "is not a URL", example)
	case u.User != nil:
		v.add(key, "contains a user name or password", "remove it from the URL and set the keys of credentials")
	case u.Opaque != "":
		v.add(key, "the value is not an http or https URL", example)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		v.add(key, fmt.Sprintf("%q is not an http or https URL", u), example)
	case u.RawQuery != "" || u.Fragment != "":
		v.add(key, "has a query or a fragment", "use the base URL only")
	default:
		*at = strings.TrimRight(*at, "/")
	}
}

// fixtures accepts an address to listen on, the URL of a host without a path (clients of a registry look for it at
// /v2/), and users that the handler of the served graph knows.
func (v *validator) fixtures(c *Config) {
	f := &c.Fixtures
	before := len(v.problems)
	v.address("fixtures.advertise", &f.Advertise)
	u, _ := url.Parse(f.Advertise)
	if isURL := f.Advertise != "" && len(v.problems) == before; isURL && (u.Path != "" || everywhere(u.Hostname())) {
		v.add("fixtures.advertise", fmt.Sprintf("%q has a path, or is no address that a builder can reach", f.Advertise),
			"use scheme, name or address of this machine, and port only, such as http://ci.example:8090")
	}
	host, port, err := net.SplitHostPort(f.Serve)
	number, invalid := strconv.ParseUint(port, 10, 16)
	switch {
	case f.Serve == "" && f.Advertise != "":
		v.add("fixtures.serve", "is missing, and fixtures.advertise is set", "set it to the address to listen on, such as "+
			"0.0.0.0:8090, or remove fixtures.advertise")
	case f.Serve == "":
		return
	case err != nil || invalid != nil:
		v.add("fixtures.serve", fmt.Sprintf("%q is not an address to listen on", f.Serve), "use HOST:PORT, such as "+
			"0.0.0.0:8090")
	case f.Advertise == "" && everywhere(host):
		v.add("fixtures.advertise", fmt.Sprintf("is missing, and fixtures.serve %q names no host", f.Serve),
			"set it to the URL at which the target's builder reaches this machine, such as http://ci.example:"+port)
	case f.Advertise != "" && number == 0:
		v.add("fixtures.serve", fmt.Sprintf("%q is another port in each run, and fixtures.advertise names one", f.Serve),
			"choose a port, such as 8090")
	}
	for i, u := range c.Users {
		key := fmt.Sprintf("users.%d", i)
		if c.AgentTarget != "" { // the users are those of another graph
			break
		}
		if u.Token == "" && len(u.Headers) > 0 {
			v.add(key+".token", "is missing, and the graph of fixtures accepts bearer tokens only", "set it in place of "+
				"headers, or remove fixtures")
		}
		for _, name := range slices.Sorted(maps.Keys(u.Fields)) {
			if _, text := u.Fields[name].(string); name != "role" || !text {
				v.add(key+".fields."+name, "is not a field that the graph of fixtures adds to a user", "remove it, and use "+
					"role with a string")
			}
		}
	}
}

// everywhere tells whether an address to listen on is that of all interfaces.
func everywhere(host string) bool {
	at, err := netip.ParseAddr(host)
	return host == "" || err == nil && at.IsUnspecified()
}

// deployments accepts a create body as far as a run reads it, and ids as the interface has them (section 2).
func (v *validator) deployments(c *Config) {
	sources := []string{GitHost, ExternalContainer, InternalContainer}
	_, named := c.Create.Body["source"]
	filled := c.Fixtures.Serve != "" && !named // by the fixtures
	if c.Target != "" && len(c.Create.Body) > 0 {
		if !filled && !slices.Contains(sources, c.Source()) {
			v.add("create.body.source", fmt.Sprintf("%q is not a source of the interface", c.Source()), "use one of "+
				strings.Join(sources, ", ")+"; if the target has another name for it, set vocabulary")
		}
		for _, key := range []string{"source_config", "source_revision_config"} {
			if value, given := c.Create.Body[key]; given {
				if _, object := value.(map[string]any); !object {
					v.add("create.body."+key, "is not an object", "write it as keys with values")
				}
			}
		}
	}
	for key, id := range map[string]string{"deployment": c.Existing.Deployment, "revision": c.Existing.Revision} {
		if id != "" && uuid.Validate(id) != nil {
			v.add("existing."+key, fmt.Sprintf("%q is not a valid UUID", id), "use the id that the control plane returns")
		}
	}
	if c.Existing.Revision != "" && c.Existing.Deployment == "" {
		v.add("existing.deployment", "is missing", "set it to the id of the deployment of existing.revision")
	}
}

// vocabulary accepts neutral words of the interface only.
func (v *validator) vocabulary(c *Config) {
	for _, m := range spec.Words(c.Vocabulary).Misuses() {
		known := strings.Join(spec.Neutral(), ", ")
		v.add("vocabulary."+m.Name, m.Problem, "the words of the interface, on the left, are "+known)
	}
}

// users wants each user to be another one than those before: the second must not see what the first has created.
func (v *validator) users(c *Config) {
	const other = ": the second must not see the data of the first"
	for i := range c.Users {
		u, key := &c.Users[i], fmt.Sprintf("users.%d", i)
		u.Identity = cmp.Or(u.Identity, u.Name)
		hasCredentials := u.Token != "" || len(u.Headers) > 0
		if !hasCredentials {
			v.add(key+".token", "is missing", "set "+Variable(key+".token")+", or headers for another scheme")
		}
		if u.Name == "" || slices.ContainsFunc(c.Users[:i], func(before User) bool { return before.Name == u.Name }) {
			v.add(key+".name", "is missing or used twice", "give each user a different name")
		}
		for j, before := range c.Users[:i] {
			switch {
			case hasCredentials && u.Token == before.Token && maps.Equal(u.Headers, before.Headers):
				v.add(key+".token", fmt.Sprintf("is that of users.%d", j), "use the token of another user"+other)
			case u.Identity != "" && u.Identity == before.Identity:
				v.add(key+".identity", fmt.Sprintf("is that of users.%d", j), "use another user"+other)
			}
		}
		own := []string{c.Credentials.APIKey, c.Credentials.TenantID, c.Credentials.Bearer}
		if c.SeparateCredentials && u.Token != "" && slices.Contains(own, u.Token) {
			v.add("separate_credentials", fmt.Sprintf("is true, but %s.token is also a credential for the control plane", key),
				"use another token, or remove separate_credentials")
		}
	}
}

// ShortestSecret is the length in bytes below which replacing a secret wherever it occurs would spoil every report.
const ShortestSecret = 4

// secrets rejects what is not valid in an HTTP header. The values of credentials are never shown.
func (v *validator) secrets(c *Config) {
	eachString(reflect.ValueOf(c).Elem(), "", func(key, value string) {
		name := headerOf(key)
		if inside(key, "credential_headers") {
			name, value = value, ""
		}
		if name != "" && !httpguts.ValidHeaderFieldName(name) || inside(key, "credential_headers") && name == "" {
			v.add(key, fmt.Sprintf("%q is not a valid HTTP header name", name), "use letters, digits and hyphens")
		}
		if !isSecret(key) {
			return
		}
		if value != "" && len(value) < ShortestSecret && !isPublic(key, value) {
			v.add(key, fmt.Sprintf("is shorter than %d characters: too short to redact it in reports", ShortestSecret),
				"use a longer secret")
		}
		if !httpguts.ValidHeaderFieldValue(value) || strings.TrimSpace(value) != value {
			v.add(key, "has a line break, leading or trailing whitespace, or another character that is not allowed in an "+
				"HTTP header", "check for a copy error")
		}
		if inside(key, "headers") {
			v.gateway(c, key, http.CanonicalHeaderKey(name), value)
		}
	})
}

// ownHeaders are set by the client itself.
var ownHeaders = []string{"Connection", "Content-Length", "Content-Type", "Host", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade"}

// gateway accepts a header of each request that does not decide who asks.
func (v *validator) gateway(c *Config, key, name, value string) {
	taken := map[string]string{"Authorization": "credentials.bearer"}
	if inside(key, "headers.agent_server") {
		taken["Authorization"] = "users.0.token"
	}
	for header, credential := range map[string]string{c.CredentialHeaders.APIKey: "api_key",
		c.CredentialHeaders.TenantID: "tenant_id", c.CredentialHeaders.Bearer: "bearer"} {
		if header = http.CanonicalHeaderKey(header); taken[header] == "" {
			taken[header] = "credentials." + credential
		}
	}
	c.eachSecret(func(key, _ string) {
		if header := headerOf(key); header != "" && !inside(key, "headers") {
			taken[http.CanonicalHeaderKey(header)] = key
		}
	})
	switch {
	case value == "":
		v.add(key, "is empty", "set its value, or remove it")
	case slices.Contains(ownHeaders, name):
		v.add(key, "is set by the suite itself", "remove it; user name and password of a proxy go into the URL of proxy")
	case taken[name] != "":
		v.add(key, "is a credential of the target: it would be sent with requests that must have none",
			"set "+taken[name]+" instead")
	}
}

// reach validates the keys that say how the target is reached.
func (v *validator) reach(c *Config) {
	if _, err := c.TLS.Client(); err != nil {
		v.problems = append(v.problems, err)
	}
	isHost := func(name string) bool {
		return name != "" && httpguts.ValidHostHeader(name) && !strings.ContainsAny(name, ":/")
	}
	if name := c.TLS.ServerName; name != "" && !isHost(name) {
		v.add("tls.server_name", fmt.Sprintf("%q is not a host name", name), "use the name in the server's certificate, "+
			"without a port")
	}
	for host, ip := range c.Resolve {
		if _, err := netip.ParseAddr(ip); err != nil {
			v.add("resolve."+host, fmt.Sprintf("%q is not an IP address", ip), "use an address such as 127.0.0.1, without a "+
				"port: the port is that of the URL")
		}
		if _, err := netip.ParseAddr(host); err == nil || !isHost(host) {
			v.add("resolve."+host, fmt.Sprintf("%q is not a host name", host), "use the host of target or agent_target, "+
				"without a port")
		}
	}
	v.proxy(c.Proxy)
	at, agentAt, sockets := reports.HostPort(c.Target), reports.HostPort(c.AgentTarget), c.Socket
	if sockets != (Sockets{}) && c.Target == "" && c.AgentTarget == "" {
		v.add("socket", "is set, but neither target nor agent_target", "set target or agent_target to the URL that the "+
			"server has on the socket, such as http://localhost")
	}
	if at != "" && at == agentAt && sockets.ControlPlane != sockets.AgentServer {
		v.add("socket.agent_server", "target and agent_target have the same host and port, but not the same socket",
			"use another host name in one of the two URLs")
	}
}

func (v *validator) proxy(address string) {
	u, err := url.Parse(address)
	switch {
	case address == "":
	case err != nil, !slices.Contains([]string{"http", "https", "socks5h"}, u.Scheme), u.Hostname() == "" || u.Port() == "",
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		v.add("proxy", "is not an http, https or socks5h URL with a port and without a path", "use a URL such as "+
			"http://proxy.example:3128")
	case u.User != nil && len(userInfo(u.User.String())[0]) < ShortestSecret:
		v.add("proxy", fmt.Sprintf("has a password of fewer than %d characters: too short to redact it in reports",
			ShortestSecret), "use a longer password")
	}
}
