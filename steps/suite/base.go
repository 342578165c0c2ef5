package suite

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// wrongBase returns an error if the interface is not served at a configured address, but at another path of the same
// host. It names the right address. Without this look, each requirement would fail or be blocked for the same reason.
func (r *run) wrongBase(ctx context.Context) error {
	c := r.target.Config
	if c.ReadOnly { // the requests are POSTs
		return nil
	}
	ctx = evidence.WithScenario(ctx, "fixture: a look for the base address", 0)
	if c.Target != "" {
		request := r.target.ToControlPlane(target.Nobody, http.MethodPost, plane.DeploymentsPath, []any{})
		if err := r.servedElsewhere(ctx, request); err != nil {
			return err
		}
	}
	if c.AgentTarget != "" {
		request := r.target.ToAgent(c.AgentTarget, target.Caller{}, http.MethodPost, agent.ThreadsPath, []any{})
		return r.servedElsewhere(ctx, request)
	}
	return nil
}

// servedElsewhere sends a POST without credentials whose body is not an object, so that it creates nothing. A server
// of the interface refuses it, and a server without the route returns 404, 405 or 501. Only in the second case it
// tries the paths above the base address, and /api below it.
func (r *run) servedElsewhere(ctx context.Context, request exchange.Request) error {
	configured := request.Base
	request.Wrong = true
	a, err := r.target.Client.Do(ctx, request)
	if expects := r.expectsTLS(ctx, request, a, err); expects != nil {
		return expects
	}
	if err != nil || !target.NotServed(a) {
		return nil //nolint:nilerr // the scenarios judge a server that does not respond
	}
	for _, base := range BasesNear(configured) {
		request.Base = base
		other, err := r.target.Client.Do(ctx, request)
		if err == nil && refusesBody(other.Status) {
			return fmt.Errorf("%s does not serve the interface (POST %s returns %d), but %s does: set %s to it", configured,
				request.Path, a.Status, base, addressKey(request.Side))
		}
	}
	return nil
}

// expectsTLS returns an error if the server at the address of a request expects https. a is its response, or nil.
func (r *run) expectsTLS(ctx context.Context, request exchange.Request, a *exchange.Response, err error) error {
	if !r.target.ExpectsTLS(ctx, request.Base, a, err) {
		return nil
	}
	return fmt.Errorf("%s expects https: set %s to https%s", request.Base, addressKey(request.Side), request.Base[len("http"):])
}

// addressKey returns the key of the address of a half.
func addressKey(side spec.Side) string {
	if side == spec.AgentServer {
		return "agent_target"
	}
	return "target"
}

// refusesBody reports whether a status shows that a route refuses a request without credentials or its body.
func refusesBody(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusUnprocessableEntity
}

// BasesNear returns up to four addresses above a base address, the nearest first, and /api below it.
func BasesNear(base string) (all []string) {
	const most = 4
	above := base
	for len(all) < most && strings.Count(above, "/") > 2 { // not above https://host
		above = above[:strings.LastIndexByte(above, '/')]
		all = append(all, above)
	}
	return append(all, base+"/api")
}
