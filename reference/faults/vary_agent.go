package faults

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reference/agentserver/threads"
)

// otherAgents are differences that the interface leaves to the agent server.
func otherAgents() []Variation {
	return []Variation{
		{Name: "thread-is-201", Differs: "a new thread is answered 201", Apply: statusOf(createThread, http.StatusOK, http.StatusCreated)},
		{Name: "run-is-202", Differs: "a new run is answered 202", Apply: statusOf(createRun, http.StatusOK, http.StatusAccepted)},
		{
			Name: "join-is-204", Differs: "a join is answered 204 with no body",
			Apply: onStatus(joinRun, http.StatusOK, func(_ *http.Request, a *answer) {
				a.status, a.body = http.StatusNoContent, nil
				a.header.Del("Content-Type")
			}),
		},
		{
			Name: "join-is-a-text", Differs: "a join is answered with a plain text",
			Apply: onStatus(joinRun, http.StatusOK, func(_ *http.Request, a *answer) { a.plain("done\n") }),
		},
		{Name: "ids-are-numbers", Differs: "the ids of threads and runs are numbers", Apply: numberedIDs()},
		{
			Name: "threads-are-listed-late", Differs: "lists of threads learn of a new one after 300 ms",
			Apply: agentStoring(func(s threads.Store) threads.Store { return oldThreads{s, 300 * time.Millisecond} }),
		},
		{
			Name: "join-is-null", Differs: "a join is answered with null",
			Apply: onStatus(joinRun, http.StatusOK, func(_ *http.Request, a *answer) { a.json(nil) }),
		},
		{
			Name: "run-shows-its-id-only", Differs: "a run has a run_id and nothing else",
			Apply: both(onObject(createRun, only("run_id")), onObject(getRun, only("run_id"))),
		},
		{
			Name: "state-shows-values-only", Differs: "a state has values and nothing else",
			Apply: onObject(getState, only("values")),
		},
		{
			Name: "messages-have-more", Differs: "messages have a role, an id, a name and usage beside type and content",
			Apply: onObject(getState, func(state map[string]any) {
				for i, message := range items(object(state["values"])["messages"]) {
					message["role"], message["id"], message["name"] = "assistant", i, nil
					message["usage_metadata"] = map[string]any{"input_tokens": 1}
				}
			}),
		},
		{
			Name: "values-have-more", Differs: "values of a state hold more than messages",
			Apply: onObject(getState, func(state map[string]any) {
				if values := object(state["values"]); len(values) > 0 {
					values["documents"], values["type"] = []any{map[string]any{"content": 1}}, "human"
				}
			}),
		},
		{Name: "gone-is-410", Differs: "the agent server answers 410 in place of 404", Apply: agentStatus(http.StatusNotFound, http.StatusGone)},
		{Name: "gone-is-422", Differs: "the agent server answers 422 in place of 404", Apply: agentStatus(http.StatusNotFound, http.StatusUnprocessableEntity)},
		{Name: "foreign-is-403", Differs: "the agent server answers 403 in place of 404", Apply: agentStatus(http.StatusNotFound, http.StatusForbidden)},
		{
			Name: "agent-mistakes-are-400", Differs: "the agent server answers 400 in place of 422, with a shape of its own",
			Apply: onAgent(func(a *answer) {
				if a.status == http.StatusUnprocessableEntity {
					a.status = http.StatusBadRequest
					a.json(map[string]any{"error": map[string]any{"code": "invalid"}})
				}
			}),
		},
		{
			Name: "rejection-is-a-text", Differs: "the detail of the authentication handler comes as plain text",
			Apply: onAgent(func(a *answer) {
				if detail := text(a.object(), "detail"); a.status == http.StatusUnauthorized && detail != "" {
					a.plain(detail)
				}
			}),
		},
		{
			Name: "threads-oldest-first", Differs: "threads are listed in the opposite order",
			Apply: both(turnedRound(listThreads), turnedRound(searchThreads)),
		},
		{
			Name: "nothing-says-where-a-run-is", Differs: "headers of the field, such as Content-Location, are left out",
			Apply: onAgent(func(a *answer) {
				for _, name := range []string{"Content-Location", "Location", "Www-Authenticate"} {
					a.header.Del(name)
				}
			}),
		},
	}
}

// onAgent changes every answer of agent servers.
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

// turnedRound turns round an answer that is a list.
func turnedRound(op operation) Layer {
	return onStatus(op, http.StatusOK, func(_ *http.Request, a *answer) {
		if list, ok := decodedValue(a.body).([]any); ok {
			slices.Reverse(list)
			a.json(list)
		}
	})
}
