package target

import (
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/config/nearmiss"
)

// Asker is who sends a request to the control plane, as the sentences name them.
type Asker string

// The askers.
const (
	TheClient     Asker = "" // with every credential that is configured
	Nobody        Asker = "no credentials"
	UnknownKey    Asker = "an unknown API key"
	emptyKey      Asker = "an API key that is empty"
	blankKey      Asker = "an API key that is whitespace" // whitespace around a value is not part of it, so most targets see an empty one
	longerKey     Asker = "an API key that is one character too long"
	otherCaseKey  Asker = "an API key that is in another case"
	shorterKey    Asker = "an API key that is one character too short"
	otherEndKey   Asker = "an API key that is changed in its last character"
	AnotherTenant Asker = "another tenant"
	UsersToken    Asker = "the token of a user of the agent server"
)

// The names of the security schemes (section 4).
const (
	SchemeAPIKey   = "API Key"
	SchemeTenantID = "Tenant ID"
	SchemeBearer   = "Bearer Auth"
)

// wrongKey is a key that no target accepts. It is not a secret, and reports show it.
const wrongKey = "agentconform-unknown-key"

// WrongBearer and WrongTenant are askers with a bearer token or a tenant ID that is unknown, empty or whitespace, as the kind says.
func WrongBearer(kind string) Asker { return Asker("a bearer token that is " + kind) }

// WrongTenant is described with WrongBearer.
func WrongTenant(kind string) Asker { return Asker("a tenant ID that is " + kind) }

// wrongValues are the values of wrong credentials, by kind. They stand alone: beside a valid one they are not judged.
var wrongValues = map[string]string{"unknown": wrongKey, "empty": "", "whitespace": "   "}

// keyMistakes are the mistakes in near misses of the API key.
var keyMistakes = map[Asker]nearmiss.Mistake{longerKey: nearmiss.OneMore, otherCaseKey: nearmiss.OtherCase, shorterKey: nearmiss.OneLess, otherEndKey: nearmiss.OtherEnd}

// MistakeOf tells which mistake an asker makes in the API key, if any.
func MistakeOf(who Asker) (m nearmiss.Mistake, is bool) { m, is = keyMistakes[who]; return m, is }

// Credentials returns the headers with which the asker asks. A key that is unknown, empty or blank stands alone, or
// a second scheme would be accepted in its place.
func (t *Target) Credentials(who Asker) http.Header {
	now := t.present()
	c, names := now.Credentials, now.CredentialHeaders
	h := http.Header{}
	set := func(name, value string) {
		if value != "" {
			h[http.CanonicalHeaderKey(name)] = []string{value}
		}
	}
	switch who {
	case Nobody:
	case UnknownKey:
		set(names.APIKey, wrongKey)
	case emptyKey:
		h[http.CanonicalHeaderKey(names.APIKey)] = []string{""}
	case blankKey:
		set(names.APIKey, "   ")
	case longerKey, otherCaseKey, shorterKey, otherEndKey:
		set(names.APIKey, now.NearMissKey(keyMistakes[who]))
		t.besideKey(set)
	case UsersToken:
		if len(now.Users) > 0 {
			set(names.Bearer, bearer(names.Bearer, now.Users[0].Token))
		}
	case AnotherTenant:
		return credentialHeaders(now.OtherTenant, names)
	case SchemeAPIKey:
		set(names.APIKey, c.APIKey)
	case SchemeTenantID:
		set(names.TenantID, c.TenantID)
		if !t.Config.TenantIDAlone {
			set(names.APIKey, c.APIKey)
		}
	case SchemeBearer:
		set(names.Bearer, bearer(names.Bearer, c.Bearer))
	default:
		for kind, value := range wrongValues {
			switch who {
			case WrongBearer(kind):
				return http.Header{http.CanonicalHeaderKey(names.Bearer): {schemeOf(names.Bearer) + value}}
			case WrongTenant(kind):
				return http.Header{http.CanonicalHeaderKey(names.TenantID): {value}}
			}
		}
		return credentialHeaders(Preferred(c), names)
	}
	return h
}

// besideKey sends what the valid key is sent with, so that it is the key for which a near miss is refused. What is
// accepted by itself is not sent.
func (t *Target) besideKey(set func(name, value string)) {
	if !t.Config.TenantIDAlone {
		set(t.Config.CredentialHeaders.TenantID, t.present().Credentials.TenantID)
	}
}

// Preferred leaves out the bearer token where there is a key: a target may take only one of them.
func Preferred(c config.Credentials) config.Credentials {
	if c.APIKey != "" {
		c.Bearer = ""
	}
	return c
}

func credentialHeaders(c config.Credentials, names config.Credentials) http.Header {
	h := http.Header{}
	for name, value := range map[string]string{names.APIKey: c.APIKey, names.TenantID: c.TenantID, names.Bearer: bearer(names.Bearer, Preferred(c).Bearer)} {
		if value != "" {
			h[http.CanonicalHeaderKey(name)] = []string{value}
		}
	}
	return h
}

// bearer is the token with the scheme in the Authorization header, and without it in any other.
func bearer(header, token string) string {
	if token == "" {
		return ""
	}
	return schemeOf(header) + token
}

// schemeOf is what comes before a bearer token in the header.
func schemeOf(header string) string {
	if http.CanonicalHeaderKey(header) == "Authorization" {
		return "Bearer "
	}
	return ""
}

// Credential returns what is configured for a scheme, and the key that would configure it.
func (t *Target) Credential(scheme string) (value, key string) {
	switch scheme {
	case SchemeTenantID:
		return t.Config.Credentials.TenantID, "credentials.tenant_id"
	case SchemeBearer:
		return t.Config.Credentials.Bearer, "credentials.bearer"
	}
	return t.Config.Credentials.APIKey, "credentials.api_key"
}

// IsScheme tells whether the asker is the client with one scheme only.
func IsScheme(who Asker) bool {
	return slices.Contains([]Asker{SchemeAPIKey, SchemeTenantID, SchemeBearer}, who)
}

// Sent names the variables of the credentials that were sent, with their headers.
func (t *Target) Sent(group string, c config.Credentials) string {
	c, names := Preferred(c), t.Config.CredentialHeaders
	var all []string
	for _, each := range []struct{ value, key, header string }{
		{c.APIKey, "api_key", names.APIKey}, {c.TenantID, "tenant_id", names.TenantID}, {c.Bearer, "bearer", names.Bearer},
	} {
		if each.value != "" {
			all = append(all, Variable(group+"."+each.key)+", sent as "+each.header)
		}
	}
	return strings.Join(all, ", and ")
}

// Variable is the name of the environment variable of the key.
func Variable(key string) string {
	return config.EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}
