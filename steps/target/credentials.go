package target

import (
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Asker is who sends a request to the control plane, as the sentences name them: one of those below, or who has a wrong
// credential of one scheme, such as "a bearer token that is unknown" (empty, whitespace, or a near miss).
type Asker string

// The askers.
const (
	TheClient     Asker = "" // with every credential that is configured
	Nobody        Asker = "no credentials"
	UnknownKey    Asker = "an unknown API key"
	AnotherTenant Asker = "the other tenant"
	UsersToken    Asker = "the token of a user of the agent server"
)

// The names of the security schemes (section 4), which are askers, too: the client with one scheme only.
const (
	SchemeAPIKey   = "API Key"
	SchemeTenantID = "Tenant ID"
	SchemeBearer   = "Bearer Auth"
)

// IsScheme tells whether the asker is the client with one scheme only.
func IsScheme(who Asker) bool {
	return slices.Contains([]Asker{SchemeAPIKey, SchemeTenantID, SchemeBearer}, who)
}

// wrongValues are the values of wrong credentials, by kind. They stand alone: beside a valid one they are not judged.
// No target accepts the unknown one, which is not a secret: reports show it. Whitespace around a value is not part of
// it, so most targets see an empty one.
var wrongValues = map[string]string{"unknown": "agentconform-unknown-key", "empty": "", "whitespace": "   "}

// mistakes are those in near misses of a credential, as the sentences name them.
var mistakes = map[string]config.Mistake{"one character too long": config.OneMore, "in another case": config.OtherCase,
	"one character too short": config.OneLess, "changed in its last character": config.OtherEnd}

// wrong returns the scheme of an asker with a wrong credential, and what is wrong; the kind is empty for others.
func (who Asker) wrong() (scheme, kind string) {
	credential, kind, _ := strings.Cut(string(who), " that is ")
	return map[string]string{"an API key": SchemeAPIKey, "a tenant ID": SchemeTenantID,
		"a bearer token": SchemeBearer}[credential], kind
}

// IsSame tells whether the mistake of a near miss changes nothing in the credential, with its scheme and key.
func (t *Target) IsSame(who Asker) (scheme, key string, isSame bool) {
	scheme, kind := who.wrong()
	value := t.ofScheme(scheme).value
	mistake, isNearMiss := mistakes[kind]
	return scheme, t.KeyOf(scheme), isNearMiss && mistake.In(value) == value
}

// KeyOf is the key that configures the client's credential of a scheme.
func (t *Target) KeyOf(scheme string) string { return "credentials." + t.ofScheme(scheme).Key }

// Given is a credential of one scheme, by its key within a group of them.
type Given struct{ Scheme, Key, header, value string }

// schemes are all of them, with the credentials of a group, which may be empty.
func (t *Target) schemes(c config.Credentials) []Given {
	names := t.Config.CredentialHeaders
	return []Given{{SchemeAPIKey, "api_key", names.APIKey, c.APIKey},
		{SchemeTenantID, "tenant_id", names.TenantID, c.TenantID}, {SchemeBearer, "bearer", names.Bearer, c.Bearer}}
}

// ofScheme is the client's credential of a scheme: the key where it is none of the others.
func (t *Target) ofScheme(scheme string) Given {
	all := t.schemes(t.present().Credentials)
	return all[max(0, slices.IndexFunc(all, func(g Given) bool { return g.Scheme == scheme }))]
}

// Given are the credentials of a group that are set.
func (t *Target) Given(c config.Credentials) []Given {
	return slices.DeleteFunc(t.schemes(c), func(g Given) bool { return g.value == "" })
}

// send adds a credential of the scheme to a header.
func (g Given) send(h http.Header, value string) {
	if g.Scheme == SchemeBearer && http.CanonicalHeaderKey(g.header) == "Authorization" {
		value = "Bearer " + value
	}
	h.Set(g.header, value)
}

// Credentials returns the headers with which the asker asks.
func (t *Target) Credentials(who Asker) http.Header {
	now, h := t.present(), http.Header{}
	c := now.Credentials
	switch who {
	case Nobody:
		c = config.Credentials{}
	case UnknownKey:
		return t.wrongCredential(SchemeAPIKey, "unknown")
	case AnotherTenant:
		c = Preferred(now.OtherTenant)
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
		if scheme, kind := who.wrong(); kind != "" {
			return t.wrongCredential(scheme, kind)
		}
		c = Preferred(c)
	}
	for _, each := range t.Given(c) {
		each.send(h, each.value)
	}
	return h
}

// wrongCredential is the header with a wrong credential of a scheme. It stands alone, or a second scheme would be
// accepted in its place. A near miss of the key is sent with what the valid key is sent with, so that it is the key for
// which it is refused.
func (t *Target) wrongCredential(scheme, kind string) http.Header {
	of, tenant := t.ofScheme(scheme), t.ofScheme(SchemeTenantID)
	h := http.Header{}
	value, isNone := wrongValues[kind]
	if !isNone {
		value = mistakes[kind].In(of.value)
	}
	if !isNone && of.Scheme == SchemeAPIKey && tenant.value != "" && !t.Config.TenantIDAlone {
		tenant.send(h, tenant.value)
	}
	of.send(h, value)
	return h
}

// Preferred leaves out the bearer token where there is a key: a target may take only one of them.
func Preferred(c config.Credentials) config.Credentials {
	if c.APIKey != "" {
		c.Bearer = ""
	}
	return c
}

// Sent names the variables of the credentials that were sent, with their headers.
func (t *Target) Sent(group string, c config.Credentials) string {
	var all []string
	for _, each := range t.Given(Preferred(c)) {
		all = append(all, config.Variable(group+"."+each.Key)+", sent as "+each.header)
	}
	return strings.Join(all, ", and ")
}

// Disguise says how a request is written so that a server may take it for that of somebody else, as a sentence names
// it: with headers that claim more than its credentials say, or by a path that a server may route to the same
// operation, while what checks its credentials knows the path in one form only. The ids in it stay as they are.
func (t *Target) Disguise(how string, ids ...string) (claim http.Header, written func(path string) string, err error) {
	written = func(path string) string { return path }
	switch how {
	case "a slash at the end":
		written = func(path string) string { return path + "/" }
	case "a doubled slash":
		written = func(path string) string { return "/" + path }
	case "a path parameter": // of the first segment: in another one it is part of an id
		written = func(path string) string {
			first, rest, _ := strings.Cut(path[1:], "/")
			return strings.TrimSuffix("/"+first+";x=1/"+rest, "/")
		}
	case "capital letters":
		written = func(path string) string {
			path = strings.ToUpper(path)
			for _, id := range ids {
				path = strings.ReplaceAll(path, strings.ToUpper(id), id)
			}
			return path
		}
	default:
		claim, err = t.claim(how)
	}
	return claim, written, err
}

// claim returns headers with which a client claims more than its credentials say, as a sentence names them: servers
// behind a proxy that sets them, or with an entrance for their makers, believe some. Headers that the configuration
// gives a meaning are left out; where none is left, the error skips the scenario.
func (t *Target) claim(what string) (http.Header, error) {
	user := "admin"
	if len(t.Config.Users) > 0 {
		user = t.Config.Users[0].Owner()
	}
	if what == "the API key of the control plane" {
		who, err := t.planesCaller(aPlanesKey)
		return who.Header, err
	}
	claims := map[string]http.Header{
		"headers that name the user": {"X-User-Id": {user}, "X-User": {user}, "X-Owner": {user}, "X-Remote-User": {user},
			"Remote-User": {user}, "X-Forwarded-User": {user}, "X-Auth-Request-User": {user}, "X-Authenticated-User": {user}},
		"headers that claim a studio user or an administrator": {"X-Studio-User": {"true"}, "X-Auth-Scheme": {"studio"},
			"X-Admin": {"true"}, "X-Role": {"admin"}},
		"headers that claim a request of this machine": {"X-Forwarded-For": {"127.0.0.1"}, "X-Real-Ip": {"127.0.0.1"},
			"X-Internal": {"true"}},
		"headers that override the path":     {"X-Original-Url": {"/"}, "X-Rewrite-Url": {"/"}},
		"a header that overrides the method": {"X-Http-Method-Override": {"OPTIONS"}},
	}
	header, c := claims[what], t.Config
	meant := append(gatewayNames(c), c.CredentialHeaders.APIKey, c.CredentialHeaders.TenantID, c.CredentialHeaders.Bearer)
	for _, key := range t.UserKeys() {
		for name := range t.CallerWith(key).Header {
			meant = append(meant, name)
		}
	}
	for _, name := range meant {
		header.Del(name)
	}
	if len(header) == 0 {
		return nil, outcome.Inapplicable("users", "the configuration gives these headers a meaning of their own")
	}
	return header, nil
}
