package target

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/config"
)

// Sender is the sender of a request to the control plane, as the steps name it. It is one of the constants below, or a
// sender with an invalid credential of one scheme, such as "a bearer token that is unknown". A credential can also be
// empty, whitespace, or a valid one with a mistake.
type Sender string

// The senders.
const (
	TheClient     Sender = "" // with every configured credential
	Nobody        Sender = "no credentials"
	UnknownKey    Sender = "an unknown API key"
	AnotherTenant Sender = "the other tenant"
	// The next three are the other tenant with a part of its credentials. A server may look up the tenant of an API key,
	// but trust a bearer token or the tenant ID in a header, or take an empty one for all tenants.
	AnotherTenantsToken Sender = "the other tenant with only its bearer token"
	AnotherTenantHere   Sender = "the other tenant with the tenant ID of the client"
	AnotherTenantEmpty  Sender = "the other tenant with an empty tenant ID"
	UsersToken          Sender = "the token of a user of the agent server"
)

// The names of the security schemes (section 4). As senders, they are the client with only the credential of this scheme.
const (
	SchemeAPIKey   = "API Key"
	SchemeTenantID = "Tenant ID"
	SchemeBearer   = "Bearer Auth"
)

// IsAnotherTenant reports whether the sender is the other tenant, with any of its credentials.
func IsAnotherTenant(who Sender) bool {
	return slices.Contains([]Sender{AnotherTenant, AnotherTenantsToken, AnotherTenantHere, AnotherTenantEmpty}, who)
}

// IsScheme reports whether the sender is the client with only one scheme.
func IsScheme(who Sender) bool {
	return slices.Contains([]Sender{SchemeAPIKey, SchemeTenantID, SchemeBearer}, who)
}

// wrongValues are the values of invalid credentials by kind. They are sent without any valid credential. Unknown values
// are not secrets, and reports show them. Whitespace around a value is not part of it, so most targets see an empty
// value. The JWT claims to be of an administrator, because some servers read the claims without verifying the signature.
var wrongValues = map[string]string{"unknown": "agentconform-unknown-key", "empty": "", "whitespace": "   ",
	"a JWT with a wrong signature": encoded(`{"alg":"HS256","typ":"JWT"}`) + "." + encoded(`{"sub":"admin","exp":4102444800}`) + "." +
		encoded("agentconform-unknown-key")}

// basic is a credential of a scheme that the interface does not define. It replaces the bearer token.
const basic = "replaced by Basic credentials"

func encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

// mistakes are the mistakes in a credential, as the steps name them.
var mistakes = map[string]config.Mistake{"one character too long": config.OneMore, "in another case": config.OtherCase,
	"one character too short": config.OneLess, "changed in its last character": config.OtherEnd}

// wrong returns the scheme and the kind of a sender's invalid credential. The kind is empty for other senders.
func (who Sender) wrong() (scheme, kind string) {
	credential, kind, _ := strings.Cut(string(who), " that is ")
	switch credential {
	case "an API key":
		scheme = SchemeAPIKey
	case "a tenant ID":
		scheme = SchemeTenantID
	case "a bearer token":
		scheme = SchemeBearer
	}
	return scheme, kind
}

// IsSame reports whether the sender's mistake does not change the credential. It also returns its scheme and key.
func (t *Target) IsSame(who Sender) (scheme, key string, isSame bool) {
	scheme, kind := who.wrong()
	value := t.ofScheme(scheme).value
	mistake, isNearMiss := mistakes[kind]
	return scheme, t.KeyOf(scheme), isNearMiss && mistake.In(value) == value
}

// KeyOf returns the configuration key of the client's credential of a scheme.
func (t *Target) KeyOf(scheme string) string { return "credentials." + t.ofScheme(scheme).Key }

// Given is a credential of one scheme. Key is its key within a group.
type Given struct{ Scheme, Key, header, value string }

// schemes returns the credentials of a group for all schemes. Their values may be empty.
func (t *Target) schemes(c config.Credentials) []Given {
	names := t.Config.CredentialHeaders
	return []Given{{SchemeAPIKey, "api_key", names.APIKey, c.APIKey},
		{SchemeTenantID, "tenant_id", names.TenantID, c.TenantID}, {SchemeBearer, "bearer", names.Bearer, c.Bearer}}
}

// ofScheme returns the client's credential of a scheme, or the API key for other names.
func (t *Target) ofScheme(scheme string) Given {
	all := t.schemes(t.present().Credentials)
	for _, g := range all {
		if g.Scheme == scheme {
			return g
		}
	}
	return all[0]
}

// Given returns the credentials of a group that are set.
func (t *Target) Given(c config.Credentials) []Given {
	var all []Given
	for _, g := range t.schemes(c) {
		if g.value != "" {
			all = append(all, g)
		}
	}
	return all
}

// send adds a credential of the scheme to a header.
func (g Given) send(h http.Header, value string) {
	if g.Scheme == SchemeBearer && http.CanonicalHeaderKey(g.header) == "Authorization" {
		value = "Bearer " + value
	}
	h.Set(g.header, value)
}

// Credentials returns the headers with the credentials of a sender.
func (t *Target) Credentials(who Sender) http.Header {
	now, h := t.present(), http.Header{}
	c := now.Credentials
	switch who {
	case Nobody:
		c = config.Credentials{}
	case UnknownKey:
		return t.wrongCredential(SchemeAPIKey, "unknown")
	case AnotherTenant:
		c = Preferred(now.OtherTenant)
	case AnotherTenantsToken:
		c = config.Credentials{Bearer: now.OtherTenant.Bearer}
	case AnotherTenantHere:
		tenant := c.TenantID
		c = Preferred(now.OtherTenant)
		c.TenantID = tenant
	case AnotherTenantEmpty:
		c = Preferred(now.OtherTenant)
		c.TenantID = ""
		h.Set(t.Config.CredentialHeaders.TenantID, "")
	case UsersToken:
		c = config.Credentials{}
		if len(now.Users) > 0 {
			c.Bearer = now.Users[0].Token
		}
	case SchemeAPIKey:
		c = config.Credentials{APIKey: c.APIKey}
	case SchemeTenantID:
		c.Bearer = ""
		if now.TenantIDAlone {
			c.APIKey = ""
		}
	case SchemeBearer:
		c = config.Credentials{Bearer: c.Bearer}
	default:
		scheme, kind := who.wrong()
		if kind != "" {
			return t.wrongCredential(scheme, kind)
		}
		c = Preferred(c)
	}
	for _, each := range t.Given(c) {
		each.send(h, each.value)
	}
	return h
}

// wrongCredential returns the header with an invalid credential of a scheme. It has no credential of another scheme,
// because that could be accepted instead. There is one exception: if the valid API key needs the tenant ID, an API key
// with a mistake is also sent with it, so that only the key can be the reason for the refusal.
func (t *Target) wrongCredential(scheme, kind string) http.Header {
	of, tenant := t.ofScheme(scheme), t.ofScheme(SchemeTenantID)
	h := http.Header{}
	if kind == basic {
		h.Set(of.header, "Basic "+base64.StdEncoding.EncodeToString([]byte("admin:"+wrongValues["unknown"])))
		return h
	}
	value, isFixed := wrongValues[kind]
	if !isFixed {
		value = mistakes[kind].In(of.value)
	}
	needsTenant := !isFixed && of.Scheme == SchemeAPIKey && !t.Config.TenantIDAlone
	if needsTenant && tenant.value != "" {
		tenant.send(h, tenant.value)
	}
	of.send(h, value)
	return h
}

// Preferred removes the bearer token if there is an API key, because a target may accept only one of them.
func Preferred(c config.Credentials) config.Credentials {
	if c.APIKey != "" {
		c.Bearer = ""
	}
	return c
}

// Sent lists the credentials that were sent, with the places of their values and their headers. It reports whether a
// value begins with the word Bearer.
func (t *Target) Sent(group string, c config.Credentials) string {
	var all []string
	for _, each := range t.Given(Preferred(c)) {
		sent := t.Config.Named(group+"."+each.Key) + ", sent as " + each.header
		if config.BeginsWithBearer(each.value) {
			sent += " with the word Bearer"
		}
		all = append(all, sent)
	}
	return strings.Join(all, ", and ")
}
