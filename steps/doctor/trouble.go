package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/target"
)

// trouble describes an answer that no server of the interface gives to valid credentials, or that none came, with a
// remedy; nothing is found where nothing is wrong. The key names the address in the configuration, and refusal is the
// remedy where the credentials are refused. An address that refuses requests without credentials is that of a target:
// then what is odd about others is only noted.
func (x *examiner) trouble(ctx context.Context, p, nobody *probe, key, refusal string) Check {
	a, base, less := p.answer, p.request.Base, Problem
	if x.refused(nobody) {
		less = Noted
	}
	is := func(state State, remedy, format string, args ...any) Check {
		return Check{State: state, Found: p.called() + ": " + fmt.Sprintf(format, args...), Remedy: remedy}
	}
	elsewhere := func() string {
		if less == Problem {
			if found := x.guarded(ctx, nobody); found != base {
				return found
			}
		}
		return ""
	}
	var busy *client.Busy
	switch proxy := x.route.ProxyOf(base); {
	case errors.As(p.err, &busy):
		return is(Problem, rateLimit, "status %d, asks to wait", busy.Status)
	case a == nil:
		return is(Problem, x.remedy(p, key), "%s", x.failure(p))
	case a.Status == http.StatusProxyAuthRequired && proxy != nil:
		return is(Problem, "write user name and password into the URL of proxy", "status 407 by the proxy %s", proxy)
	case a.Status >= http.StatusBadGateway && a.Status <= http.StatusGatewayTimeout:
		remedy := "start the server behind it, or correct " + key
		if proxy != nil {
			remedy = "let the proxy " + proxy.String() + " connect to the host, " + remedy
		}
		return is(Problem, remedy, "status %d: a gateway without a server behind it", a.Status)
	case a.Status >= 500:
		return is(less, "check the target's log", "status %d", a.Status)
	case a.Status >= 300 && a.Status < 400:
		to := x.target.Redact.Text(a.Header.Get("Location"))
		return is(Problem, "if that is the target, set "+key+" to "+baseOf(p, to), "status %d, redirect to %.200q", a.Status, to)
	case a.Status == http.StatusBadRequest && strings.HasPrefix(base, "http:") && bytes.Contains(a.Body, []byte("HTTPS")):
		return is(Problem, "set "+key+" to an https:// URL", "status 400: the server expects https")
	case x.refused(p):
		if x.refused(nobody) {
			group := map[spec.Side]string{spec.ControlPlane: "control_plane", spec.AgentServer: "agent_server"}[p.request.Side]
			refusal += "; if a gateway in front of it wants a header with every request, set headers." + group
		}
		return is(Problem, refusal, "status %d with the configured credentials", a.Status)
	case isPage(a):
		return is(less, baseAddress(key, elsewhere()), "expected JSON, got status %d with an HTML page", a.Status)
	case !a.IsJSON():
		return is(less, baseAddress(key, elsewhere()), "expected JSON, got %s", x.seen(a))
	case target.NotServed(a) && nobody.answer != nil && nobody.answer.Status == a.Status:
		found := x.guarded(ctx, nobody)
		if found == base || found == "" && p.request.Side == spec.ControlPlane {
			break // an agent server that lists no threads, or a control plane that demands no credentials
		}
		const without = "status %d, with and without credentials: nothing of the interface is served there"
		return is(Problem, baseAddress(key, found), without, a.Status)
	}
	return Check{State: Fine}
}

const rateLimit = "wait, or lift the target's rate limit for the tests"

// baseAddress is the remedy where something else answers at the configured address, with the right one where that was
// found.
func baseAddress(key, found string) string {
	if found == "" {
		return "check " + key + ": is it the base URL, with its path prefix?"
	}
	return "set " + key + " to " + found
}

func isPage(a *client.Answer) bool {
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/html") || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}

// guarded is the base address on the same host, the configured one first, at which a request without credentials is
// refused for that; "" where there is none.
func (x *examiner) guarded(ctx context.Context, nobody *probe) string {
	const most = 5
	bases := []string{nobody.request.Base}
	for rest := bases[0]; len(bases) < most; bases = append(bases, rest) {
		at := strings.LastIndexByte(rest, '/')
		if at < strings.Index(rest, "://")+len("://") {
			break
		}
		rest = rest[:at]
	}
	var probes []*probe
	for _, base := range append(bases, bases[0]+"/api") {
		p := &probe{request: nobody.request}
		p.request.Base = base
		if p.request.Side == spec.AgentServer { // where threads need not be listed
			p.request.Method, p.request.Path, p.request.Body = http.MethodGet, agent.StatePath(target.UnknownID()), nil
		}
		probes = append(probes, p)
	}
	x.sendAll(ctx, probes...)
	for _, p := range probes {
		if x.refused(p) && !target.NotServed(p.answer) {
			return p.request.Base
		}
	}
	return ""
}

// baseOf is the base address that a redirect of a probe leads to.
func baseOf(p *probe, location string) string {
	base, ends := strings.CutSuffix(strings.TrimSuffix(location, "/"), p.request.Path)
	u, err := url.Parse(base)
	if !ends || err != nil || u.Host == "" || u.User != nil || u.RawQuery+u.Fragment != "" ||
		u.Scheme != "http" && u.Scheme != "https" {
		return "its base URL"
	}
	return base
}

// remedy is what to do where no answer came.
func (x *examiner) remedy(p *probe, key string) string {
	at := reports.HostPort(p.request.Base)
	host, _, _ := net.SplitHostPort(at)
	none, is := errors.AsType[*client.NoAnswer](p.err)
	socket := x.target.Config.Connection().SocketOf(at)
	switch {
	case !is:
		return rateLimit
	case none.Remedy != "":
		return none.Remedy
	case socket != "" && none.Stage == client.StageTCP:
		return "start the target, or correct socket (it is " + socket + ")"
	case none.Stage == client.StageDNS:
		return "correct the host name in " + key + "; if only a proxy knows it, set proxy; " +
			"if no DNS server does, set resolve with the IP address of " + host
	case none.Timeout:
		return "check firewalls and proxies, or raise timeouts.request"
	}
	return "start the target, or correct " + key
}

// failure says why no answer came, and at which stage.
func (x *examiner) failure(p *probe) string {
	none, is := errors.AsType[*client.NoAnswer](p.err)
	switch {
	case errors.Is(p.err, errBusy):
		return "asks to wait for more than " + x.target.Config.Timeouts.Request.String()
	case !is:
		return p.err.Error()
	case none.Stage == client.StageHTTP:
		return x.target.Redact.Excerpt(none.Cause)
	}
	return string(none.Stage) + ": " + x.target.Redact.Excerpt(none.Cause)
}
