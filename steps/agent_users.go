package steps

import (
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/steps/config"
)

// caller is who asks the agent server.
type caller struct {
	name   string // as the sentences call them
	header http.Header
	user   *config.User // nil where it is none that is configured
}

// The callers as the sentences name them.
const (
	theUser        = "the user"
	theOtherUser   = "the other user"
	aStudioUser    = "a studio user"
	noCredentials  = "a caller without credentials"
	anUnknownToken = "a caller with an unknown token"
	anEmptyToken   = "a caller with an empty token"
	anotherScheme  = "a caller with another scheme"
	aLongerToken   = "a caller with a token that has one more character"
	aTurnedToken   = "a caller with a token in the other case"
)

// owner is the user who owns what the scenarios create: the first of the configuration, and where there is none, a
// caller without credentials (the target has no authentication handler then).
func (r *run) owner() caller {
	if len(r.config.Users) == 0 {
		return caller{name: theUser}
	}
	u := &r.config.Users[0]
	return caller{name: theUser, header: userHeader(*u), user: u}
}

// caller returns the caller that a sentence names. Where the configuration lacks it, the error skips the scenario.
func (r *run) caller(name string) (caller, error) {
	if len(r.config.Users) == 0 {
		return caller{}, needs("users")
	}
	switch name {
	case theUser:
		return r.owner(), nil
	case theOtherUser:
		if len(r.config.Users) < 2 {
			return caller{}, needs("users.1 (add a second user under users)")
		}
		u := &r.config.Users[1]
		return caller{name: name, header: userHeader(*u), user: u}, nil
	case aStudioUser:
		if len(r.config.Agent.StudioHeaders) == 0 {
			return caller{}, needs("agent.studio_headers")
		}
		return caller{name: name, header: headerOf(r.config.Agent.StudioHeaders)}, nil
	case aLongerToken, aTurnedToken:
		return misspelt(r.config.Users[0], name)
	}
	return caller{name: name, header: wrongHeader(r.config.Users[0], name)}, nil
}

// misspelt is a caller whose token is almost that of the user.
func misspelt(u config.User, name string) (caller, error) {
	how := config.OneMore
	if name == aTurnedToken {
		how = config.OtherCase
	}
	wrong := u.Misspelt(how)
	if wrong == nil {
		return caller{}, inapplicable("the credentials of the first user are the same in the other case")
	}
	return caller{name: name, header: headerOf(wrong)}, nil
}

// wrongToken is a token that no target knows. It is no secret, and reports show it.
const wrongToken = "agentconform-unknown-token"

// userHeader is how a user proves who they are.
func userHeader(u config.User) http.Header {
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
	if kind == noCredentials {
		return http.Header{}
	}
	h := userHeader(u)
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
