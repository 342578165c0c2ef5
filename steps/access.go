package steps

import (
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/steps/config"
)

// asker is who sends a request to the control plane, as the sentences name them.
type asker string

const (
	theClient     asker = "" // with every credential that is configured
	nobody        asker = "no credentials"
	unknownKey    asker = "an unknown API key"
	emptyKey      asker = "an API key that is empty"
	blankKey      asker = "an API key that is blank" // blanks around a value are no part of it, so most targets see an empty one
	longerKey     asker = "an API key that is one character too long"
	otherCaseKey  asker = "an API key that is in another case"
	anotherTenant asker = "another tenant"
)

// The names of the security schemes (section 4).
const (
	schemeAPIKey   = "API Key"
	schemeTenantID = "Tenant ID"
	schemeBearer   = "Bearer Auth"
)

// wrongKey is a key that no target knows. It is no secret, and reports show it.
const wrongKey = "agentconform-unknown-key"

// credentials returns the headers with which the asker asks. A key that is unknown, empty or blank stands alone, or
// a second scheme would open the door.
func (r *run) credentials(who asker) http.Header {
	c, names := r.config.Credentials, r.config.CredentialHeaders
	h := http.Header{}
	set := func(name, value string) {
		if value != "" {
			h[http.CanonicalHeaderKey(name)] = []string{value}
		}
	}
	switch who {
	case nobody:
	case unknownKey:
		set(names.APIKey, wrongKey)
	case emptyKey:
		h[http.CanonicalHeaderKey(names.APIKey)] = []string{""}
	case blankKey:
		set(names.APIKey, "   ")
	case longerKey:
		set(names.APIKey, r.config.MisspeltKey(config.OneMore))
		r.besideKey(set)
	case otherCaseKey:
		set(names.APIKey, r.config.MisspeltKey(config.OtherCase))
		r.besideKey(set)
	case anotherTenant:
		return credentialHeaders(r.config.OtherTenant, names)
	case schemeAPIKey:
		set(names.APIKey, c.APIKey)
	case schemeTenantID:
		set(names.TenantID, c.TenantID)
		if !r.config.TenantIDAlone {
			set(names.APIKey, c.APIKey)
		}
	case schemeBearer:
		set(names.Bearer, bearer(names.Bearer, c.Bearer))
	default:
		return credentialHeaders(preferred(c), names)
	}
	return h
}

// besideKey sends what the valid key is sent with, so that it is the key for which a near miss is refused. What opens the
// door alone stays away.
func (r *run) besideKey(set func(name, value string)) {
	if !r.config.TenantIDAlone {
		set(r.config.CredentialHeaders.TenantID, r.config.Credentials.TenantID)
	}
}

// preferred leaves out the bearer token where there is a key: a target may take only one of them.
func preferred(c config.Credentials) config.Credentials {
	if c.APIKey != "" {
		c.Bearer = ""
	}
	return c
}

func credentialHeaders(c config.Credentials, names config.Credentials) http.Header {
	h := http.Header{}
	for name, value := range map[string]string{names.APIKey: c.APIKey, names.TenantID: c.TenantID, names.Bearer: bearer(names.Bearer, preferred(c).Bearer)} {
		if value != "" {
			h[http.CanonicalHeaderKey(name)] = []string{value}
		}
	}
	return h
}

// bearer writes the token as the Authorization header wants it; any other header takes it bare.
func bearer(header, token string) string {
	if token != "" && http.CanonicalHeaderKey(header) == "Authorization" {
		return "Bearer " + token
	}
	return token
}

// credential returns what is configured for a scheme, and the key that would configure it.
func (r *run) credential(scheme string) (value, key string) {
	switch scheme {
	case schemeTenantID:
		return r.config.Credentials.TenantID, "credentials.tenant_id"
	case schemeBearer:
		return r.config.Credentials.Bearer, "credentials.bearer"
	}
	return r.config.Credentials.APIKey, "credentials.api_key"
}

// isScheme tells whether the asker is the client with one scheme only.
func isScheme(who asker) bool {
	return slices.Contains([]asker{schemeAPIKey, schemeTenantID, schemeBearer}, who)
}
