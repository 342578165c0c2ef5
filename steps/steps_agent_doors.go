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
	b.when(`the other user lists the threads by the other call`, w.otherUserListsOtherwise)
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

// byOtherCall is the listing of threads that is not configured: search beside the plain list, and the other way round.
const byOtherCall = "list the threads by the other call"

// askOtherCall lists the threads by it.
func (s *agentServer) askOtherCall(ctx context.Context, who caller) (*client.Answer, error) {
	if s.searches() {
		return s.ask(ctx, who, http.MethodGet, threadsPath, nil)
	}
	return s.ask(ctx, who, http.MethodPost, threadsPath+"/search", (*filter)(nil).body(0))
}

// listOtherwise has a caller list the threads by the other call, where that serves the user: a target needs only one.
func (w *World) listOtherwise(ctx context.Context, who caller) error {
	serves, err := w.agent.otherCall.get(ctx, w.run, "the other listing call", func(ctx context.Context) (bool, error) {
		a, err := w.agent.askOtherCall(ctx, w.run.owner())
		return err == nil && a.OK(), err
	})
	if err != nil {
		return asPrecondition(err)
	}
	if !serves {
		return inapplicable("the target serves no listing of threads but the configured one (agent.listing)")
	}
	w.listed.who = who
	if w.answer, err = w.agent.askOtherCall(ctx, who); err == nil {
		w.listed.rows = rowsOf(w.answer)
	}
	return err
}

// otherUserListsOtherwise makes sure that the user's thread would be seen if the list were everybody's.
func (w *World) otherUserListsOtherwise(ctx context.Context) error {
	other, err := w.callerNamed(ctx, theOtherUser)
	if err != nil {
		return err
	}
	err = w.run.within(ctx, w.run.config.Timeouts.Request, func() (bool, error) {
		err := w.listOtherwise(ctx, w.run.owner())
		return err == nil && (holds(w.listed.rows, w.owned.users.id) || !isList(w.answer)), err
	})
	if err != nil {
		return err
	}
	if !holds(w.listed.rows, w.owned.users.id) {
		return inapplicable("the other listing call does not show the user's own new thread, so it cannot show that of others")
	}
	return w.listOtherwise(ctx, other)
}

// unlike makes an id of the same form that nothing has: a target may look at the form of an id before it asks who wants
// to know.
func unlike(id string) string {
	other := []byte(id)
	changed := 0
	for i := len(other) - 1; i >= 0 && changed < 8; i-- {
		switch c := other[i]; {
		case c >= '0' && c <= '9':
			other[i] = '0' + (c-'0'+5)%10
		case c >= 'a' && c <= 'f':
			other[i] = 'a' + (c-'a'+3)%6
		case c >= 'A' && c <= 'F':
			other[i] = 'A' + (c-'A'+3)%6
		default:
			continue
		}
		changed++
	}
	if changed == 0 {
		return id + id
	}
	return string(other)
}
