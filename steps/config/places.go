package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// SecretPlaces says which secrets the configuration puts into which places of requests, so that recorded requests can be
// sent again: by header, and in the body of a creation.
type SecretPlaces struct {
	plane, agent map[string]map[string]string // by header: secrets by their names
	body         map[string]string            // secrets of deployments by their names
}

// SecretPlaces returns the places at which requests of this configuration carry secrets.
func (c *Config) SecretPlaces() SecretPlaces {
	p := SecretPlaces{plane: map[string]map[string]string{}, agent: map[string]map[string]string{}, body: map[string]string{}}
	secrets := c.Secrets()
	note := func(half map[string]map[string]string, header, value string) {
		key := http.CanonicalHeaderKey(header)
		if half[key] == nil {
			half[key] = map[string]string{}
		}
		for secret, name := range secrets {
			if strings.Contains(value, secret) && len(secret) > len(half[key][name]) { // a whole header and its parts have one name
				half[key][name] = secret
			}
		}
	}
	for _, set := range []Credentials{c.Credentials, c.OtherTenant} {
		note(p.plane, c.CredentialHeaders.APIKey, set.APIKey)
		note(p.plane, c.CredentialHeaders.TenantID, set.TenantID)
		note(p.plane, c.CredentialHeaders.Bearer, set.Bearer)
	}
	for _, m := range Misspellings {
		note(p.plane, c.CredentialHeaders.APIKey, c.MisspeltKey(m))
	}
	for _, u := range c.Users {
		note(p.agent, "Authorization", u.Token)
		all := []map[string]string{u.Headers}
		for _, m := range Misspellings {
			all = append(all, u.Misspelt(m))
		}
		for _, headers := range all {
			for name, value := range headers {
				note(p.agent, name, value)
			}
		}
	}
	for name, value := range c.Agent.StudioHeaders {
		note(p.agent, name, value)
	}
	for _, template := range []map[string]any{c.Create.Body, c.Create.Refused} {
		for _, value := range templateSecrets(template) {
			if name := secrets[value]; name != "" {
				p.body[name] = value
			}
		}
	}
	return p
}

// Header puts secrets in the place of their names in the recorded value of a header. The error names a secret that the
// header is to carry and that is not configured.
func (p SecretPlaces) Header(toPlane bool, header, recorded string) (string, error) {
	allowed := p.agent[http.CanonicalHeaderKey(header)]
	if toPlane {
		allowed = p.plane[http.CanonicalHeaderKey(header)]
	}
	longestFirst := slices.SortedFunc(maps.Keys(allowed), func(a, b string) int { return len(b) - len(a) }) // one may begin with another
	for _, name := range longestFirst {
		if before, after, found := strings.Cut(recorded, name); found {
			return before + allowed[name] + after, nil
		}
	}
	if name := secretName.FindString(recorded); name != "" {
		return "", fmt.Errorf("the secret %s is not configured for the header %s: set it in the environment or the file", strings.Trim(name, "${}"), header)
	}
	return recorded, nil
}

var secretName = regexp.MustCompile(`\$\{?` + EnvPrefix + `[A-Z0-9_]+`)

// Body puts secrets of deployments in the place of their names in a recorded create body: only where such a name is the
// whole value of a secret ({"secrets": [{"name", "value"}]}).
func (p SecretPlaces) Body(recorded string) string {
	if !json.Valid([]byte(recorded)) {
		return recorded
	}
	secrets := gjson.Get(recorded, "secrets").Array()
	for _, secret := range slices.Backward(secrets) { // from the end, so that earlier places stay where they are
		value := secret.Get("value")
		known, ours := p.body[value.Str]
		if value.Type != gjson.String || !ours {
			continue
		}
		at := secret.Index + value.Index
		quoted, err := json.Marshal(known)
		if err == nil && at > 0 && strings.HasPrefix(recorded[at:], value.Raw) {
			recorded = recorded[:at] + string(quoted) + recorded[at+len(value.Raw):]
		}
	}
	return recorded
}
