package faults

import (
	"maps"
	"net/http"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/deviate"
)

// agentForeignThreads returns the faults in access to other users' threads.
func agentForeignThreads() []Fault {
	return []Fault{
		{
			Name: "foreign-join-waits", Breaks: "join of another user's run, under a thread of the caller, returns 200 with an empty object when the run ends",
			Fails: "AS-AUTHZ-1", Also: map[string]string{"AS-RUN-9": "the join of another user's run is answered with 200"},
			Apply: onForeignJoin(true, func(a *deviate.Answer, await func()) {
				await()
				a.JSON(map[string]any{})
			}),
		},
	}
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
		{
			Name: "searched-ids-are-everybodys", Breaks: "a search by ids returns threads of any user", Fails: "AS-AUTHZ-3",
			Apply: directed(foundByID),
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

// foundByID answers a search by ids with the threads of all users.
func foundByID(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
	ids, _ := bodyOf(r)["ids"].([]any)
	if !searchThreads.is(r) || len(ids) == 0 {
		next.ServeHTTP(w, r)
		return
	}
	a := deviate.Capture(next, r)
	if a.Status != http.StatusOK {
		a.Send(w)
		return
	}
	rows := []any{}
	for _, id := range ids {
		thread := withPath(r, threadPath(r, id.(string)))
		thread.Method = http.MethodGet
		found := deviate.Capture(next, resent(thread, d.owner(thread), nil))
		if found.Status == http.StatusOK {
			rows = append(rows, found.Object())
		}
	}
	a.JSON(rows)
	a.Send(w)
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

// agentAuthBypass returns the faults that bypass authentication in one place.
func agentAuthBypass() []Fault {
	return []Fault{
		{
			Name: "search-for-nothing-is-everybodys", Breaks: "a search without metadata also returns the threads of the first user", Fails: "AS-AUTHZ-3",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				sent, body := bodyOf(r), readBody(r)
				a := deviate.Capture(next, r)
				if searchThreads.is(r) && a.Status == http.StatusOK && sent["metadata"] == nil && sent["ids"] == nil {
					mine, _ := deviate.Value(a.Body).([]any)
					first, _ := deviate.Value(deviate.Capture(next, resent(r, d.owner(r), body)).Body).([]any)
					a.JSON(append(mine, first...))
				}
				a.Send(w)
			}),
		},
	}
}
