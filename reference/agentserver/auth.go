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

// User is who sent a request: what the authentication handler returned (interface, section 2, "Authenticated user
// object").
type User struct {
	Identity string
	Fields   map[string]any // all of the object, identity included
	Studio   bool           // from the visual development environment (interface, section 5, item 7)
}

// The kinds of users, which scripts see as type(user).
const (
	kindUser   = "User"
	kindStudio = "StudioUser"
)

// record is the user as scripts see it.
func (u User) record() (*script.Record, error) {
	kind := kindUser
	if u.Studio {
		kind = kindStudio
	}
	return script.NewRecord(kind, u.Fields)
}

// authenticate says who sends a request, or refuses it (interface, section 5, items 1, 2 and 4). The handler is
// asked, if there is one. API keys are for servers without, and for the visual development environment, which marks
// its requests with X-Auth-Scheme: studio.
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

// access is what an authorization handler answers to an access that it allows.
type access struct {
	// filter restricts the access to threads whose metadata has these values, and is merged into the metadata of what is
	// written. Empty: no restriction.
	filter map[string]any
	value  map[string]any // the payload, as the handler left it
}

// authorize decides about an action with threads (create, read, update, delete, search or create_run), or refuses it
// (interface, section 5, item 6). The value is the payload; for reading, what is read. A run belongs to its thread.
func (s *Server) authorize(c *call, action string, value map[string]any) (access, error) {
	rev := s.rev.Load()
	if rev.app.handler == nil {
		return access{value: value}, nil
	}
	return rev.authorize(c.Context(), c.user, action, value)
}

// handlerTime bounds one call of an authentication or authorization handler: a client waits for it.
const handlerTime = 5 * time.Second

var (
	errNoIdentity = errors.New(`it returned no identity: return a dict with at least "identity", a non-empty string`)
	errNoFilter   = errors.New("it returned something else than a dict (the filter), None, True or False")
)

// authenticate calls authenticate(request).
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

// authorize calls the handler of the action, or the one of the resource, or the one of everything. It returns a filter,
// None or True for no restriction, False for a refusal.
func (rev *revision) authorize(ctx context.Context, u User, action string, payload map[string]any) (access, error) {
	var name string
	var fn starlark.Callable
	for _, name = range []string{"threads." + action, "threads", "*"} {
		if fn = rev.app.handler.on[name]; fn != nil {
			break
		}
	}
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
	if err != nil { // such as the number 1e999: no handler is to blame
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

// call calls a function of the handler.
func (rev *revision) call(ctx context.Context, fn starlark.Callable, args ...starlark.Value) (any, error) {
	s := rev.session(ctx, "auth", handlerTime)
	defer s.Close()
	v, err := s.Call(fn, args...)
	if err != nil {
		return nil, err
	}
	return script.ToGo(v)
}

// failed turns an error of a handler into an answer: what the handler chose with fail_http, else a 500 that says which
// handler failed and where. Secrets of the environment are taken out of both the answer and the log.
func (rev *revision) failed(function string, err error) error {
	if chosen, ok := errors.AsType[*httpapi.Refusal](err); ok {
		return httpapi.Refuse(chosen.Status, "%s", rev.redact(fmt.Sprint(chosen.Detail)))
	}
	ref, text := rev.app.handler.ref, rev.redact(err.Error())
	rev.log.Error("the authentication handler failed", "handler", ref, "function", function, "error", text)
	return httpapi.Refuse(http.StatusInternalServerError,
		"The authentication handler %s failed in %q: %s", ref, function, text)
}

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
	return nil, httpapi.Refuse(status, "%s", detail)
}

func isStudioUser(args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var user starlark.Value
	if err := starlark.UnpackPositionalArgs("is_studio_user", args, kwargs, 1, &user); err != nil {
		return nil, err
	}
	return starlark.Bool(user.Type() == kindStudio), nil
}
