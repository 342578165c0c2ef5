package faults

import (
	"context"
	"encoding/json"
	"maps"
	"sync"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/script"
)

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

func agentRollbacks() []Fault {
	return []Fault{
		{
			Name: "rollback-deletes-the-last-only", Breaks: "of a running and a queued run, rollback deletes only the queued one", Fails: "AS-ROLLBACK-5",
			Apply: agentOptions(func(o *agentserver.Options) { o.Spares = func(at, of int) bool { return at < of-1 } }),
		},
	}
}

// agentRevisions returns the fault between an update and the agent server.
func agentRevisions() []Fault {
	return []Fault{
		{
			Name: "update-never-reaches-the-agent-server", Breaks: "the agent server still runs the first revision after an update is DEPLOYED", Fails: "E2E-1",
			Apply: controlOptions(func(o *controlplane.Options) { o.Runtime = &firstBuilds{Runtime: o.Runtime} }),
		},
	}
}

// firstBuilds deploys only the first build of each deployment.
type firstBuilds struct {
	controlplane.Runtime
	had sync.Map // by deployment
}

func (f *firstBuilds) Deploy(ctx context.Context, tenant, id string, b controlplane.Build, env map[string]string) error {
	if _, had := f.had.LoadOrStore(id, true); had {
		return nil
	}
	return f.Runtime.Deploy(ctx, tenant, id, b, env)
}

// agentUsers returns the faults in the user object that the graph receives.
func agentUsers() []Fault {
	return []Fault{
		{
			Name: "graph-sees-no-custom-fields", Breaks: "the graph receives the user's identity without the custom fields", Fails: "AS-AUTH-6",
			Apply: graphUsers(func(fields map[string]any) {
				maps.DeleteFunc(fields, func(name string, _ any) bool { return name != "identity" })
			}),
		},
		{
			Name: "graph-sees-no-identity", Breaks: "the graph receives the user's custom fields without the identity", Fails: "AS-AUTH-6",
			Apply: graphUsers(func(fields map[string]any) { delete(fields, "identity") }),
		},
		{
			Name: "number-in-a-field-becomes-text", Breaks: "the graph receives a string for each custom field that is a number", Fails: "AS-AUTH-6",
			Apply: graphUsers(func(fields map[string]any) {
				for name, value := range fields {
					if number, is := value.(json.Number); is {
						fields[name] = number.String()
					}
				}
			}),
		},
		{
			Name: "first-role-is-cached", Breaks: "the graph receives the caller's identity with the custom fields of the first user", Fails: "AS-AUTH-7",
			Apply: fresh(func() Layer {
				first := firstValue[map[string]any]{}
				return graphUsers(func(fields map[string]any) {
					identity := fields["identity"]
					cached := first.keep(maps.Clone(fields))
					clear(fields)
					maps.Copy(fields, cached)
					fields["identity"] = identity
				})
			}),
		},
	}
}

// graphUsers changes the fields of the user objects that graphs receive.
func graphUsers(change func(fields map[string]any)) Layer {
	return agentOptions(func(o *agentserver.Options) {
		inner := o.GraphConfig
		o.GraphConfig = func(configurable map[string]any) {
			if inner != nil {
				inner(configurable)
			}
			if user, is := configurable["graph_auth_user"].(*script.Record); is {
				value, _ := script.ToGo(user) // it was made of JSON
				fields := object(value)
				change(fields)
				configurable["graph_auth_user"], _ = script.NewRecord(user.Type(), fields)
			}
		}
	})
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

// agentListings returns the faults in whose threads are listed.
func agentListings() []Fault {
	return []Fault{
		{
			Name: "first-user-lists-everything", Breaks: "list threads and search threads return the threads of all users to the first user", Fails: "AS-AUTHZ-3",
			Apply: unfiltered(func(first bool, _ map[string]any) bool { return first }),
		},
		{
			Name: "search-filter-replaces-the-owner", Breaks: "a search with metadata ignores the owner filter", Fails: "AS-AUTHZ-3",
			Apply: unfiltered(func(_ bool, metadata map[string]any) bool { return len(metadata) > 0 }),
		},
		{
			Name: "searched-owner-wins", Breaks: "a search with an owner in the metadata ignores the owner filter", Fails: "AS-AUTHZ-3",
			Apply: unfiltered(func(_ bool, metadata map[string]any) bool { return metadata["owner"] != nil }),
		},
	}
}

// unfiltered leaves the authorization handler's filter out of lists, by the metadata that are searched for, and whether the user
// is the first who had access.
func unfiltered(which func(first bool, metadata map[string]any) bool) Layer {
	return agentOptions(func(o *agentserver.Options) {
		var known firstValue[string] // an identity
		o.Filter = func(a agentserver.Access, filter map[string]any) map[string]any {
			first := known.keep(a.User.Identity) == a.User.Identity
			if a.Action == "search" && which(first, object(a.Value["metadata"])) {
				return nil
			}
			return filter
		}
	})
}
