package faults

import (
	"context"
	"net/http"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/deviate"
)

// Parts of an agent server's paths: /agents/{deployment}/threads/{thread}/runs/{run}.

func threadOf(r *http.Request) string { return segment(r, 4) }

func runOf(r *http.Request) string { return segment(r, 6) }

// threadPath returns the path of a thread on the agent server of the request.
func threadPath(r *http.Request, thread string) string {
	return "/agents/" + segment(r, 2) + "/threads/" + thread
}

// agentOptions adds a change to the options of agent servers.
func agentOptions(change func(*agentserver.Options)) Layer {
	return func(o *reference.Options) {
		inner := o.WrapAgent
		o.WrapAgent = func(opts *agentserver.Options) {
			if inner != nil {
				inner(opts)
			}
			change(opts)
		}
	}
}

// agentStoring wraps the store of every agent server.
func agentStoring(wrap func(threads.Store) threads.Store) Layer {
	return agentOptions(func(o *agentserver.Options) {
		inner := o.WrapStore
		o.WrapStore = func(s threads.Store) threads.Store {
			if inner != nil {
				s = inner(s)
			}
			return wrap(s)
		}
	})
}

// strategy replaces a multitask strategy.
func strategy(name string, decide func(unfinished []threads.Run) threads.Plan) Layer {
	return agentOptions(func(o *agentserver.Options) {
		if o.Strategies == nil {
			o.Strategies = map[string]threads.Strategy{}
		}
		o.Strategies[name] = decide
	})
}

// authorizing changes the input and the result of authorization handlers.
func authorizing(ask func(*agentserver.Access), answered func(agentserver.Access, *agentserver.Decision)) Layer {
	return agentOptions(func(o *agentserver.Options) {
		inner := o.WrapAuthorizer
		o.WrapAuthorizer = func(next agentserver.Authorizer) agentserver.Authorizer {
			if inner != nil {
				next = inner(next)
			}
			return authorizer(func(ctx context.Context, a agentserver.Access) (agentserver.Decision, error) {
				if ask != nil {
					ask(&a)
				}
				d, err := next.Authorize(ctx, a)
				if err == nil && answered != nil {
					answered(a, &d)
				}
				return d, err
			})
		}
	})
}

type authorizer func(context.Context, agentserver.Access) (agentserver.Decision, error)

func (f authorizer) Authorize(ctx context.Context, a agentserver.Access) (agentserver.Decision, error) {
	return f(ctx, a)
}

// authenticating changes the user that an authentication handler returns.
func authenticating(made func() func(*agentserver.User)) Layer {
	return agentOptions(func(o *agentserver.Options) {
		inner := o.WrapAuthenticator
		o.WrapAuthenticator = func(next agentserver.Authenticator) agentserver.Authenticator {
			if inner != nil {
				next = inner(next)
			}
			change := made()
			return authenticator(func(ctx context.Context, r agentserver.Request) (agentserver.User, error) {
				u, err := next.Authenticate(ctx, r)
				if err == nil {
					change(&u)
				}
				return u, err
			})
		}
	})
}

type authenticator func(context.Context, agentserver.Request) (agentserver.User, error)

func (f authenticator) Authenticate(ctx context.Context, r agentserver.Request) (agentserver.User, error) {
	return f(ctx, r)
}

// do sends an additional request to the reference on behalf of the caller.
func do(next http.Handler, r *http.Request, method, path string) *deviate.Answer {
	other := withPath(r, path)
	other.Method, other.URL.RawQuery, other.Body, other.ContentLength = method, "", http.NoBody, 0
	return deviate.Capture(next, other)
}
