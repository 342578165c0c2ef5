package suite

import (
	"bytes"
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

// wrongBase returns an error if the interface is not served at a configured address, but at another path of the same
// host, or if the address is that of the other half or redirects every request. It names the remedy. Without this look,
// each requirement would fail or be blocked for the same reason.
func (r *run) wrongBase(ctx context.Context) error {
	c := r.target.Config
	if c.ReadOnly { // the requests are POSTs
		return nil
	}
	ctx = evidence.WithScenario(ctx, "fixture: a look for the base address", 0)
	if c.Target != "" {
		if err := r.servedElsewhere(ctx, r.planeLook()); err != nil {
			return err
		}
	}
	if c.AgentTarget != "" {
		return r.servedElsewhere(ctx, r.agentLook())
	}
	return nil
}

// look has the requests that show whether a half of the interface is served at a base address.
type look struct {
	post exchange.Request // without credentials and with a body that is not an object, so that it creates nothing
	read exchange.Request // with credentials
}

func (r *run) planeLook() *look {
	path := plane.RevisionsPath(target.UnknownID())
	l := &look{post: r.target.ToControlPlane(target.Nobody, http.MethodPost, plane.DeploymentsPath, []any{}),
		read: r.target.ToControlPlane(target.TheClient, http.MethodGet, path, nil)}
	l.post.Wrong = true
	return l
}

func (r *run) agentLook() *look {
	base, path := r.target.Config.AgentTarget, agent.StatePath(target.UnknownID())
	l := &look{post: r.target.ToAgent(base, target.Caller{}, http.MethodPost, agent.ThreadsPath, []any{}),
		read: r.target.ToAgent(base, r.target.Owner(), http.MethodGet, path, nil)}
	l.post.Wrong = true
	return l
}

// servedElsewhere sends the POST of a look. A server of the interface refuses it, and a server without the route returns
// 404, 405, 501, a redirect or a page. Only in these cases it tries the paths above the base address, and /api below it.
func (r *run) servedElsewhere(ctx context.Context, l *look) error {
	configured, key := l.post.Base, addressKey(l.post.Side)
	a, err := r.target.Client.Do(ctx, l.post)
	if expects := r.expectsTLS(ctx, l.post, a, err); expects != nil {
		return expects
	}
	if err != nil {
		return nil //nolint:nilerr // the scenarios judge a server that does not respond
	}
	isRedirect := a.Status >= 300 && a.Status < 400
	mayBeGuard := isRedirect || a.OK() && isPage(a) // in front of requests without credentials only
	if !mayBeGuard && !target.NotServed(a) || mayBeGuard && r.servesReads(ctx, l) {
		return nil
	}
	to := exchange.RedirectedBase(l.post, a)
	bases := BasesNear(configured)
	if config.Origin(to) == config.Origin(configured) {
		bases = append([]string{to}, bases...)
	}
	for _, base := range bases {
		l.post.Base = base
		other, err := r.target.Client.Do(ctx, l.post)
		if err == nil && refusesBody(other.Status) {
			return fmt.Errorf("%s does not serve the interface (POST %s returns %d), but %s does: set %s to it", configured,
				l.post.Path, a.Status, base, key)
		}
	}
	switch {
	case to != "":
		return fmt.Errorf("%s redirects every request to %s (status %d): set %s to it if that is the target", configured,
			r.target.Redact.Text(to), a.Status, key)
	case isRedirect:
		return fmt.Errorf("%s redirects every request to %.200q (status %d), like a login page for people: set %s to the base "+
			"URL of the API, or %s if a gateway requires a header in place of the login", configured,
			r.target.Redact.Text(a.Header.Get("Location")), a.Status, key, headersKey(l.post.Side))
	}
	if mayBeGuard {
		return nil
	}
	return r.isOfOtherHalf(ctx, l.post.Side, configured)
}

// isOfOtherHalf returns an error if the address of one half is that of the other half: this serves the POST of its own look
// there, or above the path of the threads or deployments.
func (r *run) isOfOtherHalf(ctx context.Context, side spec.Side, configured string) error {
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

// refusedBy returns the status with which a POST without credentials is refused, or 0 if it is not. It returns 0, too, if
// the read of the half that is configured is refused: that half is there, and the scenarios judge it.
func (r *run) refusedBy(ctx context.Context, post, read exchange.Request) int {
	post.Wrong = true
	a, err := r.target.Client.Do(ctx, post)
	if err != nil || !refusesBody(a.Status) {
		return 0
	}
	own, err := r.target.Client.Do(ctx, read)
	if err != nil || refusesBody(own.Status) {
		return 0
	}
	return a.Status
}

// servesReads reports whether the read of a look, which has credentials, is served by something else than a redirect or a
// page.
func (r *run) servesReads(ctx context.Context, l *look) bool {
	a, err := r.target.Client.Do(ctx, l.read)
	return err != nil || (a.Status < 300 || a.Status >= 400) && a.Forwarded == "" && !isPage(a)
}

func isPage(a *exchange.Response) bool { return bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<")) }

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

// headersKey returns the key of the headers that a gateway in front of a half may require.
func headersKey(side spec.Side) string {
	if side == spec.AgentServer {
		return "headers.agent_server"
	}
	return "headers.control_plane"
}

// refusesBody reports whether a status shows that a route refuses a request without credentials or its body.
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
