package config

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config/nearmiss"
)

// Secrets returns every credential with the name under which reports show it: the environment variable that holds
// it. Reports, logs and terminals never see the values.
func (c *Config) Secrets() map[string]string {
	secrets := map[string]string{}
	named := func(name, value string) {
		if _, known := secrets[value]; value != "" && !known { // the first name stays
			secrets[value] = name
		}
	}
	add := func(name, value string) { named("$"+EnvPrefix+name, value) }
	// The part of a header after its scheme is a secret too: the suite also sends it with another scheme.
	addHeader := func(name, value string) {
		add(name, value)
		scheme, rest, _ := strings.Cut(value, " ")
		add(name, rest)
		if pair, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "basic") {
			_, password, _ := strings.Cut(string(pair), ":")
			add(name, string(pair))
			add(name, password)
		}
	}
	addGateway := func(name, value string) {
		if !plainWord(value) {
			addHeader(name, value)
		}
	}
	for _, group := range []struct {
		prefix string
		set    Credentials
	}{{"CREDENTIALS", c.Credentials}, {"OTHER_TENANT", c.OtherTenant}} {
		add(group.prefix+"_API_KEY", group.set.APIKey)
		add(group.prefix+"_TENANT_ID", group.set.TenantID)
		add(group.prefix+"_BEARER", group.set.Bearer)
	}
	for _, m := range nearmiss.Mistakes {
		for name, value := range map[string]string{"API_KEY": c.Credentials.APIKey, "TENANT_ID": c.Credentials.TenantID, "BEARER": c.Credentials.Bearer} {
			named(m.Named(EnvPrefix+"CREDENTIALS_"+name, false), m.Hidden(NearMiss(value, m)))
		}
	}
	for i, u := range c.Users {
		add(envIndex("USERS", i, "TOKEN"), u.Token)
		for name, value := range u.Headers {
			if !public(name) {
				addHeader(envIndex("USERS", i, "HEADERS_"+envWord(name)), value)
			}
		}
	}
	for i, u := range c.Users { // a near-miss credential reveals the valid one
		for _, m := range nearmiss.Mistakes {
			if wrong := m.In(u.Token); wrong != u.Token {
				named(m.Named(EnvPrefix+envIndex("USERS", i, "TOKEN"), false), m.Hidden(wrong))
			}
			for name, value := range u.Headers {
				wrong, encoded := m.InHeader(value)
				if _, behind, both := strings.Cut(wrong, " "); both {
					wrong = behind
				}
				if !encoded {
					wrong = m.Hidden(wrong)
				}
				if !public(name) && !strings.HasSuffix(value, wrong) {
					named(m.Named(EnvPrefix+envIndex("USERS", i, "HEADERS_"+envWord(name)), encoded), wrong)
				}
			}
		}
	}
	for name, value := range c.Agent.StudioHeaders {
		if !public(name) {
			addHeader("AGENT_STUDIO_HEADERS_"+envWord(name), value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers.ControlPlane)) {
		addGateway("HEADERS_CONTROL_PLANE_"+envWord(name), c.Headers.ControlPlane[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers.AgentServer)) {
		addGateway("HEADERS_AGENT_SERVER_"+envWord(name), c.Headers.AgentServer[name])
	}
	for _, secret := range ProxySecrets(c.Proxy) {
		add("PROXY", secret)
	}
	for _, in := range c.userInfos() {
		add(in.name, in.secret)
	}
	for name, value := range templateSecrets(c.Create.Body) {
		add("CREATE_BODY_SECRETS_"+envWord(name), value)
	}
	for name, value := range templateSecrets(c.Create.Refused) {
		add("CREATE_REFUSED_SECRETS_"+envWord(name), value)
	}
	for _, value := range slices.Sorted(maps.Keys(secrets)) {
		for _, inner := range stringsInJSON(value, SafeSecret) {
			if !slices.Contains(c.Common(), inner) {
				named(secrets[value], inner)
			}
		}
	}
	return secrets
}

// Environment holds every secret in the variable under whose name reports show it ("NAME=value"), as the curl lines and scripts of findings need it.
func (c *Config) Environment() []string {
	values := map[string]string{}
	for secret, shown := range c.Secrets() {
		name := strings.Trim(shown, "${}")
		isName := !strings.ContainsAny(name, "}~%") && !strings.HasPrefix(secret, "//")
		if isName && len(secret) > len(values[name]) { // parts of a secret have its name too
			values[name] = secret
		}
	}
	all := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, name+"="+values[name])
	}
	return all
}

// ShortSecrets are the names of the secrets that are too short to be looked for everywhere, in order.
func (c *Config) ShortSecrets() []string {
	found, common := map[string]bool{}, c.Common()
	for secret, name := range c.Secrets() {
		if !strings.HasPrefix(secret, "//") && !strings.HasPrefix(name, "${") && (len(secret) < SafeSecret || slices.Contains(common, secret)) {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// SafeSecret is the length in bytes from which on a secret is looked for everywhere, in all spellings.
const SafeSecret = 12

// Common are texts that the configuration also holds where they are no secrets: replaced wherever they stand they would spoil every report.
func (c *Config) Common() []string {
	all := []string{c.AssistantID, c.Implementation.Name, c.Edition, c.Source(), c.AgentURLFrom, reports.HostPort(c.Target), reports.HostPort(c.AgentTarget)}
	for _, u := range c.Users {
		all = append(all, u.Name, u.Identity)
		eachString(u.Fields, nil, func(_ []string, s string) { all = append(all, s) })
	}
	all = append(append(all, slices.Collect(maps.Keys(c.Vocabulary))...), slices.Collect(maps.Values(c.Vocabulary))...)
	return append(append(all, slices.Collect(maps.Keys(c.Create.Body))...), c.Supports...)
}

// userInfo is a secret in the user info of a URL of the configuration.
type userInfo struct{ name, secret string }

// userInfos are the secrets in the user info of all URLs of the configuration but that of the proxy, also of those within a longer text.
func (c *Config) userInfos() (all []userInfo) {
	found := func(path []string, s string) {
		var words []string
		for _, key := range path {
			words = append(words, envWord(key))
		}
		for _, info := range userInfosIn(s) {
			name, password, both := strings.Cut(info, ":")
			if !both {
				password = name // a token
			}
			add := func(secret string) { all = append(all, userInfo{strings.Join(words, "_") + "_USERINFO", secret}) }
			for _, secret := range []string{password, info} {
				add(secret)
				if plain, err := url.PathUnescape(secret); err == nil && plain != secret {
					add(plain)
				}
			}
			add("//" + info + "@")
		}
	}
	text, err := yaml.Marshal(c)
	var keys map[string]any
	if err != nil || yaml.Unmarshal(text, &keys) != nil {
		return nil // a configuration that was loaded can be written
	}
	delete(keys, "proxy")
	eachString(keys, nil, found)
	return all
}

// public tells whether a header only describes the kind of a request: X-Auth-Scheme, Content-Type. The values of all other
// headers of a user are secrets.
func public(header string) bool {
	words := strings.Split(strings.ToLower(header), "-")
	return slices.Contains([]string{"scheme", "type", "version", "mode"}, words[len(words)-1])
}

// templateSecrets finds the secrets that a create body hands to the deployment: [{name, value}].
func templateSecrets(body map[string]any) map[string]string {
	found := map[string]string{}
	list, _ := body["secrets"].([]any)
	for _, item := range list {
		secret, _ := item.(map[string]any)
		name, _ := secret["name"].(string)
		value, _ := secret["value"].(string)
		found[name] = value
	}
	return found
}
