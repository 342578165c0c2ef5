package faults

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/agentconform/agentconform/reference/controlplane"
	"github.com/agentconform/agentconform/reference/deviate"
)

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
			Name: "update-takes-the-agent-server-down", Breaks: "the agent server is down after an update is DEPLOYED", Fails: "E2E-1",
			Apply: redeploying(func(r *updatedRuntime, _ context.Context, id string, _ controlplane.Build, _ map[string]string) error {
				r.down.Store(id, true)
				return nil
			}),
		},
		{
			Name: "updated-deployment-has-another-address", Breaks: "custom_url is the address of another agent server after an update", Fails: "E2E-1",
			Apply: remembering(func(m *memory, w http.ResponseWriter, r *http.Request, next http.Handler) {
				a := deviate.Capture(next, r)
				switch {
				case updateDeployment.is(r) && a.Status < 300:
					m.mark(deploymentOf(r), true)
				case getDeployment.is(r) && m.marked(deploymentOf(r)) != nil:
					a.Edit(func(d map[string]any) {
						config := object(d["source_config"])
						config["custom_url"] = strings.Replace(text(config, "custom_url"), deploymentOf(r), builtinAgent, 1)
					})
				}
				a.Send(w)
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
