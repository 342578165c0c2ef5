package agentserver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentconform/agentconform/reference/httpapi"
	"github.com/agentconform/agentconform/reference/script"
)

// User is the sender of a request, as the authentication handler returned it (interface, section 2, "Authenticated user
// object").
type User struct {
	Identity string
	Fields   map[string]any // the whole object, with the identity
	Studio   bool           // the request is from the visual development environment (interface, section 5, item 7)
}

// The kinds of users. In scripts, type(user) returns the kind.
const (
	kindUser   = "User"
	kindStudio = "StudioUser"
)

// record returns the user as an object for scripts.
func (u User) record() (*script.Record, error) {
	kind := kindUser
	if u.Studio {
		kind = kindStudio
	}
	return script.NewRecord(kind, u.Fields)
}

// authenticate returns the sender of a request, or a refusal (interface, section 5, items 1, 2 and 4). It calls the handler,
// if there is one. API keys are used without a handler, and for requests of the visual development environment, which have
// the header X-Auth-Scheme: studio.
func (s *Server) authenticate(r *http.Request) (User, error) {
	rev := s.rev.Load()
	studio := r.Header.Get("X-Auth-Scheme") == "studio" && s.opts.APIKeyOwner != nil
	if rev.app.handler != nil && !studio {
		return rev.authenticate(r)
	}
	identity, ok := "owner", true
	if s.opts.APIKeyOwner != nil {
		identity, ok = s.opts.APIKeyOwner(r.Header.Get("X-Api-Key"))
	}
	if !ok {
		return User{}, httpapi.Refuse(http.StatusUnauthorized, "Missing or invalid API key: send it as X-Api-Key")
	}
	fields := map[string]any{"identity": identity, "display_name": identity}
	return User{Identity: identity, Studio: studio, Fields: fields}, nil
}

// access is the result of an authorization handler that allows an action.
type access struct {
	// filter restricts the action to threads whose metadata contains these values. It is merged into metadata that is
	// written. An empty filter is no restriction.
	filter map[string]any
	value  map[string]any // the payload, which the handler may have changed
}

// authorize authorizes an action on threads (create, read, update, delete, search or create_run), or returns a refusal
// (interface, section 5, item 6). The value is the payload of the request, or the IDs of the objects that are read. A run
// belongs to its thread.
func (s *Server) authorize(c *call, action string, value map[string]any) (access, error) {
	rev := s.rev.Load()
	if rev.app.handler == nil {
		return access{value: value}, nil
	}
	return rev.authorize(c.Context(), c.user, action, value)
}

// handlerTime is the time limit of a call of an authentication or authorization handler.
const handlerTime = 5 * time.Second

var (
	errNoIdentity = errors.New(`it returned no identity: return a dict with at least "identity", a non-empty string`)
	errNoFilter   = errors.New("it must return a dict (the filter), None, True or False")
)

func (rev *revision) authenticate(r *http.Request) (User, error) {
	headers, query := map[string]any{}, map[string]any{}
	for name, values := range r.Header {
		headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	for name, values := range r.URL.Query() {
		query[name] = values[0]
	}
	request, err := script.NewRecord("Request", map[string]any{
		"method": r.Method, "path": r.URL.Path, "headers": headers, "query": query,
	})
	if err != nil {
		return User{}, rev.failed("authenticate", err)
	}
	returned, err := rev.call(r.Context(), rev.app.handler.authenticate, request)
	if err != nil {
		return User{}, rev.failed("authenticate", err)
	}
	fields, _ := returned.(map[string]any)
	identity, _ := fields["identity"].(string)
	if identity == "" {
		return User{}, rev.failed("authenticate", errNoIdentity)
	}
	return User{Identity: identity, Fields: fields}, nil
}

// authorizationHandler returns the most specific authorization handler of an action and its name. It returns nil if there
// is none.
func (h *handler) authorizationHandler(action string) (name string, fn starlark.Callable) {
	for _, name := range []string{"threads." + action, "threads", "*"} {
		if fn := h.on[name]; fn != nil {
			return name, fn
		}
	}
	return "", nil
}

// authorize calls the authorization handler of an action. The handler returns a filter, None or True for no restriction,
// or False for a refusal.
func (rev *revision) authorize(ctx context.Context, u User, action string, payload map[string]any) (access, error) {
	name, fn := rev.app.handler.authorizationHandler(action)
	if fn == nil {
		return access{value: payload}, nil
	}
	user, err := u.record()
	if err != nil {
		return access{}, rev.failed(name, err)
	}
	permissions := u.Fields["permissions"]
	if permissions == nil {
		permissions = []any{}
	}
	about, err := script.NewRecord("AuthContext", map[string]any{
		"user": user, "permissions": permissions, "resource": "threads", "action": action,
	})
	if err != nil {
		return access{}, rev.failed(name, err)
	}
	value, err := script.FromGo(payload)
	if err != nil { // such as the number 1e999, which is not an error of the handler
		return access{}, httpapi.Refuse(http.StatusUnprocessableEntity, "The request has a value that cannot be read")
	}
	returned, err := rev.call(ctx, fn, about, value)
	if err != nil {
		return access{}, rev.failed(name, err)
	}
	changed, err := script.ToGo(value)
	if err != nil {
		return access{}, rev.failed(name, err)
	}
	allowed := access{value: changed.(map[string]any)}
	switch returned := returned.(type) {
	case nil:
	case bool:
		if !returned {
			return access{}, httpapi.Refuse(http.StatusForbidden, "Forbidden")
		}
	case map[string]any:
		allowed.filter = returned
	default:
		return access{}, rev.failed(name, errNoFilter)
	}
	return allowed, nil
}

// call calls a function of the handler and returns its result as a Go value.
func (rev *revision) call(ctx context.Context, fn starlark.Callable, args ...starlark.Value) (any, error) {
	s := rev.session(ctx, "auth", handlerTime)
	defer s.Close()
	v, err := s.Call(fn, args...)
	if err != nil {
		return nil, err
	}
	return script.ToGo(v)
}

// failed returns the refusal for an error of a handler: the one that the handler chose with fail_http, or a 500 with the
// name of the handler and the place of the error. Secrets of the environment are redacted in the refusal and in the log.
func (rev *revision) failed(function string, err error) error {
	if refusal, ok := errors.AsType[*httpapi.Refusal](err); ok {
		return httpapi.Refuse(refusal.Status, "%s", rev.redact(fmt.Sprint(refusal.Detail)))
	}
	ref, text := rev.app.handler.ref, rev.redact(err.Error())
	rev.log.Error("the authentication handler failed", "handler", ref, "function", function, "error", text)
	return httpapi.Refuse(http.StatusInternalServerError,
		"The authentication handler %s failed in %q: %s", ref, function, text)
}

// hostNames returns the functions that graphs and handlers can use in addition to the language:
//
//	fail_http(status, detail)   ends a handler and refuses the request with this status and detail
//	is_studio_user(user)        reports whether the request is from the visual development environment
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
		return nil, fmt.Errorf("fail_http: invalid status %d: use 400 to 599", status)
	}
	return nil, httpapi.Refuse(status, "%s", detail)
}

func isStudioUser(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var user starlark.Value
	if err := starlark.UnpackPositionalArgs("is_studio_user", args, kwargs, 1, &user); err != nil {
		return nil, err
	}
	return starlark.Bool(user.Type() == kindStudio), nil
}
