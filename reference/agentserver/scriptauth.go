package agentserver

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"go.starlark.net/starlark"

	"github.com/agentconform/agentconform/reference/script"
)

// handlerTime bounds one call of an authentication or authorization handler: a client waits for it.
const handlerTime = 5 * time.Second

// scriptAuth runs the handler of a revision.
type scriptAuth struct {
	rev *revision
	log *slog.Logger
}

func (a scriptAuth) session(ctx context.Context) *script.Session {
	limits := a.rev.limits
	limits.Time = handlerTime
	return a.rev.session(ctx, "auth", limits)
}

// Authenticate calls authenticate(request).
func (a scriptAuth) Authenticate(ctx context.Context, r Request) (User, error) {
	s := a.session(ctx)
	defer s.Close()
	request, err := script.NewRecord("Request", map[string]any{
		"method": r.Method, "path": r.Path, "headers": stringMap(r.Headers), "query": stringMap(r.Query),
	})
	if err != nil {
		return User{}, a.failed("authenticate", err)
	}
	v, err := s.Call(a.rev.app.handler.authenticate, request)
	if err != nil {
		return User{}, a.failed("authenticate", err)
	}
	data, err := script.ToGo(v)
	if err != nil {
		return User{}, a.failed("authenticate", err)
	}
	fields, _ := data.(map[string]any)
	identity, _ := fields["identity"].(string)
	if identity == "" {
		return User{}, a.failed("authenticate", errNoIdentity)
	}
	return User{Identity: identity, Fields: fields}, nil
}

var errNoIdentity = errors.New("it returned no identity: return a dict with at least \"identity\", a string that is not empty")

func stringMap(m map[string]string) map[string]any {
	out := make(map[string]any, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// Authorize calls the handler of the action, or the one of the resource, or the one of everything.
func (a scriptAuth) Authorize(ctx context.Context, access Access) (Decision, error) {
	name, fn := a.handlerOf(access)
	if fn == nil {
		return Decision{Value: access.Value}, nil
	}
	s := a.session(ctx)
	defer s.Close()
	user, err := access.User.record()
	if err != nil {
		return Decision{}, a.failed(name, err)
	}
	permissions := access.User.Fields["permissions"]
	if permissions == nil {
		permissions = []any{}
	}
	about, err := script.NewRecord("AuthContext", map[string]any{
		"user": user, "permissions": permissions, "resource": "threads", "action": access.Action,
	})
	if err != nil {
		return Decision{}, a.failed(name, err)
	}
	value, err := script.FromGo(maps.Clone(access.Value))
	if err != nil {
		return Decision{}, unreadable(err)
	}
	v, err := s.Call(fn, about, value)
	if err != nil {
		return Decision{}, a.failed(name, err)
	}
	return a.decision(name, v, value)
}

// decision reads what a handler returned: a filter, None or True for no restriction, False for a refusal.
func (a scriptAuth) decision(name string, v, value starlark.Value) (Decision, error) {
	changed, err := script.ToGo(value)
	if err != nil {
		return Decision{}, a.failed(name, err)
	}
	d := Decision{Value: changed.(map[string]any)}
	switch v := v.(type) {
	case starlark.NoneType:
		return d, nil
	case starlark.Bool:
		if !v {
			return Decision{}, httpError(http.StatusForbidden, "Forbidden")
		}
		return d, nil
	case *starlark.Dict:
		filter, err := script.ToGo(v)
		if err != nil {
			return Decision{}, a.failed(name, err)
		}
		d.Filter = filter.(map[string]any)
		return d, nil
	}
	return Decision{}, a.failed(name, errors.New("an authorization handler returns a dict (the filter), None, True or False, not a "+v.Type()))
}

func (a scriptAuth) handlerOf(access Access) (string, starlark.Callable) {
	on := a.rev.app.handler.on
	for _, name := range []string{"threads." + access.Action, "threads", "*"} {
		if fn := on[name]; fn != nil {
			return name, fn
		}
	}
	return "", nil
}

// unreadable is the answer to a request with a value that a script cannot hold, such as the number 1e999: no handler is to blame.
func unreadable(err error) error {
	return invalid("The request has a value that cannot be read: %s", err)
}

// failed turns an error of a handler into an answer: what the handler chose with fail_http, else a 500 that says which
// handler failed and where. Secrets of the environment are taken out of both the answer and the log.
func (a scriptAuth) failed(function string, err error) error {
	if chosen, ok := errors.AsType[*HTTPError](err); ok {
		return &HTTPError{chosen.Status, a.rev.redact(chosen.Detail)}
	}
	ref := a.rev.app.handler.ref
	text := a.rev.redact(err.Error())
	a.log.Error("the authentication handler failed", "handler", ref.String(), "function", function, "error", text)
	return httpError(http.StatusInternalServerError, "The authentication handler %s failed in %q: %s", ref, function, text)
}
