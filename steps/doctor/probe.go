package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/plane"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

// probe is a request of an examination with its response.
type probe struct {
	who      target.Sender // the sender of a request to the control plane
	request  exchange.Request
	response *exchange.Response // nil if there was none
	err      error              // why there was no response
}

// call describes the request of a probe: "GET https://agents.example/threads".
func (p *probe) call() string { return p.request.Method + " " + p.request.Base + p.request.Path }

// isRefused reports whether the server refused the credentials of the probe.
func (x *examiner) isRefused(p *probe) bool {
	return p.response != nil && x.target.Rejects(p.request.Side, p.response.Status)
}

// seen describes a response, without secrets.
func (x *examiner) seen(a *exchange.Response) string {
	return x.target.Redact.Excerpt(outcome.SeenShort(a))
}

// errBusy is the cause of a request that ends because the target repeatedly asks the client to wait.
var errBusy = errors.New("the target keeps asking the client to wait")

// sendAll sends the probes at the same time. A target that does not respond then costs the time of only one request,
// including the waits that the target asks for. The limit also allows for the waits of the key rate.
func (x *examiner) sendAll(ctx context.Context, probes ...*probe) {
	turns := time.Duration(len(probes)) * x.target.Config.Every()
	limited, cancel := context.WithTimeoutCause(ctx, x.target.Config.Timeouts.Request+time.Second+turns, errBusy)
	defer cancel()
	var wait sync.WaitGroup
	for _, p := range probes {
		wait.Go(func() { p.response, p.err = x.target.Client.Do(limited, p.request) })
	}
	wait.Wait()
}

// checkResponse describes a missing response, or a response that no server of the interface returns to valid credentials.
// It returns a check without Found if there is no problem. key is the key of the address, and refusal is the remedy if
// the credentials are refused. If the address refuses requests without credentials, a server of the interface is there,
// and most problems are only notes.
func (x *examiner) checkResponse(ctx context.Context, p, nobody *probe, key, refusal string) Check {
	a, base := p.response, p.request.Base
	none, hasNone := errors.AsType[*exchange.NoResponse](p.err)
	proxy := x.target.Client.Names.Route.ProxyOf(base)
	above := x.listedAbove(ctx, p)
	switch {
	case hasNone && none.Busy != 0:
		return p.check(Problem, rateLimit, "status %d, asks to wait", none.Busy)
	case x.target.ExpectsTLS(ctx, base, a, p.err):
		return p.check(Problem, "set "+key+" to https"+base[len("http"):], "the server expects https")
	case a == nil:
		found, remedy := x.describeMissing(p, key)
		return p.check(Problem, remedy, "%s", found)
	case a.Status == http.StatusProxyAuthRequired && proxy != nil:
		return p.check(Problem, x.target.Client.Names.Route.ProxyPassword(base), "status 407 by the proxy %s", proxy)
	case a.Status >= 500:
		remedy := "check the target's log; if a gateway or a proxy responds, start the server behind it, or correct " + key
		return p.check(x.stateBehind(nobody), remedy, "status %d", a.Status)
	case a.Status >= 300 && a.Status < 400:
		return x.checkRedirect(p, key)
	case x.isRefused(p) && p.request.Side == spec.AgentServer && hasPathOfPlane(base):
		return p.check(Problem, otherHalf[spec.AgentServer].remedy, "status %d: %s has the path of a control plane", a.Status, base)
	case x.isRefused(p):
		if x.isRefused(nobody) {
			refusal += "; if a gateway in front of it requires a header with every request, " + x.headersRemedy(p.request.Side)
		}
		return p.check(Problem, refusal, "refuses the configured credentials: %s", x.seen(a))
	case above != "":
		return p.check(Problem, baseAddress(key, above), "%s", x.seen(a))
	case !a.IsJSON():
		return x.checkOtherBody(ctx, p, nobody, key)
	case target.NotServed(a) && nobody.response != nil && nobody.response.Status == a.Status:
		return x.checkNotServed(ctx, p, nobody, key)
	}
	return Check{State: Fine}
}

// check returns a check about the response to a probe.
func (p *probe) check(state State, remedy, format string, args ...any) Check {
	return Check{State: state, Found: p.call() + ": " + fmt.Sprintf(format, args...), Remedy: remedy}
}

// stateBehind returns the state of a check. An address that refuses requests without credentials is not a problem.
func (x *examiner) stateBehind(nobody *probe) State {
	if x.isRefused(nobody) {
		return Noted
	}
	return Problem
}

func (x *examiner) checkRedirect(p *probe, key string) Check {
	remedy := "if that is the target, set " + key + " to its base URL; if a gateway requires a header in place of a login, " +
		x.headersRemedy(p.request.Side)
	moved := exchange.RedirectedBase(p.request, p.response)
	if moved != "" {
		remedy = "if that is the target, set " + key + " to " + x.target.Redact.Text(moved)
	}
	to := x.target.Redact.Text(p.response.Header.Get("Location"))
	return p.check(Problem, remedy, "status %d, redirect to %.200q", p.response.Status, to)
}

// checkOtherBody describes a response that is not JSON.
func (x *examiner) checkOtherBody(ctx context.Context, p, nobody *probe, key string) Check {
	a, state, elsewhere := p.response, x.stateBehind(nobody), ""
	if state == Problem {
		elsewhere = x.guarded(ctx, nobody)
	}
	if elsewhere == p.request.Base {
		elsewhere = ""
	}
	got := x.seen(a)
	if a.IsPage() {
		got = fmt.Sprintf("status %d with an HTML page", a.Status)
	}
	if a.Forwarded != "" && elsewhere == "" {
		return p.check(state, "set "+key+" to the base URL of the API; if a gateway requires a header in place of a login, "+
			x.headersRemedy(p.request.Side), "expected JSON, got a redirect to %.200q: %s", x.target.Redact.Text(a.Forwarded), got)
	}
	return p.check(state, baseAddress(key, elsewhere), "expected JSON, got %s", got)
}

// checkNotServed describes a response that is the same with and without credentials, which shows that the operation is
// not served.
func (x *examiner) checkNotServed(ctx context.Context, p, nobody *probe, key string) Check {
	base, side, status := p.request.Base, p.request.Side, p.response.Status
	found := x.guarded(ctx, nobody)
	switch {
	case found == "" && x.isOtherHalf(ctx, nobody):
		return p.check(Problem, otherHalf[side].remedy, "status %d, but %s serves %s", status, base, otherHalf[side].name)
	case found == "" && side == spec.ControlPlane: // it requires no credentials
		return Check{State: Fine}
	case found == base: // it lists no threads
		return Check{State: Fine}
	}
	return p.check(Problem, baseAddress(key, found), "status %d, with and without credentials: the interface is not served there", status)
}

// isList reports whether a response is a list of threads.
func isList(a *exchange.Response) bool { return a != nil && a.OK() && a.IsArray() }

// listedAbove returns the base address without the path of the threads. It returns "" if the configured address does not
// end with that path, or if the shortened address does not list the threads.
func (x *examiner) listedAbove(ctx context.Context, p *probe) string {
	above, endsWithThreads := strings.CutSuffix(p.request.Base, agent.ThreadsPath)
	if p.request.Side != spec.AgentServer || !endsWithThreads || isList(p.response) {
		return ""
	}
	shorter := &probe{who: p.who, request: p.request}
	shorter.request.Base = above
	x.sendAll(ctx, shorter)
	if !isList(shorter.response) {
		return ""
	}
	return above
}

// headersRemedy returns the remedy for a gateway in front of a side that requires a header.
func (x *examiner) headersRemedy(side spec.Side) string {
	key := "headers.control_plane"
	if side == spec.AgentServer {
		key = "headers.agent_server"
	}
	if x.target.Config.Has(key) {
		return "correct " + x.target.Config.Named(key)
	}
	return "set " + key
}

const rateLimit = "wait, or lift the target's rate limit for the tests"

// baseAddress returns the remedy if a different server responds at the configured address. It names the right address if
// known.
func baseAddress(key, found string) string {
	if found == "" {
		return "check " + key + ": is it the base URL, with its path prefix?"
	}
	return "set " + key + " to " + found
}

// describeMissing describes the reason why there was no response and the stage at which the request failed, with a
// remedy.
func (x *examiner) describeMissing(p *probe, key string) (found, remedy string) {
	none, hasNone := errors.AsType[*exchange.NoResponse](p.err)
	switch {
	case errors.Is(p.err, errBusy):
		return "asks to wait for more than " + x.target.Config.Timeouts.Request.String(), rateLimit
	case !hasNone:
		return p.err.Error(), rateLimit
	}
	found = x.target.Redact.Excerpt(none.Cause)
	remedy = "start the target, or correct " + key
	if none.Stage != exchange.StageHTTP {
		found = string(none.Stage) + ": " + found
	}
	switch {
	case none.Remedy != "":
		remedy = none.Remedy
	case none.Timeout:
		remedy = "check firewalls and proxies, or raise timeouts.request"
	}
	return found, remedy
}

// guarded looks for a base address on the same host that refuses a request without credentials. It tries the configured
// address, the paths above it and /api below it. It returns the first match, or "".
func (x *examiner) guarded(ctx context.Context, nobody *probe) string {
	configured := nobody.request.Base
	var probes []*probe
	for _, base := range append([]string{configured}, suite.BasesNear(configured)...) {
		p := &probe{request: nobody.request}
		p.request.Base = base
		if p.request.Side == spec.AgentServer { // an agent server need not list threads
			p.request.Method = http.MethodGet
			p.request.Path = agent.StatePath(target.UnknownID())
			p.request.Body = nil
		}
		probes = append(probes, p)
	}
	x.sendAll(ctx, probes...)
	for _, p := range probes {
		if x.isRefused(p) && !target.NotServed(p.response) {
			return p.request.Base
		}
	}
	return ""
}

// otherHalf has, for the address of each half, the name of the other half, which may be served there by mistake, and the
// remedy.
var otherHalf = map[spec.Side]struct{ name, remedy string }{
	spec.ControlPlane: {"an agent server", "set agent_target to it, and target to the control plane if there is one"},
	spec.AgentServer:  {"a control plane", "set agent_target to the address of a deployed agent server"},
}

func hasPathOfPlane(base string) bool {
	return strings.HasSuffix(base, plane.DeploymentsPath) || strings.HasSuffix(base, "/v2")
}

// isOtherHalf reports whether the address of a half serves the other half: it refuses a read without credentials.
func (x *examiner) isOtherHalf(ctx context.Context, nobody *probe) bool {
	base := nobody.request.Base
	p := &probe{request: x.target.ToControlPlane(target.Nobody, http.MethodGet, plane.RevisionsPath(target.UnknownID()), nil)}
	p.request.Base = base
	if nobody.request.Side == spec.ControlPlane {
		p.request = x.target.ToAgent(base, target.Caller{}, http.MethodGet, agent.StatePath(target.UnknownID()), nil)
	}
	x.sendAll(ctx, p)
	return x.isRefused(p) && !target.NotServed(p.response)
}

// examineConnection reports how the address of a key is reached, from the first response to the probes: the proxy, TLS,
// the clock and redirects.
func (x *examiner) examineConnection(key string, probes []*probe) {
	proxy := x.target.Client.Names.Route.ProxyOf(probes[0].request.Base)
	if proxy != nil {
		from := "the environment"
		if x.target.Config.Proxy != "" {
			from = "the key proxy"
		}
		x.add(Fine, "proxy", fmt.Sprintf("requests to %s go through %s, from %s", key, proxy, from), "")
	}
	first := slices.IndexFunc(probes, func(p *probe) bool { return p.response != nil })
	if first < 0 {
		return
	}
	p, a := probes[first], probes[first].response
	if a.TLS != nil && len(a.TLS.PeerCertificates) > 0 {
		found := tls.VersionName(a.TLS.Version) + ", certificate " + client.Certificate(a.TLS.PeerCertificates[0])
		state, remedy := Fine, ""
		if x.target.Config.TLS.Insecure {
			found += ", not verified: tls.insecure is true"
			state, remedy = Noted, "set tls.ca, and remove tls.insecure"
			if x.target.Config.TLS.CA != "" {
				remedy = "remove tls.insecure"
			}
		}
		x.add(state, "TLS of "+key, x.target.Redact.Excerpt(found), remedy)
	}
	x.examineClock(p)
	to := x.target.Redact.Text(a.Forwarded)
	if to != "" && len(x.problems()) == 0 {
		found := p.call() + ": redirected to " + to + "; requests other than GET are not sent there"
		base, remedy := x.target.Redact.Text(exchange.RedirectedBase(p.request, a)), ""
		if base != "" {
			remedy = "if all requests belong there, set " + key + " to " + base
		}
		x.add(Noted, "redirect", found, remedy)
	}
}

// examineClock compares the Date of the response with the clock of this machine.
func (x *examiner) examineClock(p *probe) {
	const muchSkew = 30 * time.Second
	date, err := http.ParseTime(p.response.Header.Get("Date"))
	skew := date.Sub(p.response.Sent)
	if err != nil || skew.Abs() < muchSkew+p.response.Took {
		return
	}
	which := "ahead of"
	if skew < 0 {
		which = "behind"
	}
	x.add(Noted, "clock", fmt.Sprintf("%s: Date is %s, %s %s the clock of this machine", p.call(),
		date.UTC().Format(time.DateTime), skew.Abs().Round(time.Second), which),
		"synchronize both clocks: tokens and certificates are valid by the clock")
}
