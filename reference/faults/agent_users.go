package faults

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/deviate"
)

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

// agentDirections returns the faults in which the second user is not protected from the first. The first user is protected.
func agentDirections() []Fault {
	return []Fault{
		{
			Name: "first-user-lists-everything", Breaks: "list threads and search threads return the threads of all users to the first user", Fails: "AS-AUTHZ-3",
			Apply: byOrder(func(first bool, a agentserver.Access, d *agentserver.Decision) {
				if first && a.Action == "search" {
					d.Filter = nil
				}
			}),
		},
		{
			Name: "second-user-can-name-another-owner", Breaks: "create thread accepts any owner in the metadata from every user but the first", Fails: "AS-AUTHZ-4",
			Apply: byOrder(func(first bool, a agentserver.Access, d *agentserver.Decision) {
				if sent := object(a.Value["metadata"])["owner"]; !first && a.Action == "create" && sent != nil {
					d.Filter = maps.Clone(d.Filter)
					d.Filter["owner"] = sent
				}
			}),
		},
		{
			Name: "second-user-replaces-the-first", Breaks: "the runs of the first user that wait receive the second user's object", Fails: "AS-AUTH-7",
			Apply: secondUserWhileWaiting(),
		},
	}
}

// byOrder changes decisions about an access of the first user who had one, or of others.
func byOrder(change func(first bool, a agentserver.Access, d *agentserver.Decision)) Layer {
	return fresh(func() Layer {
		first := firstValue[string]{}
		return authorizing(nil, func(a agentserver.Access, d *agentserver.Decision) {
			change(first.keep(a.User.Identity) == a.User.Identity, a, d)
		})
	})
}

// secondUserWhileWaiting gives runs of the first user that report their caller after a wait the second user's object.
func secondUserWhileWaiting() Layer {
	return fresh(func() Layer {
		var first, starter firstValue[string] // an identity, and the Authorization of who created the first thread
		var second atomic.Pointer[map[string]any]
		var waiting sync.Map // by thread
		return compose(
			authenticating(func() func(*agentserver.User) {
				return func(u *agentserver.User) {
					if !u.Studio && first.keep(u.Identity) != u.Identity {
						second.Store(&u.Fields)
					}
				}
			}),
			around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				who, said := r.Header.Get("Authorization"), string(readBody(r))
				if createThread.is(r) {
					a := deviate.Capture(next, r)
					if a.Status < http.StatusMultipleChoices {
						starter.keep(who)
					}
					a.Send(w)
					return
				}
				if createRun.is(r) && starter.keep(who) == who && strings.Contains(said, "whoami") && strings.Contains(said, "wait=") {
					waiting.Store(threadOf(r), true)
				}
				next.ServeHTTP(w, r)
			}),
			agentOptions(func(o *agentserver.Options) {
				o.GraphConfig = func(configurable map[string]any) {
					fields := second.Load()
					if _, waits := waiting.Load(configurable["thread_id"]); waits && fields != nil {
						configurable["graph_auth_user"] = *fields
					}
				}
			}),
		)
	})
}

// agentListings returns the faults in which threads are listed.
func agentListings() []Fault {
	return []Fault{
		{
			Name: "search-filter-replaces-the-owner", Breaks: "a search with metadata ignores the owner filter", Fails: "AS-AUTHZ-3",
			Apply: searching(func(metadata map[string]any, d *agentserver.Decision) {
				if len(metadata) > 0 {
					d.Filter = nil
				}
			}),
		},
		{
			Name: "searched-owner-wins", Breaks: "a search with an owner in the metadata ignores the owner filter", Fails: "AS-AUTHZ-3",
			Apply: searching(func(metadata map[string]any, d *agentserver.Decision) {
				if metadata["owner"] != nil {
					d.Filter = nil
				}
			}),
		},
	}
}

func searching(change func(metadata map[string]any, d *agentserver.Decision)) Layer {
	return authorizing(nil, func(a agentserver.Access, d *agentserver.Decision) {
		if a.Action == "search" {
			change(object(a.Value["metadata"]), d)
		}
	})
}

// agentMetadata returns the faults in the metadata of new threads, and in the access of studio users.
func agentMetadata() []Fault {
	return []Fault{
		{
			Name: "owner-can-be-spoofed", Breaks: "create thread accepts an owner in the metadata and ignores the handler's filter", Fails: "AS-AUTHZ-4",
			Apply: creatingThreads(func(metadata map[string]any, d *agentserver.Decision) {
				if metadata["owner"] != nil {
					d.Filter = nil
				}
			}),
		},
		{
			Name: "filter-replaces-the-metadata", Breaks: "create thread ignores the metadata that was sent and stores only the handler's filter", Fails: "AS-AUTHZ-4",
			Apply: creatingThreads(func(_ map[string]any, d *agentserver.Decision) {
				d.Value = maps.Clone(d.Value)
				d.Value["metadata"] = map[string]any{}
			}),
		},
		{
			Name: "studio-user-lists-nothing", Breaks: "list threads treats a studio user as a regular user", Fails: "AS-AUTHZ-5",
			Apply: authorizing(func(a *agentserver.Access) { a.User.Studio = a.User.Studio && a.Action != "search" }, nil),
		},
	}
}

func creatingThreads(change func(metadata map[string]any, d *agentserver.Decision)) Layer {
	return authorizing(nil, func(a agentserver.Access, d *agentserver.Decision) {
		if a.Action == "create" {
			change(object(a.Value["metadata"]), d)
		}
	})
}
