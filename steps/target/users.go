package target

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/outcome"
)

// Caller is the sender of a request to the agent server.
type Caller struct {
	name   string // as the sentences call them
	Header http.Header
	User   *config.User // nil where it is none that is configured
}

// The callers as the sentences name them.
const (
	TheUser        = "the user"
	TheOtherUser   = "the other user"
	aStudioUser    = "a studio user"
	NoCredentials  = "a caller without credentials"
	anUnknownToken = "a caller with an unknown token"
	anEmptyToken   = "a caller with an empty token"
	anotherScheme  = "a caller with another scheme"
	aPlanesKey     = "a caller with the API key of the control plane"
)

// tokenMistakes are those of callers whose token is almost that of the first user.
var tokenMistakes = map[string]config.Mistake{
	"a caller with a token that has one more character":     config.OneMore,
	"a caller with a token in the other case":               config.OtherCase,
	"a caller with a token that lacks its last character":   config.OneLess,
	"a caller with a token that has another last character": config.OtherEnd,
}

// planesSchemes are the schemes of the control plane with whose credentials callers try the agent server.
var planesSchemes = map[string]string{
	aPlanesKey: SchemeAPIKey,
	"a caller with the tenant ID of the control plane":    SchemeTenantID,
	"a caller with the bearer token of the control plane": SchemeBearer,
}

// WithPlanesCredential tells whether a caller, by its name, tries the agent server with a credential of the control
// plane.
func WithPlanesCredential(name string) bool { return planesSchemes[name] != "" }

// hasNoValidCredentials tells whether a caller has no valid credentials, and none that are made from valid ones.
func hasNoValidCredentials(name string) bool {
	return slices.Contains([]string{NoCredentials, anUnknownToken, anEmptyToken, anotherScheme}, name)
}

// Owner is the user who owns what the scenarios create: the first of the configuration, and where there is none, a
// caller without credentials (the target has no authentication handler then).
func (t *Target) Owner() Caller {
	if len(t.Config.Users) == 0 {
		return Caller{name: TheUser}
	}
	who := t.CallerWith("users.0")
	who.name = TheUser
	return who
}

// studioKey is the key of the credentials of the studio user.
const studioKey = "agent.studio_headers"

// CredentialKey is the key of the configuration that holds the caller's credentials, such as users.0. It is empty for a
// caller who has none, or wrong ones.
func (t *Target) CredentialKey(who Caller) string {
	for i := range t.Config.Users {
		if who.User == &t.Config.Users[i] {
			return fmt.Sprintf("users.%d", i)
		}
	}
	if who.name == aStudioUser {
		return studioKey
	}
	return ""
}

// UserKeys are the keys of the configuration that hold credentials of a caller.
func (t *Target) UserKeys() (keys []string) {
	for i := range t.Config.Users {
		keys = append(keys, fmt.Sprintf("users.%d", i))
	}
	if len(t.Config.Agent.StudioHeaders) > 0 {
		keys = append(keys, studioKey)
	}
	return keys
}

// CallerWith returns the caller whose credentials the key of the configuration holds, as they are now. Where the
// configuration has no such key, that is the caller without credentials.
func (t *Target) CallerWith(key string) Caller {
	for i := range t.Config.Users {
		if key == fmt.Sprintf("users.%d", i) {
			return Caller{name: key, Header: userHeader(t.present().Users[i]), User: &t.Config.Users[i]}
		}
	}
	if key == studioKey {
		return Caller{name: aStudioUser, Header: config.HeaderOf(t.present().Agent.StudioHeaders)}
	}
	return Caller{name: NoCredentials}
}

// Caller returns the caller that a sentence names. Where the configuration lacks it, the error skips the scenario.
func (t *Target) Caller(name string) (Caller, error) {
	if t.AgentRefusal() != 0 && hasNoValidCredentials(name) {
		return Caller{name: name, Header: wrongHeader(config.User{Token: wrongToken}, name)}, nil
	}
	if len(t.Config.Users) == 0 {
		return Caller{}, outcome.Needs("users")
	}
	switch first := t.present().Users[0]; {
	case name == TheUser:
		return t.Owner(), nil
	case name == TheOtherUser && len(t.Config.Users) < 2:
		return Caller{}, outcome.Needs("users.1", " (add a second user under users)")
	case name == TheOtherUser:
		return t.CallerWith("users.1"), nil
	case name == aStudioUser && len(t.Config.Agent.StudioHeaders) == 0:
		return Caller{}, outcome.Needs(studioKey)
	case name == aStudioUser:
		return t.CallerWith(studioKey), nil
	case WithPlanesCredential(name):
		return t.planesCaller(name)
	default:
		mistake, isNearMiss := tokenMistakes[name]
		if !isNearMiss {
			return Caller{name: name, Header: wrongHeader(first, name)}, nil
		}
		if wrong := first.NearMiss(mistake); wrong != nil {
			return Caller{name: name, Header: config.HeaderOf(wrong)}, nil
		}
		key := "users.0.token"
		if len(first.Headers) > 0 {
			key = "users.0.headers"
		}
		return Caller{}, outcome.Inapplicable(key, "the credentials of the first user are the same with this mistake")
	}
}

// planesCaller is a caller with a credential of the control plane, sent as there, and with nothing else. Where the
// address of the agent server is known and the credentials may not be sent there, the error skips the scenario.
func (t *Target) planesCaller(name string) (Caller, error) {
	switch base := t.AgentAddress(); {
	case !t.Config.SeparateCredentials:
		return Caller{}, outcome.Needs("separate_credentials")
	case base != "" && !t.takesPlanesCredentials(base):
		return Caller{}, outcome.Needs("agent_target",
			": credentials of the control plane are sent only to addresses that the configuration names")
	}
	return Caller{name: name, Header: t.Credentials(Asker(planesSchemes[name]))}, nil
}

// takesPlanesCredentials tells whether credentials of the control plane may be sent to an agent server: the
// configuration names its address, or its origin is that of the control plane.
func (t *Target) takesPlanesCredentials(base string) bool {
	if base == t.Config.AgentTarget {
		return true
	}
	a, err := url.Parse(base)
	b, wrong := url.Parse(t.Config.Target)
	return err == nil && wrong == nil && a.Host != "" && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// UnknownCaller has a token that no target accepts, sent as the first user sends theirs.
func (t *Target) UnknownCaller() Caller {
	u := config.User{Token: wrongToken}
	if len(t.Config.Users) > 0 {
		u = t.present().Users[0]
	}
	return Caller{name: anUnknownToken, Header: wrongHeader(u, anUnknownToken)}
}

// wrongToken is a token that no target accepts. It is not a secret, and reports show it.
const wrongToken = "agentconform-unknown-token"

// currentHeader is the header with which a caller asks now: credentials may have been read again since the caller was
// named.
func (t *Target) currentHeader(who Caller) http.Header {
	if key := t.CredentialKey(who); key != "" {
		return t.CallerWith(key).Header
	}
	if who.Header == nil {
		return http.Header{}
	}
	return who.Header.Clone()
}

// userHeader is how a user proves who they are.
func userHeader(u config.User) http.Header {
	if len(u.Headers) > 0 {
		return config.HeaderOf(u.Headers)
	}
	return http.Header{"Authorization": {"Bearer " + u.Token}}
}

// wrongHeader is the user's header with what the kind of caller gets wrong. Another scheme carries a token that
// would be good under its own.
func wrongHeader(u config.User, kind string) http.Header {
	if kind == NoCredentials {
		return http.Header{}
	}
	h, token := userHeader(u), ""
	if kind == anotherScheme {
		scheme, own, both := strings.Cut(h.Get("Authorization"), " ")
		if !both {
			own = wrongToken
		}
		if strings.EqualFold(scheme, "Basic") {
			return http.Header{"Authorization": {"Bearer " + own}}
		}
		return http.Header{"Authorization": {"Basic " + own}}
	}
	if kind == anUnknownToken {
		token = wrongToken
	}
	for name := range h {
		scheme := h.Get(name)[:strings.IndexByte(h.Get(name), ' ')+1]
		h.Set(name, scheme+token)
	}
	return h
}
