package faults

import (
	"encoding/json"
	"maps"
	"sync"

	"github.com/agentconform/agentconform/reference/agentserver"
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
