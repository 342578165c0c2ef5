package faults

import (
	"encoding/json"
	"maps"
	"net/http"
	"sync"

	"github.com/agentconform/agentconform/reference/agentserver"
)

// agentRefusals returns the faults in which callers are refused, and how.
func agentRefusals() []Fault {
	return []Fault{
		{
			Name: "anonymous-lists-threads", Breaks: "list threads and search threads succeed without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, listThreads, searchThreads),
		},
		{
			Name: "anonymous-reads-state", Breaks: "get state succeeds without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, getState),
		},
		{
			Name: "anonymous-joins", Breaks: "join succeeds without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, joinRun),
		},
		{
			Name: "anonymous-retrieves-runs", Breaks: "get run succeeds without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, getRun),
		},
		{
			Name: "anonymous-starts-runs", Breaks: "create run succeeds without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, createRun),
		},
		{
			Name: "anonymous-creates-threads", Breaks: "create thread succeeds without credentials", Fails: "AS-AUTH-1",
			Apply: servedAsOwner(http.StatusUnauthorized, withoutToken, createThread),
		},
		{
			Name: "anonymous-is-forbidden", Breaks: "a request without credentials gets 403 instead of the handler's status", Fails: "AS-AUTH-1",
			Apply: refusedWith(withoutToken, func(a *answer) { a.status = http.StatusForbidden }),
		},
		{
			Name: "empty-token-is-accepted", Breaks: "list threads, get run, join and get state accept an empty token", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, withEmptyToken, listThreads, getRun, joinRun, getState),
		},
		{
			Name: "other-scheme-is-accepted", Breaks: "a token is accepted under any authorization scheme", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, withOtherScheme, agentOperations...),
		},
		{
			Name: "unknown-token-joins", Breaks: "join accepts any token", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, withUnknownToken, joinRun),
		},
		{
			Name: "unknown-token-starts-runs", Breaks: "create run accepts any token", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, withUnknownToken, createRun),
		},
		{
			Name: "planes-key-reads-state", Breaks: "get state accepts the API key of the control plane", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, func(r *http.Request) bool { return r.Header.Get("X-Api-Key") != "" }, getState),
		},
		{
			Name: "planes-tenant-id-lists-threads", Breaks: "list threads accepts the tenant ID of the control plane", Fails: "AS-AUTH-2",
			Apply: servedAsOwner(http.StatusUnauthorized, func(r *http.Request) bool { return r.Header.Get("X-Tenant-Id") != "" }, listThreads),
		},
		{
			Name: "empty-token-is-malformed", Breaks: "an empty token gets 400 without a call of the handler", Fails: "AS-AUTH-2",
			Apply: refusedWith(withEmptyToken, func(a *answer) { a.status = http.StatusBadRequest }),
		},
		{
			Name: "refusal-has-no-detail", Breaks: "a 401 has an empty object as body", Fails: "AS-AUTH-3",
			Apply: refusedWith(anybody, func(a *answer) { a.json(map[string]any{}) }),
		},
		{
			Name: "refusal-has-another-detail", Breaks: "a 401 has a fixed detail instead of the handler's", Fails: "AS-AUTH-3",
			Apply: refusedWith(anybody, func(a *answer) { a.json(map[string]any{"detail": "Unauthorized"}) }),
		},
		{
			Name: "valid-token-lists-nothing", Breaks: "list threads returns 401 for every token", Fails: "AS-AUTH-5",
			Apply: onAnswer(listThreads, func(_ *http.Request, a *answer) { a.refuse(http.StatusUnauthorized, "Invalid credentials") }),
		},
		{
			Name: "valid-token-joins-nothing", Breaks: "join returns 401 for every token", Fails: "AS-AUTH-5",
			Apply: onAnswer(joinRun, func(_ *http.Request, a *answer) { a.refuse(http.StatusUnauthorized, "Invalid credentials") }),
		},
	}
}

// agentEffects returns the faults where a refused request is carried out.
func agentEffects() []Fault {
	return []Fault{
		{
			Name: "refused-run-is-started", Breaks: "a run without credentials gets 401, but is started", Fails: "AS-AUTH-4",
			Apply: refusedAndDone(http.StatusUnauthorized, allOf(withoutToken, plainRun), createRun),
		},
		{
			Name: "refused-rollback-is-done", Breaks: "a run with rollback and an unknown token gets 401, but the rollback is carried out", Fails: "AS-AUTH-4",
			Apply: refusedAndDone(http.StatusUnauthorized, allOf(withUnknownToken, rollbackRun), createRun),
		},
		{
			Name: "refused-thread-is-created", Breaks: "create thread with an unknown token gets 401, but the thread is created", Fails: "AS-AUTH-4",
			Apply: refusedAndDone(http.StatusUnauthorized, withUnknownToken, createThread),
		},
	}
}

// allOf combines two conditions on requests.
func allOf(one, two func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool { return one(r) && two(r) }
}

func rollbackRun(r *http.Request) bool { return bodyOf(r)["multitask_strategy"] == "rollback" }

func plainRun(r *http.Request) bool { return !rollbackRun(r) }

// refusedWith changes the 401 of the authentication handler.
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

// agentUsers returns the faults in the user object that the graph receives.
func agentUsers() []Fault {
	return []Fault{
		{
			Name: "graph-sees-no-custom-fields", Breaks: "the graph receives the user's identity without the custom fields", Fails: "AS-AUTH-6",
			Apply: changingGraphUser(forEveryUser(func(u agentserver.User) map[string]any { return map[string]any{"identity": u.Identity} })),
		},
		{
			Name: "graph-sees-no-identity", Breaks: "the graph receives the user's custom fields without the identity", Fails: "AS-AUTH-6",
			Apply: changingGraphUser(forEveryUser(func(u agentserver.User) map[string]any {
				fields := maps.Clone(u.Fields)
				delete(fields, "identity")
				return fields
			})),
		},
		{
			Name: "graph-sees-the-developer", Breaks: "the graph receives the owner of the deployment instead of the caller", Fails: "AS-AUTH-6",
			Apply: changingGraphUser(forEveryUser(asDeveloper)),
		},
		{
			Name: "graph-sees-nobody", Breaks: "the configuration that the graph receives has no graph_auth_user", Fails: "AS-AUTH-6",
			Apply: agentOptions(func(o *agentserver.Options) {
				o.GraphConfig = func(configurable map[string]any) { delete(configurable, "graph_auth_user") }
			}),
		},
		{
			Name: "number-in-a-field-becomes-text", Breaks: "the graph receives a string for each custom field that is a number", Fails: "AS-AUTH-6",
			Apply: changingGraphUser(forEveryUser(func(u agentserver.User) map[string]any {
				fields := maps.Clone(u.Fields)
				for name, value := range fields {
					if number, ok := value.(json.Number); ok {
						fields[name] = number.String()
					}
				}
				return fields
			})),
		},
		{
			Name: "first-user-is-cached", Breaks: "the graph receives the first user's object for every caller", Fails: "AS-AUTH-7",
			Apply: changingGraphUser(func() func(agentserver.User) map[string]any {
				first := firstValue[map[string]any]{}
				return func(u agentserver.User) map[string]any { return first.keep(u.Fields) }
			}),
		},
		{
			Name: "first-role-is-cached", Breaks: "the graph receives the caller's identity with the custom fields of the first user", Fails: "AS-AUTH-7",
			Apply: changingGraphUser(func() func(agentserver.User) map[string]any {
				first := firstValue[map[string]any]{}
				return func(u agentserver.User) map[string]any {
					fields := maps.Clone(first.keep(u.Fields))
					fields["identity"] = u.Identity
					return fields
				}
			}),
		},
	}
}

// asDeveloper is the owner of the deployment, whoever the caller is.
func asDeveloper(agentserver.User) map[string]any {
	return map[string]any{"identity": "owner", "role": "developer"}
}

// firstValue keeps the first value it receives.
type firstValue[T any] struct {
	once  sync.Once
	value T
}

func (k *firstValue[T]) keep(v T) T {
	k.once.Do(func() { k.value = v })
	return k.value
}

func forEveryUser(fields func(agentserver.User) map[string]any) func() func(agentserver.User) map[string]any {
	return func() func(agentserver.User) map[string]any { return fields }
}

// changingGraphUser changes the user object that graphs receive. Authorization handlers still receive the original.
func changingGraphUser(made func() func(agentserver.User) map[string]any) Layer {
	return fresh(func() Layer {
		var right sync.Map // fields by identity
		return compose(
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
