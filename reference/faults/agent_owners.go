package faults

import (
	"maps"
	"net/http"

	"github.com/agentconform/agentconform/reference/agentserver"
)

// agentForeigners holds the faults in what users may do with threads of others.
func agentForeigners() []Fault {
	return []Fault{
		{
			Name: "foreign-state-is-read", Breaks: "the state of a thread is read without asking whose it is", Fails: "AS-AUTHZ-1",
			Apply: servedAsOwner(http.StatusNotFound, anybody, getState),
		},
		{
			Name: "foreign-run-is-retrieved", Breaks: "a run is retrieved without asking whose thread it is on", Fails: "AS-AUTHZ-1",
			Apply: servedAsOwner(http.StatusNotFound, anybody, getRun),
		},
		{
			Name: "foreign-run-is-joined", Breaks: "a run is joined without asking whose thread it is on", Fails: "AS-AUTHZ-1",
			Apply: servedAsOwner(http.StatusNotFound, anybody, joinRun),
		},
		{
			Name: "foreign-state-is-empty", Breaks: "the state of another user's thread is shown as that of a new one", Fails: "AS-AUTHZ-1",
			Apply: onStatus(getState, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.status = http.StatusOK
				a.json(map[string]any{"values": map[string]any{}, "next": []any{}})
			}),
		},
		{
			Name: "foreign-thread-takes-runs", Breaks: "a run is started without asking whose thread it is on", Fails: "AS-AUTHZ-2",
			Apply: servedAsOwner(http.StatusNotFound, anybody, createRun),
		},
		{
			Name: "foreign-run-is-started", Breaks: "the owner of the thread is asked after the run was started", Fails: "AS-AUTHZ-2",
			Apply: refusedAndDone(http.StatusNotFound, plainRun, createRun),
		},
		{
			Name: "foreign-rollback-is-done", Breaks: "the owner of the thread is asked after the run in progress was rolled back", Fails: "AS-AUTHZ-2",
			Apply: refusedAndDone(http.StatusNotFound, rollbackRun, createRun),
		},
	}
}

// agentListings holds the faults in which threads a user is shown.
func agentListings() []Fault {
	return []Fault{
		{
			Name: "search-filter-replaces-the-owner", Breaks: "metadata that a caller searches for takes the place of the owner filter", Fails: "AS-AUTHZ-3",
			Apply: searching(func(metadata map[string]any, d *agentserver.Decision) {
				if len(metadata) > 0 {
					d.Filter = nil
				}
			}),
		},
		{
			Name: "list-is-everybodys", Breaks: "a list without a filter of the caller has none at all", Fails: "AS-AUTHZ-3",
			Apply: searching(func(metadata map[string]any, d *agentserver.Decision) {
				if len(metadata) == 0 {
					d.Filter = nil
				}
			}),
		},
		{
			Name: "searched-owner-wins", Breaks: "an owner that a caller searches for takes the place of the owner filter", Fails: "AS-AUTHZ-3",
			Apply: searching(func(metadata map[string]any, d *agentserver.Decision) {
				if metadata["owner"] != nil {
					d.Filter = nil
				}
			}),
		},
		{
			Name: "searched-ids-are-everybodys", Breaks: "threads that are searched for by their ids are found, whoever owns them", Fails: "AS-AUTHZ-3",
			Apply: directed(foundByID),
		},
		{
			Name: "search-for-metadata-finds-nothing", Breaks: "the caller's filter and the owner filter exclude each other", Fails: "AS-AUTHZ-3",
			Apply: onExchange(searchThreads, func(sent map[string]any, _ *http.Request, a *answer) {
				if len(object(sent["metadata"])) > 0 && a.status == http.StatusOK {
					a.json([]any{})
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

// foundByID answers a search for ids with all threads that have them.
func foundByID(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
	ids, _ := bodyOf(r)["ids"].([]any)
	if !searchThreads.is(r) || len(ids) == 0 {
		next.ServeHTTP(w, r)
		return
	}
	a := capture(next, r)
	if a.status != http.StatusOK {
		a.send(w)
		return
	}
	rows := []any{}
	for _, id := range ids {
		thread := withPath(r, threadPath(r, id.(string)))
		thread.Method = http.MethodGet
		found := capture(next, resent(thread, d.owner(thread), nil))
		if found.status == http.StatusOK {
			rows = append(rows, found.object())
		}
	}
	a.json(rows)
	a.send(w)
}

// agentMetadata holds the faults in the metadata of what is created, and in what a studio user sees.
func agentMetadata() []Fault {
	return []Fault{
		{
			Name: "owner-can-be-spoofed", Breaks: "an owner that the caller sends with a new thread wins over the filter", Fails: "AS-AUTHZ-4",
			Apply: creatingThreads(func(metadata map[string]any, d *agentserver.Decision) {
				if metadata["owner"] != nil {
					d.Filter = nil
				}
			}),
		},
		{
			Name: "owner-is-not-shown", Breaks: "the filter is kept aside, and the metadata of a new thread names no owner", Fails: "AS-AUTHZ-4",
			Apply: onObject(createThread, func(t map[string]any) { delete(object(t["metadata"]), "owner") }),
		},
		{
			Name: "filter-replaces-the-metadata", Breaks: "the metadata of a new thread is the filter, and nothing of what was sent", Fails: "AS-AUTHZ-4",
			Apply: creatingThreads(func(_ map[string]any, d *agentserver.Decision) {
				d.Value = maps.Clone(d.Value)
				d.Value["metadata"] = map[string]any{}
			}),
		},
		{
			Name: "studio-user-is-filtered", Breaks: "a studio user is taken for any other user", Fails: "AS-AUTHZ-5",
			Apply: authorizing(func(a *agentserver.Access) { a.User.Studio = false }, nil),
		},
		{
			Name: "studio-user-lists-nothing", Breaks: "the list of threads takes a studio user for any other user", Fails: "AS-AUTHZ-5",
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
