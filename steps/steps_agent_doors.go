package steps

import (
	"context"
	"net/http"
	"slices"

	"github.com/agentconform/agentconform/steps/client"
)

// defineOpenDoors holds the sentences about ways into an agent server beside the usual one (section 5).
func (w *World) defineOpenDoors(b *book) {
	const updated = `the agent server of a deployment that was updated`
	b.given(updated, w.anUpdatedAgentServer)
	b.requires(updated, anyway(w.aConfiguredUpdate))
}

func (w *World) aConfiguredUpdate() error {
	if w.run.config.Target == "" {
		return needs("target, the address of a control plane")
	}
	if err := w.aConfiguredUser(); err != nil {
		return err
	}
	return w.aSecondSource()
}

// anUpdatedAgentServer goes on at the agent server of the shared deployment that was updated, once the last revision
// of that is DEPLOYED.
func (w *World) anUpdatedAgentServer(ctx context.Context) error {
	if err := w.aConfiguredUpdate(); err != nil {
		return err
	}
	d, err := w.run.shared(ctx, w.run.fixtures.updated)
	if err != nil {
		return err
	}
	h, err := w.run.poll(ctx, d.id, d.latest(), w.run.done)
	if err != nil {
		return err
	}
	if err := w.run.deployed(h); err != nil {
		return err
	}
	w.agent, err = w.run.agentOf(ctx, d)
	return err
}

// agentServes says what is wrong with an answer that is no success. That a user is refused is told here; any other
// trouble with a request that was let in belongs to the requirement about the operation.
func (w *World) agentServes(a *client.Answer) error {
	refusals := []int{http.StatusUnauthorized, http.StatusForbidden, w.run.config.Agent.RejectedStatus}
	if w.attempted == theUser && !slices.Contains(refusals, a.Status) {
		return blocked("the request is not served, and not for want of credentials: %s", seen(a))
	}
	return violated(a, "a status of success", "%s", seen(a))
}
