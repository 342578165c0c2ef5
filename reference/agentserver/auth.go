package agentserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// HTTPError is an answer that is decided where the reason is known.
type HTTPError struct {
	Status int
	Detail string
}

func (e *HTTPError) Error() string { return fmt.Sprintf("%d: %s", e.Status, e.Detail) }

func httpError(status int, format string, args ...any) error {
	return &HTTPError{status, fmt.Sprintf(format, args...)}
}

// Request is what an authentication handler sees of a request.
type Request struct {
	Method  string
	Path    string            // relative to the root of the server
	Headers map[string]string // by lower-cased name; several values are joined by ", "
	Query   map[string]string // the first value of each parameter
}

func requestOf(r *http.Request) Request {
	out := Request{Method: r.Method, Path: r.URL.Path, Headers: map[string]string{}, Query: map[string]string{}}
	for name, values := range r.Header {
		out.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	for name, values := range r.URL.Query() {
		out.Query[name] = values[0]
	}
	return out
}

// Authenticator says who sends a request, or refuses it with an *HTTPError (interface, section 5, items 1, 2 and 4).
type Authenticator interface {
	Authenticate(ctx context.Context, r Request) (User, error)
}

// Access is what a user wants to do.
type Access struct {
	User     User
	Resource string         // "threads"
	Action   string         // create, read, update, delete, search or create_run
	Value    map[string]any // the payload; for reading, what is read
}

// Decision is what an authorization handler answers to an access that it allows.
type Decision struct {
	// Filter restricts the access to threads whose metadata has these values, and is merged into the metadata of what is
	// written. Empty: no restriction.
	Filter map[string]any
	// Value is the payload, as the handler left it.
	Value map[string]any
}

// Authorizer decides about an access, or refuses it with an *HTTPError (interface, section 5, item 6).
type Authorizer interface {
	Authorize(ctx context.Context, a Access) (Decision, error)
}

// headerScheme with the value "studio" marks a request of the visual development environment. It counts only together
// with a valid API key.
const (
	headerScheme = "x-auth-scheme"
	schemeStudio = "studio"
	headerAPIKey = "x-api-key"
)

// keyAuthenticator knows API keys: it serves servers without a handler, and the visual development environment.
type keyAuthenticator struct {
	owner   string
	ofKey   func(key string) (identity string, ok bool) // nil: no key is asked for
	handler func() Authenticator                        // of the current App; yields nil where there is none
}

func (a keyAuthenticator) Authenticate(ctx context.Context, r Request) (User, error) {
	if r.Headers[headerScheme] == schemeStudio && a.ofKey != nil {
		identity, ok := a.ofKey(r.Headers[headerAPIKey])
		if !ok {
			return User{}, httpError(http.StatusUnauthorized, "Invalid API key")
		}
		return owner(identity, true), nil
	}
	if h := a.handler(); h != nil {
		return h.Authenticate(ctx, r)
	}
	if a.ofKey == nil {
		return owner(a.owner, false), nil
	}
	identity, ok := a.ofKey(r.Headers[headerAPIKey])
	if !ok {
		return User{}, httpError(http.StatusUnauthorized, "Missing or invalid API key: send it as X-Api-Key")
	}
	return owner(identity, false), nil
}
