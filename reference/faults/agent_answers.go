package faults

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference/controlplane"
)

// agentErrors holds the faults that are server errors.
func agentErrors() []Fault {
	return []Fault{
		{
			Name: "unknown-thread-crashes", Breaks: "a run on an unknown thread is a server error", Fails: "AS-ERROR-1",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := capture(next, r)
				if createRun.is(r) && a.status == http.StatusNotFound && !d.known(threadOf(r)) {
					a.refuse(http.StatusInternalServerError, "Internal Server Error")
				}
				a.send(w)
			}),
		},
		{
			Name: "rolled-back-run-crashes", Breaks: "looking for a run that was rolled back is a server error", Fails: "AS-ERROR-1",
			Apply: directed(func(d *directory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				onUnfound(w, r, next, func(a *answer) {
					if d.home(runOf(r)) == threadOf(r) {
						a.refuse(http.StatusInternalServerError, "Internal Server Error")
					}
				})
			}),
		},
		{
			Name: "foreign-thread-crashes", Breaks: "the state of another user's thread is a bad gateway", Fails: "AS-ERROR-1",
			Apply: onStatus(getState, http.StatusNotFound, func(_ *http.Request, a *answer) {
				a.refuse(http.StatusBadGateway, "Bad Gateway")
			}),
		},
	}
}

// agentContract holds the faults in answers that nothing but the contract looks at.
func agentContract() []Fault {
	return []Fault{
		{
			Name: "new-thread-is-no-json", Breaks: "a new thread is JSON, and says that it is plain text", Fails: "AS-CONTRACT-create-thread",
			Apply: saying(createThread, "text/plain; charset=utf-8"),
		},
		{
			Name: "new-thread-is-203", Breaks: "a new thread is answered with status 203", Fails: "AS-CONTRACT-create-thread",
			Apply: withStatus(createThread, http.StatusNonAuthoritativeInfo),
		},
		{
			Name: "new-run-is-no-json", Breaks: "a new run is JSON, and says nothing about its type", Fails: "AS-CONTRACT-create-run",
			Apply: saying(createRun, ""),
		},
		{
			Name: "new-run-is-206", Breaks: "a new run is answered with status 206", Fails: "AS-CONTRACT-create-run",
			Apply: withStatus(createRun, http.StatusPartialContent),
		},
		{
			Name: "join-breaks-off", Breaks: "the answer of a join lacks its last bracket", Fails: "AS-CONTRACT-join-run",
			Apply: onStatus(joinRun, http.StatusOK, func(_ *http.Request, a *answer) {
				a.body = []byte(strings.TrimSuffix(strings.TrimSpace(string(a.body)), "}"))
			}),
		},
		{
			Name: "join-is-html", Breaks: "the answer of a join says that it is HTML", Fails: "AS-CONTRACT-join-run",
			Apply: saying(joinRun, "text/html"),
		},
		{
			Name: "run-is-no-json", Breaks: "a run is JSON, and says that it is an octet stream", Fails: "AS-CONTRACT-get-run",
			Apply: saying(getRun, "application/octet-stream"),
		},
		{
			Name: "run-is-203", Breaks: "a run is answered with status 203", Fails: "AS-CONTRACT-get-run",
			Apply: withStatus(getRun, http.StatusNonAuthoritativeInfo),
		},
		{
			Name: "tool-has-no-content", Breaks: "the content of what a tool has said is null", Fails: "AS-CONTRACT-get-state",
			Apply: onEachMessage(func(m map[string]any) {
				if m["type"] == "tool" {
					m["content"] = nil
				}
			}),
		},
		{
			Name: "state-is-no-json", Breaks: "a state is JSON, and says that it is plain text", Fails: "AS-CONTRACT-get-state",
			Apply: saying(getState, "text/plain"),
		},
		{
			Name: "list-counts-itself", Breaks: "the list of threads ends with an object that holds their number", Fails: "AS-CONTRACT-list-threads",
			Apply: onStatus(listThreads, http.StatusOK, func(_ *http.Request, a *answer) {
				rows := a.array()
				a.json(append(rows, map[string]any{"total": len(rows)}))
			}),
		},
		{
			Name: "list-of-threads-is-no-json", Breaks: "the list of threads is JSON, and says that it is plain text", Fails: "AS-CONTRACT-list-threads",
			Apply: saying(listThreads, "text/plain"),
		},
	}
}

// withStatus gives successful answers of an operation another status of success.
func withStatus(op operation, status int) Layer {
	return onStatus(op, http.StatusOK, func(_ *http.Request, a *answer) { a.status = status })
}

// agentRevisions holds the faults on the way from an update to the agent server.
func agentRevisions() []Fault {
	return []Fault{
		{
			Name: "update-never-reaches-the-agent-server", Breaks: "a new revision is DEPLOYED, and the agent server goes on with the first one", Fails: "E2E-1",
			Apply: redeploying(func(r *updatedRuntime, ctx context.Context, id string, b controlplane.Build, env map[string]string) error {
				return nil
			}),
		},
		{
			Name: "five-words-are-not-answered", Breaks: "a run with an input of five words ends without an answer", Fails: "E2E-1",
			Also:  map[string]string{"AS-STATE-2": "one of its texts has five words, too"},
			Apply: onMessages(fiveUnanswered),
		},
		{
			Name: "first-revision-answers-no-five-words", Breaks: "until the deployment is updated, a run with an input of five words ends without an answer", Fails: "E2E-1",
			Also: map[string]string{"AS-STATE-2": "one of its texts has five words, too"},
			Apply: untilUpdated(getState, func(s map[string]any) {
				values := object(s["values"])
				if all := items(values["messages"]); len(all) > 0 {
					values["messages"] = fiveUnanswered(all)
				}
			}),
		},
		{
			Name: "update-silences-the-agent-server", Breaks: "a new revision is DEPLOYED, and its graph answers nothing", Fails: "E2E-1",
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
			Name: "update-takes-the-agent-server-down", Breaks: "a new revision is DEPLOYED, and no agent server is in service any more", Fails: "E2E-1",
			Apply: redeploying(func(r *updatedRuntime, _ context.Context, id string, _ controlplane.Build, _ map[string]string) error {
				r.down.Store(id, true)
				return nil
			}),
		},
		{
			Name: "updated-deployment-has-another-address", Breaks: "a deployment that was updated tells the address of another agent server", Fails: "E2E-1",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := capture(next, r)
				switch {
				case updateDeployment.is(r) && a.status < 300:
					m.mark(deploymentOf(r), true)
				case getDeployment.is(r) && m.marked(deploymentOf(r)) != nil:
					a.edit(func(d map[string]any) {
						config := object(d["source_config"])
						config["custom_url"] = strings.Replace(text(config, "custom_url"), deploymentOf(r), standing, 1)
					})
				}
				a.send(w)
			}),
		},
	}
}

// redeploying changes what is done when a revision takes the place of another one.
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

// Handler has nobody answer where the agent server is down.
func (r *updatedRuntime) Handler(id string) http.Handler {
	if _, down := r.down.Load(id); down {
		return nil
	}
	return r.Runtime.Handler(id)
}
