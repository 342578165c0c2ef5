package agentserver

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
	"github.com/agentconform/agentconform/reference/script"
)

// Options configure a Server. The zero value works.
type Options struct {
	Log    *slog.Logger  // nil: nothing is logged
	Limits script.Limits // of one run; Limits.Time is how long it may take
	Pool   *script.Pool  // of all scripts; share one between the servers of a process. nil: one of its own

	DefaultStrategy string                      // for runs that name none; empty: DefaultStrategy
	Strategies      map[string]threads.Strategy // replace or add to Strategies()

	JoinTimeout time.Duration // after which a join gives up, with 503; 0: an hour
	MaxBody     int64         // bytes of a request; 0: 1 MiB
	MaxRuns     int           // unfinished runs at a time, beyond which 503 is answered; 0: 20,000
	MaxState    int           // bytes of the messages of one thread; 0: 16 MiB

	BasePath string // where the server is reachable on its host, for Content-Location

	// Owner is the identity of all requests where there is neither a handler nor APIKeyOwner.
	Owner string
	// APIKeyOwner tells whose the API key in X-Api-Key is. With it, a server without a handler asks for a key, and
	// requests of the visual development environment (X-Auth-Scheme: studio) are accepted with one.
	APIKeyOwner func(key string) (identity string, ok bool)

	// Decorators around the collaborators: they see everything that passes, and may change it.
	WrapStore         func(threads.Store) threads.Store
	WrapAuthenticator func(Authenticator) Authenticator
	WrapAuthorizer    func(Authorizer) Authorizer
}

func (o Options) withDefaults() Options {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Pool == nil {
		o.Pool = script.NewPool(script.DefaultPool)
	}
	if o.DefaultStrategy == "" {
		o.DefaultStrategy = DefaultStrategy
	}
	all := Strategies()
	maps.Copy(all, o.Strategies)
	o.Strategies = all
	o.JoinTimeout = or(o.JoinTimeout, time.Hour)
	o.MaxBody = or(o.MaxBody, 1<<20)
	o.MaxRuns = or(o.MaxRuns, 20_000)
	o.MaxState = or(o.MaxState, 16<<20)
	if o.Owner == "" {
		o.Owner = "owner"
	}
	if o.WrapStore == nil {
		o.WrapStore = func(s threads.Store) threads.Store { return s }
	}
	if o.WrapAuthenticator == nil {
		o.WrapAuthenticator = func(a Authenticator) Authenticator { return a }
	}
	if o.WrapAuthorizer == nil {
		o.WrapAuthorizer = func(a Authorizer) Authorizer { return a }
	}
	return o
}

func or[T int | int64 | time.Duration](v, otherwise T) T {
	if v == 0 {
		return otherwise
	}
	return v
}

// currentAuth authenticates and authorizes with the revision that is current when it is asked.
type currentAuth struct{ server *Server }

func (c currentAuth) Authenticate(ctx context.Context, r Request) (User, error) {
	rev := c.server.rev.Load()
	opts := c.server.opts
	return keyAuthenticator{owner: opts.Owner, ofKey: opts.APIKeyOwner, handler: rev.authenticator(opts.Log)}.Authenticate(ctx, r)
}

func (c currentAuth) Authorize(ctx context.Context, a Access) (Decision, error) {
	rev := c.server.rev.Load()
	if rev.app.handler == nil {
		return Decision{Value: a.Value}, nil
	}
	return scriptAuth{rev, c.server.opts.Log}.Authorize(ctx, a)
}

func (r *revision) authenticator(log *slog.Logger) func() Authenticator {
	return func() Authenticator {
		if r.app.handler == nil {
			return nil
		}
		return scriptAuth{r, log}
	}
}
