package target

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/config/nearmiss"
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
	aLongerToken   = "a caller with a token that has one more character"
	aTurnedToken   = "a caller with a token in the other case"
	aShorterToken  = "a caller with a token that lacks its last character"
	aChangedToken  = "a caller with a token that has another last character"
	aPlanesKey     = "a caller with the API key of the control plane"
	aPlanesTenant  = "a caller with the tenant ID of the control plane"
	aPlanesBearer  = "a caller with the bearer token of the control plane"
)

// HasNoValidCredentials tells whether a caller has no valid credentials, and none that are made from valid ones.
func HasNoValidCredentials(name string) bool {
	return slices.Contains([]string{NoCredentials, anUnknownToken, anEmptyToken, anotherScheme}, name)
}

// Owner is the user who owns what the scenarios create: the first of the configuration, and where there is none, a
// caller without credentials (the target has no authentication handler then).
func (t *Target) Owner() Caller {
	if len(t.Config.Users) == 0 {
		return Caller{name: TheUser}
	}
	u := &t.Config.Users[0]
	return Caller{name: TheUser, Header: UserHeader(*u), User: u}
}

// studioKey is the key of the credentials of the studio user.
const studioKey = "agent.studio_headers"

// CredentialKey is the key of the configuration that holds the caller's credentials, such as users.0. It is empty for a caller
// who has none, or wrong ones.
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

// CallerWith returns the caller whose credentials the key of the configuration holds. Where the
// configuration has no such key, that is the caller without credentials.
func (t *Target) CallerWith(key string) Caller {
	for i := range t.Config.Users {
		if u := &t.Config.Users[i]; key == fmt.Sprintf("users.%d", i) {
			return Caller{name: key, Header: UserHeader(*u), User: u}
		}
	}
	if key == studioKey {
		return Caller{name: aStudioUser, Header: headerOf(t.present().Agent.StudioHeaders)}
	}
	return Caller{name: NoCredentials}
}

// Caller returns the caller that a sentence names. Where the configuration lacks it, the error skips the scenario.
func (t *Target) Caller(name string) (Caller, error) {
	if t.AgentRefusal() != 0 && HasNoValidCredentials(name) {
		return Caller{name: name, Header: wrongHeader(config.User{Token: wrongToken}, name)}, nil
	}
	if len(t.Config.Users) == 0 {
		return Caller{}, outcome.Needs("users")
	}
	switch name {
	case TheUser:
		return t.Owner(), nil
	case TheOtherUser:
		if len(t.Config.Users) < 2 {
			return Caller{}, outcome.Needs("users.1", " (add a second user under users)")
		}
		u := &t.Config.Users[1]
		return Caller{name: name, Header: UserHeader(*u), User: u}, nil
	case aStudioUser:
		if len(t.Config.Agent.StudioHeaders) == 0 {
			return Caller{}, outcome.Needs("agent.studio_headers")
		}
		return Caller{name: name, Header: headerOf(t.present().Agent.StudioHeaders)}, nil
	case aPlanesKey, aPlanesTenant, aPlanesBearer:
		return t.planesCaller(name)
	case aLongerToken, aTurnedToken, aShorterToken, aChangedToken:
		return nearMiss(t.present().Users[0], name)
	}
	return Caller{name: name, Header: wrongHeader(t.present().Users[0], name)}, nil
}

// UnknownCaller has a token that no target accepts, sent as the first user sends theirs.
func (t *Target) UnknownCaller() Caller {
	u := config.User{Token: wrongToken}
	if len(t.Config.Users) > 0 {
		u = t.present().Users[0]
	}
	return Caller{name: anUnknownToken, Header: wrongHeader(u, anUnknownToken)}
}

var tokenMistakes = map[string]nearmiss.Mistake{aLongerToken: nearmiss.OneMore, aTurnedToken: nearmiss.OtherCase, aShorterToken: nearmiss.OneLess, aChangedToken: nearmiss.OtherEnd}

// nearMiss is a caller whose token is almost that of the user.
func nearMiss(u config.User, name string) (Caller, error) {
	wrong := u.NearMiss(tokenMistakes[name])
	if wrong == nil {
		key := "users.0.token"
		if len(u.Headers) > 0 {
			key = "users.0.headers"
		}
		return Caller{}, outcome.Inapplicable(key, "the credentials of the first user are the same with this mistake")
	}
	return Caller{name: name, Header: headerOf(wrong)}, nil
}

// wrongToken is a token that no target accepts. It is not a secret, and reports show it.
const wrongToken = "agentconform-unknown-token"

// currentHeader is the header with which a caller asks now: credentials may have been read again since the caller was named.
func (t *Target) currentHeader(who Caller) http.Header {
	for i := range t.Config.Users {
		if who.User == &t.Config.Users[i] {
			return UserHeader(t.present().Users[i])
		}
	}
	switch {
	case who.name == aStudioUser:
		return headerOf(t.present().Agent.StudioHeaders)
	case who.Header == nil:
		return http.Header{}
	}
	return who.Header.Clone()
}

// UserHeader is how a user proves who they are.
func UserHeader(u config.User) http.Header {
	if len(u.Headers) > 0 {
		return headerOf(u.Headers)
	}
	return http.Header{"Authorization": {"Bearer " + u.Token}}
}

func headerOf(values map[string]string) http.Header {
	h := http.Header{}
	for name, value := range values {
		h[http.CanonicalHeaderKey(name)] = []string{value}
	}
	return h
}

// wrongHeader is the user's header with what the kind of caller gets wrong. Another scheme carries a token that
// would be good under its own.
func wrongHeader(u config.User, kind string) http.Header {
	if kind == NoCredentials {
		return http.Header{}
	}
	h := UserHeader(u)
	if kind == anotherScheme {
		switch scheme, token, both := strings.Cut(h.Get("Authorization"), " "); {
		case both && strings.EqualFold(scheme, "Basic"):
			return http.Header{"Authorization": {"Bearer " + token}}
		case both:
			return http.Header{"Authorization": {"Basic " + token}}
		}
		return http.Header{"Authorization": {"Basic " + wrongToken}}
	}
	token := ""
	if kind == anUnknownToken {
		token = wrongToken
	}
	for name := range h {
		if scheme, _, both := strings.Cut(h.Get(name), " "); both {
			h[name] = []string{scheme + " " + token}
		} else {
			h[name] = []string{token}
		}
	}
	return h
}
