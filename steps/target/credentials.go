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

// Askers with a wrong credential of one scheme, as the kind says: unknown, empty or whitespace, or almost the right one.
func WrongKey(kind string) Asker {
	if kind == "unknown" {
		return UnknownKey
	}
	return Asker("an API key that is " + kind)
}

// WrongBearer is described with WrongKey.
func WrongBearer(kind string) Asker { return Asker("a bearer token that is " + kind) }

// WrongTenant is described with WrongKey.
func WrongTenant(kind string) Asker { return Asker("a tenant ID that is " + kind) }

// wrongValues are the values of wrong credentials, by kind. They stand alone: beside a valid one they are not judged.
var wrongValues = map[string]string{"unknown": wrongKey, "empty": "", "whitespace": "   "}

// mistakes are those in near misses of a credential, as the sentences name them.
var mistakes = map[string]nearmiss.Mistake{"one character too long": nearmiss.OneMore, "in another case": nearmiss.OtherCase,
	"one character too short": nearmiss.OneLess, "changed in its last character": nearmiss.OtherEnd}

// IsNearMiss tells whether a kind of wrong credential is made from the right one.
func IsNearMiss(kind string) bool { _, is := mistakes[kind]; return is }

// MakesMistake tells whether a scheme's credential can be got almost right in this way: it may be the same with the mistake.
func (t *Target) MakesMistake(scheme, kind string) bool {
	value, _ := t.Credential(scheme)
	return config.NearMiss(value, mistakes[kind]) != ""
}

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
		for kind, mistake := range mistakes {
			switch who {
			case WrongKey(kind):
				set(names.APIKey, config.NearMiss(c.APIKey, mistake))
				t.besideKey(set)
				return h
			case WrongBearer(kind):
				set(names.Bearer, bearer(names.Bearer, config.NearMiss(c.Bearer, mistake)))
				return h
			case WrongTenant(kind):
				set(names.TenantID, config.NearMiss(c.TenantID, mistake))
				return h
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
