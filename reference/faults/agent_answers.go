package faults

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// agentErrors returns the faults that cause 5xx answers.
func agentErrors() []Fault {
	return []Fault{
		{
			Name: "unknown-thread-crashes", Breaks: "create run on an unknown thread returns 500", Fails: "AS-ERROR-1",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := capture(next, r)
				if createRun.is(r) && a.status == http.StatusNotFound && !d.known(threadOf(r)) {
					a.refuse(http.StatusInternalServerError, "Internal Server Error")
				}
				a.send(w)
			}),
		},
		{
			Name: "rolled-back-run-crashes", Breaks: "get run of a rolled-back run returns 500", Fails: "AS-ERROR-1",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				onUnfound(getRun, w, r, next, func(a *answer) {
					if d.threadOfRun(runOf(r)) == threadOf(r) {
						a.refuse(http.StatusInternalServerError, "Internal Server Error")
					}
				})
			}),
		},
		{
			Name: "foreign-thread-crashes", Breaks: "get state of another user's thread returns 502", Fails: "AS-ERROR-1",
			Apply: onStatus(getState, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.refuse(http.StatusBadGateway, "Bad Gateway")
			}),
		},
		{
			Name: "input-that-is-no-object-crashes", Breaks: "create run with a number as input returns 500", Fails: "AS-ERROR-2",
			Also: map[string]string{"AS-RUN-7": "the request must be refused with 4xx"},
			Apply: around(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if createRun.is(r) {
					if _, number := bodyOf(r)["input"].(json.Number); number {
						writeJSON(w, http.StatusInternalServerError, `{"detail":"Internal Server Error"}`)
						return
					}
				}
				next.ServeHTTP(w, r)
			}),
		},
	}
}

// agentContract returns the faults that only the contract checks detect.
func agentContract() []Fault {
	return []Fault{
		{
			Name: "new-thread-is-no-json", Breaks: "create thread returns JSON with Content-Type text/plain", Fails: "AS-CONTRACT-create-thread",
			Apply: saying(createThread, "text/plain; charset=utf-8"),
		},
		{
			Name: "new-thread-is-203", Breaks: "create thread returns 203", Fails: "AS-CONTRACT-create-thread",
			Apply: withStatus(createThread, http.StatusNonAuthoritativeInfo),
		},
		{
			Name: "new-run-is-no-json", Breaks: "create run returns JSON with an empty Content-Type", Fails: "AS-CONTRACT-create-run",
			Apply: saying(createRun, ""),
		},
		{
			Name: "new-run-is-206", Breaks: "create run returns 206", Fails: "AS-CONTRACT-create-run",
			Apply: withStatus(createRun, http.StatusPartialContent),
		},
		{
			Name: "join-breaks-off", Breaks: "join returns JSON without the closing brace", Fails: "AS-CONTRACT-join-run",
			Apply: onStatus(joinRun, http.StatusOK, func(_ *http.Request, a *answer) {
				a.body = []byte(strings.TrimSuffix(strings.TrimSpace(string(a.body)), "}"))
			}),
		},
		{
			Name: "join-is-html", Breaks: "join returns JSON with Content-Type text/html", Fails: "AS-CONTRACT-join-run",
			Apply: saying(joinRun, "text/html"),
		},
		{
			Name: "run-is-no-json", Breaks: "get run returns JSON with Content-Type application/octet-stream", Fails: "AS-CONTRACT-get-run",
			Apply: saying(getRun, "application/octet-stream"),
		},
		{
			Name: "run-is-203", Breaks: "get run returns 203", Fails: "AS-CONTRACT-get-run",
			Apply: withStatus(getRun, http.StatusNonAuthoritativeInfo),
		},
		{
			Name: "tool-has-no-content", Breaks: "the content of tool messages is null", Fails: "AS-CONTRACT-get-state",
			Apply: onEachMessage(func(m map[string]any) {
				if m["type"] == "tool" {
					m["content"] = nil
				}
			}),
		},
		{
			Name: "state-is-no-json", Breaks: "get state returns JSON with Content-Type text/plain", Fails: "AS-CONTRACT-get-state",
			Apply: saying(getState, "text/plain"),
		},
		{
			Name: "list-counts-itself", Breaks: "list threads returns an extra last element with the total", Fails: "AS-CONTRACT-list-threads",
			Apply: onStatus(listThreads, http.StatusOK, func(_ *http.Request, a *answer) {
				rows := a.array()
				a.json(append(rows, map[string]any{"total": len(rows)}))
			}),
		},
		{
			Name: "list-of-threads-is-no-json", Breaks: "list threads returns JSON with Content-Type text/plain", Fails: "AS-CONTRACT-list-threads",
			Apply: saying(listThreads, "text/plain"),
		},
	}
}

// withStatus replaces status 200 of an operation with another 2xx status.
func withStatus(op operation, status int) Layer {
	return onStatus(op, http.StatusOK, func(_ *http.Request, a *answer) { a.status = status })
}

// agentRevisions returns the faults between an update and the agent server.
func agentRevisions() []Fault {
	return []Fault{
		{
			Name: "update-never-reaches-the-agent-server", Breaks: "the agent server still runs the first revision after an update is DEPLOYED", Fails: "E2E-1",
			Apply: redeploying(func(r *updatedRuntime, ctx context.Context, id string, b controlplane.Build, env map[string]string) error {
				return nil
			}),
		},
		{
			Name: "five-words-are-not-answered", Breaks: "a run with an input of five words gets no answer", Fails: "E2E-1",
			Also:  map[string]string{"AS-STATE-2": "one of its inputs also has five words"},
			Apply: onMessages(fiveUnanswered),
		},
		{
			Name: "first-revision-answers-no-five-words", Breaks: "a run with an input of five words gets no answer until the deployment is updated", Fails: "E2E-1",
			Also: map[string]string{"AS-STATE-2": "one of its inputs also has five words"},
			Apply: untilUpdated(getState, func(s map[string]any) {
				values := object(s["values"])
				if all := items(values["messages"]); len(all) > 0 {
					values["messages"] = fiveUnanswered(all)
				}
			}),
		},
		{
			Name: "updated-agent-server-answers-nothing", Breaks: "runs get no answer after an update of the deployment", Fails: "E2E-1",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := capture(next, r)
				switch {
				case updateDeployment.is(r) && a.status < 300:
					m.mark(deploymentOf(r), true)
				case getState.is(r) && m.marked(segment(r, 2)) != nil:
					a.edit(func(s map[string]any) {
						values := object(s["values"])
						values["messages"] = slices.DeleteFunc(items(values["messages"]), func(m map[string]any) bool { return m["type"] == "ai" })
					})
				}
				a.send(w)
			}),
		},
		{
			Name: "update-takes-the-agent-server-down", Breaks: "the agent server is down after an update is DEPLOYED", Fails: "E2E-1",
			Apply: redeploying(func(r *updatedRuntime, _ context.Context, id string, _ controlplane.Build, _ map[string]string) error {
				r.down.Store(id, true)
				return nil
			}),
		},
		{
			Name: "updated-deployment-has-another-address", Breaks: "custom_url is the address of another agent server after an update", Fails: "E2E-1",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := capture(next, r)
				switch {
				case updateDeployment.is(r) && a.status < 300:
					m.mark(deploymentOf(r), true)
				case getDeployment.is(r) && m.marked(deploymentOf(r)) != nil:
					a.edit(func(d map[string]any) {
						config := object(d["source_config"])
						config["custom_url"] = strings.Replace(text(config, "custom_url"), deploymentOf(r), builtinAgent, 1)
					})
				}
				a.send(w)
			}),
		},
	}
}

// redeploying replaces what happens when a revision replaces another one.
func redeploying(again func(r *updatedRuntime, ctx context.Context, id string, b controlplane.Build, env map[string]string) error) Layer {
	return running(func(r controlplane.Runtime) controlplane.Runtime { return &updatedRuntime{Runtime: r, again: again} })
}

type updatedRuntime struct {
	controlplane.Runtime
	again     func(r *updatedRuntime, ctx context.Context, id string, b controlplane.Build, env map[string]string) error
	had, down sync.Map // by deployment
}

func (r *updatedRuntime) Deploy(ctx context.Context, id string, b controlplane.Build, env map[string]string) error {
	if _, had := r.had.LoadOrStore(id, true); had {
		return r.again(r, ctx, id, b, env)
	}
	return r.Runtime.Deploy(ctx, id, b, env)
}

// Handler returns nil if the agent server is down.
func (r *updatedRuntime) Handler(id string) http.Handler {
	if _, down := r.down.Load(id); down {
		return nil
	}
	return r.Runtime.Handler(id)
}
