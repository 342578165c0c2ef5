package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/agentserver"
)

// The operations of an agent server.
var agentOperations = []operation{createThread, listThreads, searchThreads, createRun, getRun, joinRun, getState}

// Parts of an agent server's paths: /agents/{deployment}/threads/{thread}/runs/{run}.

func threadOf(r *http.Request) string { return segment(r, 4) }

func runOf(r *http.Request) string { return segment(r, 6) }

// threadPath is the address of a thread of the agent server that the request goes to.
func threadPath(r *http.Request, thread string) string {
	return "/agents/" + segment(r, 2) + "/threads/" + thread
}

// agentOptions puts a change of the options around those that were asked for before.
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

// agentStoring puts a store around that of every agent server.
func agentStoring(wrap func(agentserver.Store) agentserver.Store) Layer {
	return agentOptions(func(o *agentserver.Options) {
		inner := o.WrapStore
		o.WrapStore = func(s agentserver.Store) agentserver.Store {
			if inner != nil {
				s = inner(s)
			}
			return wrap(s)
		}
	})
}

// strategy replaces what a multitask strategy does about the unfinished runs of a thread.
func strategy(name string, decide func(unfinished []agentserver.Run) agentserver.Plan) Layer {
	return agentOptions(func(o *agentserver.Options) {
		if o.Strategies == nil {
			o.Strategies = map[string]agentserver.Strategy{}
		}
		o.Strategies[name] = decide
	})
}

// authorizing changes what an authorization handler is asked, and what it answers.
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

// authenticating changes who an authentication handler has found.
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

// directory is what a layer knows of threads and runs.
type directory struct {
	mu      sync.Mutex
	first   string                    // the Authorization of who created the first thread
	owners  map[string]string         // Authorization by thread
	threads map[string]string         // by run
	last    map[string]map[string]any // what was sent for the last run, by thread
	chains  map[string][]string       // the runs with rollback, by thread
}

// directed makes a layer that knows the threads and runs that were created.
func directed(middleware func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler)) Layer {
	return fresh(func() Layer {
		d := &directory{owners: map[string]string{}, threads: map[string]string{}, last: map[string]map[string]any{}, chains: map[string][]string{}}
		return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) { middleware(d, w, r, d.watching(next)) })
	})
}

func (d *directory) watching(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !createThread.is(r) && !createRun.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		sent := bodyOf(r)
		a := capture(next, r)
		if a.status < 300 {
			d.learn(r, sent, a.object())
		}
		a.send(w)
	})
}

func (d *directory) learn(r *http.Request, sent, made map[string]any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	who := r.Header.Get("Authorization")
	if createThread.is(r) {
		d.owners[text(made, "thread_id")] = who
		if d.first == "" {
			d.first = who
		}
		return
	}
	id := text(made, "run_id")
	d.threads[id], d.last[threadOf(r)] = threadOf(r), sent
	if sent["multitask_strategy"] == "rollback" {
		d.chains[threadOf(r)] = append(d.chains[threadOf(r)], id)
	}
}

// owner is the Authorization of who owns the thread that the request is about, or who created the first of all where it is
// about none. It is "" where nobody is known.
func (d *directory) owner(r *http.Request) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if thread := threadOf(r); thread != "" && thread != "search" {
		return d.owners[thread]
	}
	return d.first
}

// home is the thread of a run, "" for one that never was.
func (d *directory) home(run string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.threads[run]
}

// latest is what was sent for the last run of a thread, nil where there is none.
func (d *directory) latest(thread string) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last[thread]
}

// rollbacks are the runs with rollback of a thread, in the order of their creation.
func (d *directory) rollbacks(thread string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.chains[thread])
}

// known says that a thread was created.
func (d *directory) known(thread string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.owners[thread] != ""
}

// servedAsOwner answers callers whom the reference refuses with the status as if they were the owner.
func servedAsOwner(status int, who func(*http.Request) bool, ops ...operation) Layer {
	return ownerActs(status, who, ops, func(_, asOwner *answer) *answer { return asOwner })
}

// refusedAndDone refuses callers as it should, and does what they asked for as if they were the owner.
func refusedAndDone(status int, who func(*http.Request) bool, ops ...operation) Layer {
	return ownerActs(status, who, ops, func(refusal, _ *answer) *answer { return refusal })
}

func ownerActs(status int, who func(*http.Request) bool, ops []operation, choose func(refusal, asOwner *answer) *answer) Layer {
	return directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !oneOf(ops, r) || !who(r) {
			next.ServeHTTP(w, r)
			return
		}
		sent := readBody(r)
		a := capture(next, r)
		if owner := d.owner(r); a.status == status && owner != "" {
			a = choose(a, capture(next, resent(r, owner, sent)))
		}
		a.send(w)
	})
}

// resent is the request once more, from somebody else.
func resent(r *http.Request, authorization string, body []byte) *http.Request {
	other := r.Clone(r.Context())
	other.Header.Set("Authorization", authorization)
	other.Body, other.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return other
}

// do has the reference do something on behalf of the caller beside what was asked.
func do(next http.Handler, r *http.Request, method, path string) *answer {
	other := withPath(r, path)
	other.Method, other.URL.RawQuery, other.Body, other.ContentLength = method, "", http.NoBody, 0
	return capture(next, other)
}

// The kinds of callers.

func anybody(*http.Request) bool { return true }

func withoutToken(r *http.Request) bool { return len(r.Header["Authorization"]) == 0 }

func withEmptyToken(r *http.Request) bool {
	return strings.EqualFold(strings.TrimSpace(r.Header.Get("Authorization")), "bearer")
}

func withOtherScheme(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), "Basic ")
}

// withUnknownToken is meant for requests that were refused: a token that is none opens nothing.
func withUnknownToken(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") && !withEmptyToken(r)
}

// onExchange changes the answers of an operation, knowing the JSON object that was sent.
func onExchange(op operation, change func(sent map[string]any, r *http.Request, a *answer)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !op.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		sent := bodyOf(r)
		a := capture(next, r)
		change(sent, r, a)
		a.send(w)
	})
}

// array returns the JSON array in the body, nil where there is none.
func (a *answer) array() []any {
	var list []any
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	if decoder.Decode(&list) != nil {
		return nil
	}
	return list
}
