package faults

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// otherAgents differ where the interface leaves the agent server a choice.
func otherAgents() []EquivalentMutant {
	return []EquivalentMutant{
		{Name: "thread-is-201", Place: "thread status", Differs: "create thread returns 201", Apply: statusOf(createThread, http.StatusOK, http.StatusCreated)},
		{Name: "run-is-202", Place: "run status", Differs: "create run returns 202", Apply: statusOf(createRun, http.StatusOK, http.StatusAccepted)},
		{
			Name: "join-is-204", Place: "join", Differs: "join returns 204 with an empty body",
			Apply: onStatus(joinRun, http.StatusOK, func(_ *http.Request, a *answer) {
				a.status, a.body = http.StatusNoContent, nil
				a.header.Del("Content-Type")
			}),
		},
		{
			Name: "join-is-a-text", Place: "join", Differs: "join returns plain text",
			Apply: onStatus(joinRun, http.StatusOK, func(_ *http.Request, a *answer) { a.plain("done\n") }),
		},
		{
			Name: "join-of-a-failed-run-is-500", Place: "join", Differs: "the join of a run whose graph raised an error returns 500",
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if !joinRun.is(r) {
					next.ServeHTTP(w, r)
					return
				}
				a := capture(next, r)
				if run := look(next, r, strings.TrimSuffix(r.URL.Path, "/join"), ""); text(run, "status") == "error" {
					a.refuse(http.StatusInternalServerError, "Internal Server Error")
				}
				a.send(w)
			}),
		},
		{Name: "ids-are-numbers", Differs: "thread_id and run_id are numbers", Apply: numberedIDs()},
		{
			Name: "threads-are-listed-late", Differs: "a new thread appears in lists after 300 ms",
			Apply: agentStoring(func(s threads.Store) threads.Store { return oldThreads{s, 300 * time.Millisecond} }),
		},
		{
			Name: "one-run-at-a-time", Queues: true, Differs: "the agent server executes one run at a time; runs of all threads wait for each other",
			Apply: agentOptions(func(o *agentserver.Options) { o.Workers = 1 }),
		},
		{
			Name: "three-runs-at-a-time", Queues: true, Differs: "the agent server executes three runs at a time; other runs are pending",
			Apply: agentOptions(func(o *agentserver.Options) { o.Workers = 3 }),
		},
		{
			Name: "runs-start-late", Queues: true, Differs: "the agent server executes ten runs at a time, and each starts up to 700 ms after it was accepted",
			Apply: agentOptions(func(o *agentserver.Options) { o.Workers, o.GraphConfig = 10, startingLate(o.GraphConfig) }),
		},
		{
			Name: "join-is-null", Place: "join", Differs: "join returns null",
			Apply: onStatus(joinRun, http.StatusOK, func(_ *http.Request, a *answer) { a.json(nil) }),
		},
		{
			Name: "run-shows-its-id-only", Place: "run", Differs: "create run and get run return only run_id",
			Apply: compose(onObject(createRun, only("run_id")), onObject(getRun, only("run_id"))),
		},
		{
			Name: "state-has-more", Place: "state", Differs: "get state also returns what is next, a checkpoint and metadata",
			Apply: onObject(getState, func(state map[string]any) {
				state["next"], state["tasks"] = []any{}, []any{}
				state["checkpoint"] = map[string]any{"checkpoint_id": uuid.NewString(), "checkpoint_ns": ""}
				state["metadata"] = map[string]any{"source": "loop", "step": 1, "parents": map[string]any{}}
			}),
		},
		{
			Name: "state-is-written-at-the-end", Differs: "the state shows the messages of a run only when the run ends",
			Apply: stateAtEnd(),
		},
		{
			Name: "messages-have-more", Place: "messages", Differs: "messages also have role, id, name and usage_metadata",
			Apply: onObject(getState, func(state map[string]any) {
				for i, message := range items(object(state["values"])["messages"]) {
					message["role"], message["id"], message["name"] = "assistant", i, nil
					message["usage_metadata"] = map[string]any{"input_tokens": 1}
				}
			}),
		},
		{
			Name: "values-have-more", Place: "values", Differs: "values of a state also have fields other than messages",
			Apply: onObject(getState, func(state map[string]any) {
				if values := object(state["values"]); len(values) > 0 {
					values["documents"], values["type"] = []any{map[string]any{"content": 1}}, "human"
				}
			}),
		},
		{Name: "gone-is-410", Place: "agent 404", Differs: "the agent server returns 410 instead of 404", Apply: agentStatus(http.StatusNotFound, http.StatusGone)},
		{Name: "gone-is-422", Place: "agent 404", Differs: "the agent server returns 422 instead of 404", Apply: agentStatus(http.StatusNotFound, http.StatusUnprocessableEntity)},
		{Name: "foreign-is-403", Place: "agent 404", Differs: "the agent server returns 403 instead of 404", Apply: agentStatus(http.StatusNotFound, http.StatusForbidden)},
		{
			Name: "agent-mistakes-are-400", Place: "agent 422", Differs: "the agent server returns 400 instead of 422, with a different body",
			Apply: onAgent(func(a *answer) {
				if a.status == http.StatusUnprocessableEntity {
					a.status = http.StatusBadRequest
					a.json(map[string]any{"error": map[string]any{"code": "invalid"}})
				}
			}),
		},
		{
			Name: "rejection-is-a-text", Place: "agent 401", Differs: "the 401 of an agent server is plain text with the handler's detail",
			Apply: onAgent(func(a *answer) {
				if detail := text(a.object(), "detail"); a.status == http.StatusUnauthorized && detail != "" {
					a.plain(detail)
				}
			}),
		},
		{
			Name: "threads-oldest-first", Place: "thread list", Differs: "threads are listed in reverse order",
			Apply: compose(reversedList(listThreads), reversedList(searchThreads)),
		},
		{
			Name: "list-is-a-page-of-a-busy-user", Place: "thread list", Differs: "list threads returns ten threads; those of other clients push every second new one out",
			Apply: onStatus(listThreads, http.StatusOK, pageOfABusyUser),
		},
		{Name: "list-threads-is-405", Place: "thread list", Differs: "list threads returns 405; search threads lists them", Apply: unserved(listThreads, http.StatusMethodNotAllowed)},
		{Name: "list-threads-is-404", Place: "thread list", Differs: "list threads returns 404; search threads lists them", Apply: unserved(listThreads, http.StatusNotFound)},
		{
			Name: "unknown-thread-has-no-runs", Place: "run list", Differs: "list runs of a thread that is unknown or belongs to another user returns 200 with an empty array",
			Apply: ofForeign(listRuns, []any{}),
		},
		{Name: "threads-stay", Place: "thread removal", Differs: "delete thread returns 405", Apply: unserved(deleteThread, http.StatusMethodNotAllowed)},
		{
			Name: "answers-hold-the-token", Place: "run", Differs: "runs hold the caller's token in kwargs",
			Apply: compose(onAnswer(createRun, holdsToken), onAnswer(getRun, holdsToken)),
		},
		{
			Name: "null-field-is-left-out", Place: "graph user", Differs: "the graph receives the user object without the custom fields that are null",
			Apply: changingGraphUser(forEveryUser(func(u agentserver.User) map[string]any {
				fields := maps.Clone(u.Fields)
				maps.DeleteFunc(fields, func(_ string, value any) bool { return value == nil })
				return fields
			})),
		},
		{
			Name: "run-has-a-location", Place: "agent headers", Differs: "create run returns Location and Content-Location of the run",
			Apply: onStatus(createRun, http.StatusOK, func(r *http.Request, a *answer) {
				at := r.URL.Path + "/" + text(a.object(), "run_id")
				a.header.Set("Content-Location", at)
				a.header.Set("Location", at+"/join")
			}),
		},
	}
}

// unserved answers an operation as a server that does not have it, whoever asks.
func unserved(op operation, status int) Layer {
	return around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if !op.is(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := &answer{header: http.Header{}}
		a.refuse(status, http.StatusText(status))
		a.send(w)
	})
}

// holdsToken adds the caller's token to a run, as servers do that keep the configuration of a run in it.
func holdsToken(r *http.Request, a *answer) {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if a.status < 300 && token != "" {
		a.edit(func(run map[string]any) {
			run["kwargs"] = map[string]any{"config": map[string]any{"configurable": map[string]any{"graph_auth_user": map[string]any{"token": token}}}}
		})
	}
}

// onAgent changes all answers of agent servers.
func onAgent(change func(a *answer)) Layer {
	return onEvery(func(r *http.Request, a *answer) {
		if strings.HasPrefix(r.URL.Path, "/agents/") {
			change(a)
		}
	})
}

func agentStatus(is, other int) Layer {
	return onAgent(func(a *answer) {
		if a.status == is {
			a.status = other
		}
	})
}

// reversedList reverses an answer that is an array.
func reversedList(op operation) Layer {
	return onStatus(op, http.StatusOK, func(_ *http.Request, a *answer) {
		if list, ok := decodedValue(a.body).([]any); ok {
			slices.Reverse(list)
			a.json(list)
		}
	})
}

// pageOfABusyUser shows about half of the threads, chosen by their ids, and makes a page of ten with what others have created.
func pageOfABusyUser(_ *http.Request, a *answer) {
	list, ok := decodedValue(a.body).([]any)
	if !ok || len(list) == 0 {
		return
	}
	page := slices.DeleteFunc(slices.Clone(list), func(thread any) bool {
		sum := fnv.New32a()
		fmt.Fprint(sum, text(object(thread), "thread_id"))
		return sum.Sum32()%2 == 0
	})
	for len(page) < 10 {
		others := maps.Clone(object(list[0]))
		others["thread_id"] = uuid.NewString()
		page = append(page, others)
	}
	a.json(page[:10])
}

// startingLate lets each run wait before it starts, one more than the other.
func startingLate(inner func(map[string]any)) func(map[string]any) {
	var n atomic.Int64
	return func(configurable map[string]any) {
		if inner != nil {
			inner(configurable)
		}
		time.Sleep(time.Duration(n.Add(1)*270%700) * time.Millisecond)
	}
}
