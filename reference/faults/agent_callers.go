package faults

import (
	"maps"
	"net/http"
	"sync"

	"github.com/agentconform/agentconform/reference/agentserver"
)

// agentRefusals holds the faults in who is refused, and how.
func agentRefusals() []Fault {
	return []Fault{
		{
			Name: "anonymous-lists-threads", Breaks: "the list of threads is served without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, listThreads, searchThreads),
		},
		{
			Name: "anonymous-reads-state", Breaks: "the state is served without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, getState),
		},
		{
			Name: "anonymous-joins", Breaks: "join is served without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, joinRun),
		},
		{
			Name: "anonymous-retrieves-runs", Breaks: "a run is retrieved without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, getRun),
		},
		{
			Name: "anonymous-starts-runs", Breaks: "a run is started without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, createRun),
		},
		{
			Name: "anonymous-creates-threads", Breaks: "a thread is created without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, createThread),
		},
		{
			Name: "anonymous-is-forbidden", Breaks: "without credentials the status is 403, though the handler would have chosen another", Fails: "AS-AUTH-1",
			Apply: refusedWith(withoutToken, func(a *answer) { a.status = http.StatusForbidden }),
		},
		{
			Name: "empty-token-opens", Breaks: "an empty token opens everything that can be read", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, withEmptyToken, listThreads, getRun, joinRun, getState),
		},
		{
			Name: "other-scheme-opens", Breaks: "the token is taken from any scheme", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, withOtherScheme, agentOperations...),
		},
		{
			Name: "unknown-token-joins", Breaks: "join looks whether there is a token, and not whose it is", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, withUnknownToken, joinRun),
		},
		{
			Name: "unknown-token-starts-runs", Breaks: "runs are started with any token", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, withUnknownToken, createRun),
		},
		{
			Name: "empty-token-is-malformed", Breaks: "an empty token is a bad request: 400 before the handler is asked", Fails: "AS-AUTH-2",
			Apply: refusedWith(withEmptyToken, func(a *answer) { a.status = http.StatusBadRequest }),
		},
		{
			Name: "refusal-has-no-detail", Breaks: "a refusal has an empty body", Fails: "AS-AUTH-3",
			Apply: refusedWith(anybody, func(a *answer) { a.json(map[string]any{}) }),
		},
		{
			Name: "refusal-has-a-detail-of-its-own", Breaks: "the server replaces the handler's detail by its own", Fails: "AS-AUTH-3",
			Apply: refusedWith(anybody, func(a *answer) { a.json(map[string]any{"detail": "Unauthorized"}) }),
		},
		{
			Name: "valid-token-lists-nothing", Breaks: "the list of threads is not told about the handler, and refuses everybody", Fails: "AS-AUTH-5",
			Apply: onAnswer(listThreads, func(_ *http.Request, a *answer) { a.refuse(http.StatusUnauthorized, "Invalid credentials") }),
		},
		{
			Name: "valid-token-joins-nothing", Breaks: "join is not told about the handler, and refuses everybody", Fails: "AS-AUTH-5",
			Apply: onAnswer(joinRun, func(_ *http.Request, a *answer) { a.refuse(http.StatusUnauthorized, "Invalid credentials") }),
		},
	}
}

// agentEffects holds the faults at which a refused request is done.
func agentEffects() []Fault {
	return []Fault{
		{
			Name: "refused-run-is-started", Breaks: "a run without credentials is refused, and started", Fails: "AS-AUTH-4",
			Apply: refusedAndDone(http.StatusUnauthorized, allOf(withoutToken, plainRun), createRun),
		},
		{
			Name: "refused-rollback-is-done", Breaks: "a run with rollback and an unknown token is refused, and rolls back", Fails: "AS-AUTH-4",
			Apply: refusedAndDone(http.StatusUnauthorized, allOf(withUnknownToken, rollbackRun), createRun),
		},
		{
			Name: "refused-thread-is-created", Breaks: "a thread with an unknown token is refused, and created", Fails: "AS-AUTH-4",
			Apply: refusedAndDone(http.StatusUnauthorized, withUnknownToken, createThread),
		},
	}
}

// allOf joins two conditions on requests.
func allOf(one, two func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return one(r) && two(r) }
}

func rollbackRun(r *http.Request) bool { return bodyOf(r)["multitask_strategy"] == "rollback" }

func plainRun(r *http.Request) bool { return !rollbackRun(r) }

// refusedWith changes the refusal of callers by the authentication handler.
func refusedWith(who func(*http.Request) bool, change func(a *answer)) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !oneOf(agentOperations, r) || !who(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.status == http.StatusUnauthorized {
			change(a)
		}
		a.send(w)
	})
}

// agentUsers holds the faults in what the graph is told about its caller.
func agentUsers() []Fault {
	return []Fault{
		{
			Name: "graph-sees-no-custom-fields", Breaks: "the graph is told the identity of the user, and no other field", Fails: "AS-AUTH-6",
			Apply: introducing(alike(func(u agentserver.User) map[string]any { return map[string]any{"identity": u.Identity} })),
		},
		{
			Name: "graph-sees-no-identity", Breaks: "the graph is told the custom fields of the user, and no identity", Fails: "AS-AUTH-6",
			Apply: introducing(alike(func(u agentserver.User) map[string]any {
				fields := maps.Clone(u.Fields)
				delete(fields, "identity")
				return fields
			})),
		},
		{
			Name: "graph-sees-the-developer", Breaks: "the graph is told about the owner of the deployment, whoever calls", Fails: "AS-AUTH-6",
			Apply: introducing(alike(func(agentserver.User) map[string]any { return map[string]any{"identity": "owner", "role": "developer"} })),
		},
		{
			Name: "first-user-is-cached", Breaks: "the first user's object is kept, and given to the graph for everybody", Fails: "AS-AUTH-7",
			Apply: introducing(func() func(agentserver.User) map[string]any {
				first := keeper[map[string]any]{}
				return func(u agentserver.User) map[string]any { return first.keep(u.Fields) }
			}),
		},
		{
			Name: "first-role-is-cached", Breaks: "the first user's custom fields are kept, and given to the graph with everybody's identity", Fails: "AS-AUTH-7",
			Apply: introducing(func() func(agentserver.User) map[string]any {
				first := keeper[map[string]any]{}
				return func(u agentserver.User) map[string]any {
					fields := maps.Clone(first.keep(u.Fields))
					fields["identity"] = u.Identity
					return fields
				}
			}),
		},
	}
}

// keeper keeps the first value that it is given.
type keeper[T any] struct {
	once  sync.Once
	value T
}

func (k *keeper[T]) keep(v T) T {
	k.once.Do(func() { k.value = v })
	return k.value
}

func alike(fields func(agentserver.User) map[string]any) func() func(agentserver.User) map[string]any {
	return func() func(agentserver.User) map[string]any { return fields }
}

// introducing changes the user object that graphs are given. Authorization handlers go on with the right one.
func introducing(made func() func(agentserver.User) map[string]any) Layer {
	return fresh(func() Layer {
		var right sync.Map // fields by identity
		return both(
			authenticating(func() func(*agentserver.User) {
				fields := made()
				return func(u *agentserver.User) {
					if !u.Studio {
						right.Store(u.Identity, u.Fields)
						u.Fields = fields(*u)
					}
				}
			}),
			authorizing(func(a *agentserver.Access) {
				if fields, known := right.Load(a.User.Identity); known && !a.User.Studio {
					a.User.Fields = fields.(map[string]any)
				}
			}, nil),
		)
	})
}
