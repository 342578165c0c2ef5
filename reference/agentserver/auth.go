package agentserver

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentconform/agentconform/reference/script"
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

// Access is what a user wants to do with threads. A run belongs to its thread.
type Access struct {
	User   User
	Action string         // create, read, update, delete, search or create_run
	Value  map[string]any // the payload; for reading, what is read
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

// currentAuth authenticates and authorizes with the revision that is current when it is asked.
type currentAuth struct{ server *Server }

// Authenticate asks the handler, if there is one. API keys are for servers without, and for the visual development environment.
func (c currentAuth) Authenticate(ctx context.Context, r Request) (User, error) {
	rev, opts := c.server.rev.Load(), c.server.opts
	studio := r.Headers[headerScheme] == schemeStudio && opts.APIKeyOwner != nil
	switch {
	case rev.app.handler != nil && !studio:
		return scriptAuth{rev, opts.Log}.Authenticate(ctx, r)
	case opts.APIKeyOwner == nil:
		return owner(opts.Owner, false), nil
	}
	identity, ok := opts.APIKeyOwner(r.Headers[headerAPIKey])
	switch {
	case !ok && studio:
		return User{}, httpError(http.StatusUnauthorized, "Invalid API key")
	case !ok:
		return User{}, httpError(http.StatusUnauthorized, "Missing or invalid API key: send it as X-Api-Key")
	}
	return owner(identity, studio), nil
}

func (c currentAuth) Authorize(ctx context.Context, a Access) (Decision, error) {
	rev := c.server.rev.Load()
	if rev.app.handler == nil {
		return Decision{Value: a.Value}, nil
	}
	return scriptAuth{rev, c.server.opts.Log}.Authorize(ctx, a)
}

// The kinds of users, which scripts see as type(user).
const (
	kindUser   = "User"
	kindStudio = "StudioUser"
)

// User is who sent a request: what the authentication handler returned (interface, section 2, "Authenticated user object").
type User struct {
	Identity string
	Fields   map[string]any // all of the object, identity included
	Studio   bool           // from the visual development environment (interface, section 5, item 7)
}

// owner is the user of a server without an authentication handler: the owner of the API key.
func owner(identity string, studio bool) User {
	return User{Identity: identity, Studio: studio, Fields: map[string]any{"identity": identity, "display_name": identity}}
}

func (u User) kind() string {
	if u.Studio {
		return kindStudio
	}
	return kindUser
}

// record is the user as scripts see it.
func (u User) record() (*script.Record, error) { return script.NewRecord(u.kind(), u.Fields) }

// hostNames are what graphs and handlers find in addition to the names of the language:
//
//	fail_http(status, detail)   ends a handler: the request is answered with this status and detail
//	is_studio_user(user)        tells whether the user comes from the visual development environment
func hostNames() starlark.StringDict {
	return starlark.StringDict{
		"fail_http":      script.Func("fail_http", failHTTP),
		"is_studio_user": script.Func("is_studio_user", isStudioUser),
	}
}

func failHTTP(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var status int
	var detail string
	if err := starlark.UnpackArgs("fail_http", args, kwargs, "status", &status, "detail?", &detail); err != nil {
		return nil, err
	}
	if status < 400 || status > 599 {
		return nil, fmt.Errorf("fail_http: the status of a refusal is 400 to 599, not %d", status)
	}
	return nil, &HTTPError{status, detail}
}

func isStudioUser(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var user starlark.Value
	if err := starlark.UnpackPositionalArgs("is_studio_user", args, kwargs, 1, &user); err != nil {
		return nil, err
	}
	r, ok := user.(*script.Record)
	return starlark.Bool(ok && r.Kind() == kindStudio), nil
}
