package suite

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/target"
)

// wrongBase returns an error with the remedy if a configured address is wrong: another path of the same host serves the
// interface, the address redirects every request, or it is the address of the other half. Without this check, each
// requirement would fail or be blocked for the same reason.
func (r *run) wrongBase(ctx context.Context) error {
	c := r.target.Config
	if c.ReadOnly { // the requests are POSTs
		return nil
	}
	ctx = evidence.WithScenario(ctx, "fixture: the base address", 0)
	if c.Target != "" {
		if err := r.checkBase(ctx, r.planeProbe()); err != nil {
			return err
		}
	}
	if c.AgentTarget != "" {
		return r.checkBase(ctx, r.agentProbe())
	}
	return nil
}

// baseProbe has the requests that show whether a base address serves a half of the interface.
type baseProbe struct {
	post exchange.Request // without credentials and with a body that is not an object, so that it creates nothing
	read exchange.Request // with credentials
}

func (r *run) planeProbe() *baseProbe {
	path := plane.RevisionsPath(target.UnknownID())
	p := &baseProbe{post: r.target.ToControlPlane(target.Nobody, http.MethodPost, plane.DeploymentsPath, []any{}),
		read: r.target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)}
	p.post.Wrong = true
	return p
}

func (r *run) agentProbe() *baseProbe {
	base, path := r.target.Config.AgentTarget, agent.StatePath(target.UnknownID())
	p := &baseProbe{post: r.target.ToAgent(base, target.Caller{}, http.MethodPost, agent.ThreadsPath, []any{}),
		read: r.target.ToAgent(base, r.target.Owner(), http.MethodGet, path, nil)}
	p.post.Wrong = true
	return p
}

// checkBase sends the POST of a probe. A server of the interface refuses it. A server without the route returns 404, 405,
// 501, a redirect or a page. Only then checkBase tries the addresses near the base address, and then looks for the other
// half.
func (r *run) checkBase(ctx context.Context, p *baseProbe) error {
	configured, key := p.post.Base, addressKey(p.post.Side)
	a, err := r.target.Client.Do(ctx, p.post)
	if expects := r.expectsTLS(ctx, p.post, a, err); expects != nil {
		return expects
	}
	if err != nil {
		return nil //nolint:nilerr // the scenarios judge a server that does not respond
	}
	isRedirect := a.Status >= 300 && a.Status < 400
	mayBeGuard := isRedirect || a.OK() && a.IsPage() // a gateway may respond like this only to requests without credentials
	if !mayBeGuard && !target.NotServed(a) || mayBeGuard && r.servesReads(ctx, p) {
		return nil
	}
	to := exchange.RedirectedBase(p.post, a)
	if base := r.servedNear(ctx, p.post, to); base != "" {
		return fmt.Errorf("%s does not serve the interface (POST %s returns %d), but %s does: set %s to it", configured,
			p.post.Path, a.Status, base, key)
	}
	switch {
	case to != "":
		return fmt.Errorf("%s redirects every request to %s (status %d): set %s to it if that is the target", configured,
			r.target.Redact.Text(to), a.Status, key)
	case isRedirect:
		return fmt.Errorf("%s redirects every request to %.200q (status %d), as a gateway with a login page does: set %s to the base "+
			"URL of the API, or %s if a gateway requires a header in place of the login", configured,
			r.target.Redact.Text(a.Header.Get("Location")), a.Status, key, headersKey(p.post.Side))
	case mayBeGuard:
		return nil
	}
	return r.wrongHalf(ctx, p.post.Side, configured)
}

// servedNear returns the first address near the base address of a POST at which the POST is refused, or "". If the server
// redirects to another path of the same host, it tries that first.
func (r *run) servedNear(ctx context.Context, post exchange.Request, to string) string {
	configured := post.Base
	bases := BasesNear(configured)
	if config.Origin(to) == config.Origin(configured) {
		bases = append([]string{to}, bases...)
	}
	for _, base := range bases {
		post.Base = base
		other, err := r.target.Client.Do(ctx, post)
		if err == nil && refusesBody(other.Status) {
			return base
		}
	}
	return ""
}

// wrongHalf returns an error if the configured address of one half serves the other half, at the address itself or above
// the path of the threads or deployments.
func (r *run) wrongHalf(ctx context.Context, side spec.Side, configured string) error {
	c := r.target.Config
	if c.Target == c.AgentTarget {
		return nil
	}
	if side == spec.ControlPlane {
		base := strings.TrimSuffix(configured, agent.ThreadsPath)
		own := r.target.ToControlPlane(target.Nobody, http.MethodGet, plane.RevisionsPath(target.UnknownID()), nil)
		status := r.refusedBy(ctx, r.target.ToAgent(base, target.Caller{}, http.MethodPost, agent.ThreadsPath, []any{}), own)
		if status == 0 {
			return nil
		}
		return fmt.Errorf("%s is an agent server (POST %s returns %d), not a control plane: set agent_target to it, and target "+
			"to the control plane if there is one", base, agent.ThreadsPath, status)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(configured, plane.DeploymentsPath), "/v2")
	own := r.target.ToAgent(configured, target.Caller{}, http.MethodGet, agent.StatePath(target.UnknownID()), nil)
	other := r.target.ToControlPlane(target.Nobody, http.MethodPost, plane.DeploymentsPath, []any{})
	other.Base = base
	status := r.refusedBy(ctx, other, own)
	if status == 0 {
		return nil
	}
	remedy := "set agent_target to the address of a deployed agent server"
	if c.Target == "" {
		remedy += ", or target to it"
	}
	return fmt.Errorf("%s is a control plane (POST %s returns %d), not an agent server: %s", base, plane.DeploymentsPath, status,
		remedy)
}

// refusedBy returns the status with which the other half refuses a POST without credentials, or 0 if it does not. It also
// returns 0 if the configured half refuses its own read, because then the address serves that half, and the scenarios
// judge it.
func (r *run) refusedBy(ctx context.Context, post, ownRead exchange.Request) int {
	post.Wrong = true
	a, err := r.target.Client.Do(ctx, post)
	if err != nil || !refusesBody(a.Status) {
		return 0
	}
	own, err := r.target.Client.Do(ctx, ownRead)
	if err != nil || refusesBody(own.Status) {
		return 0
	}
	return a.Status
}

// servesReads reports whether the response to the read of a probe, which has credentials, is neither a redirect nor a
// page. It returns true if there is no response, because the scenarios judge that.
func (r *run) servesReads(ctx context.Context, p *baseProbe) bool {
	a, err := r.target.Client.Do(ctx, p.read)
	return err != nil || (a.Status < 300 || a.Status >= 400) && a.Forwarded == "" && !a.IsPage()
}

// expectsTLS returns an error if the server at the address of a request expects https. a is the response to the request,
// or nil.
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

// headersKey returns the key of the headers that a gateway in front of a half may require.
func headersKey(side spec.Side) string {
	if side == spec.AgentServer {
		return "headers.agent_server"
	}
	return "headers.control_plane"
}

// refusesBody reports whether a status shows that a route refuses a request because of its missing credentials or its body.
func refusesBody(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusUnprocessableEntity
}

// BasesNear returns up to four addresses above a base address, the nearest first, /api below it, and its path below /api.
func BasesNear(base string) (all []string) {
	const most = 4
	above := base
	for len(all) < most && strings.Count(above, "/") > 2 { // not above https://host
		above = above[:strings.LastIndexByte(above, '/')]
		all = append(all, above)
	}
	all = append(all, base+"/api")
	scheme, rest, _ := strings.Cut(base, "://")
	host, path, hasPath := strings.Cut(rest, "/")
	if hasPath {
		all = append(all, scheme+"://"+host+"/api/"+path)
	}
	return all
}
