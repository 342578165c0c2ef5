package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/agent"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/outcome"
	"github.com/agentconform/agentconform/steps/target"
)

// probe is one reading request of an examination, with its answer.
type probe struct {
	who     target.Asker // whose credentials the request to the control plane has
	request exchange.Request
	answer  *exchange.Response // nil if there was none
	err     error              // why there was none
}

// called is the request of a probe: "GET https://agents.example/threads".
func (p *probe) called() string { return p.request.Method + " " + p.request.Base + p.request.Path }

// refused tells whether the answer is the one to wrong or missing credentials.
func (x *examiner) refused(p *probe) bool {
	return p.answer != nil && x.target.Rejects(p.request.Side, p.answer.Status)
}

// seen describes an answer, without secrets.
func (x *examiner) seen(a *exchange.Response) string {
	return x.target.Redact.Excerpt(outcome.SeenShort(a))
}

// errBusy ends the requests to a target that keeps asking the client to wait.
var errBusy = errors.New("the target keeps asking the client to wait")

// sendAll sends the probes at once, so that a target that does not answer costs the time of one request, including the
// waits that the target asks for. The key rate lets each of them wait for its turn.
func (x *examiner) sendAll(ctx context.Context, probes ...*probe) {
	turns := time.Duration(len(probes)) * x.target.Config.Every()
	limited, cancel := context.WithTimeoutCause(ctx, x.target.Config.Timeouts.Request+time.Second+turns, errBusy)
	defer cancel()
	var wait sync.WaitGroup
	for _, p := range probes {
		wait.Go(func() { p.answer, p.err = x.target.Client.Do(limited, p.request) })
	}
	wait.Wait()
}

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
	none, unanswered := errors.AsType[*exchange.NoResponse](p.err)
	switch proxy := x.target.Client.Names.Route.ProxyOf(base); {
	case unanswered && none.Busy != 0:
		return is(Problem, rateLimit, "status %d, asks to wait", none.Busy)
	case a == nil:
		found, remedy := x.unanswered(p, key)
		return is(Problem, remedy, "%s", found)
	case a.Status == http.StatusProxyAuthRequired && proxy != nil:
		return is(Problem, "write user name and password into the URL of proxy", "status 407 by the proxy %s", proxy)
	case a.Status >= 500:
		remedy := "check the target's log; if a gateway or a proxy answers, start the server behind it, or correct " + key
		return is(less, remedy, "status %d", a.Status)
	case a.Status >= 300 && a.Status < 400:
		to := x.target.Redact.Text(a.Header.Get("Location"))
		remedy := "if that is the target, set " + key + " to its base URL"
		return is(Problem, remedy, "status %d, redirect to %.200q", a.Status, to)
	case a.Status == http.StatusBadRequest && strings.HasPrefix(base, "http:") && bytes.Contains(a.Body, []byte("HTTPS")):
		return is(Problem, "set "+key+" to an https:// URL", "status 400: the server expects https")
	case x.refused(p):
		if x.refused(nobody) {
			group := map[spec.Side]string{spec.ControlPlane: "control_plane", spec.AgentServer: "agent_server"}[p.request.Side]
			refusal += "; if a gateway in front of it wants a header with every request, set headers." + group
		}
		return is(Problem, refusal, "status %d with the configured credentials", a.Status)
	case !a.IsJSON():
		elsewhere, got := "", x.seen(a)
		if less == Problem {
			elsewhere = x.guarded(ctx, nobody)
		}
		if elsewhere == base {
			elsewhere = ""
		}
		if isPage(a) {
			got = fmt.Sprintf("status %d with an HTML page", a.Status)
		}
		return is(less, baseAddress(key, elsewhere), "expected JSON, got %s", got)
	case target.NotServed(a) && nobody.answer != nil && nobody.answer.Status == a.Status:
		found := x.guarded(ctx, nobody)
		if found == base || found == "" && p.request.Side == spec.ControlPlane {
			break // an agent server that lists no threads, or a control plane that demands no credentials
		}
		return is(Problem, baseAddress(key, found), "status %d, with and without credentials: nothing of the interface is "+
			"served there", a.Status)
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

func isPage(a *exchange.Response) bool { return bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<")) }

// unanswered says why no answer came, and at which stage, and what to do.
func (x *examiner) unanswered(p *probe, key string) (found, remedy string) {
	none, is := errors.AsType[*exchange.NoResponse](p.err)
	switch {
	case errors.Is(p.err, errBusy):
		return "asks to wait for more than " + x.target.Config.Timeouts.Request.String(), rateLimit
	case !is:
		return p.err.Error(), rateLimit
	}
	at := reports.HostPort(p.request.Base)
	host, _, _ := net.SplitHostPort(at)
	socket := ""
	if via := x.target.Config.Connection(); via != nil {
		socket = via.Sockets[at]
	}
	found = x.target.Redact.Excerpt(none.Cause)
	remedy = "start the target, or correct " + key
	if none.Stage != exchange.StageHTTP {
		found = string(none.Stage) + ": " + found
	}
	switch {
	case none.Remedy != "":
		remedy = none.Remedy
	case socket != "" && none.Stage == exchange.StageTCP:
		remedy = "start the target, or correct socket (it is " + socket + ")"
	case none.Stage == exchange.StageDNS:
		remedy = "correct the host name in " + key + "; if only a proxy knows it, set proxy; " +
			"if no DNS server does, set resolve with the IP address of " + host
	case none.Timeout:
		remedy = "check firewalls and proxies, or raise timeouts.request"
	}
	return found, remedy
}

// guarded is the base address on the same host, the configured one first, at which a request without credentials is
// refused for that; "" where there is none.
func (x *examiner) guarded(ctx context.Context, nobody *probe) string {
	const most = 5
	var bases []string
	for base := nobody.request.Base; len(bases) < most && strings.Count(base, "/") >= 2; {
		bases = append(bases, base)
		base = base[:strings.LastIndexByte(base, '/')] // as far as https://host
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

// examineConnection says how the address of a key is reached, from the first answer to the probes: the proxy, TLS,
// redirects, and the clock.
func (x *examiner) examineConnection(key string, probes []*probe) {
	if proxy := x.target.Client.Names.Route.ProxyOf(probes[0].request.Base); proxy != nil {
		from := "the environment"
		if x.target.Config.Proxy != "" {
			from = "the key proxy"
		}
		x.add(Fine, "proxy", fmt.Sprintf("requests to %s go through %s, from %s", key, proxy, from), "")
	}
	first := slices.IndexFunc(probes, func(p *probe) bool { return p.answer != nil })
	if first < 0 {
		return
	}
	p, a := probes[first], probes[first].answer
	if a.TLS != nil && len(a.TLS.PeerCertificates) > 0 {
		found := tls.VersionName(a.TLS.Version) + ", certificate " + client.Certificate(a.TLS.PeerCertificates[0])
		remedy, state := "", Fine
		if x.target.Config.TLS.Insecure {
			found += ", not verified: tls.insecure is true"
			remedy, state = "set tls.ca, and remove tls.insecure", Noted
		}
		x.add(state, "TLS of "+key, x.target.Redact.Excerpt(found), remedy)
	}
	const muchSkew = 30 * time.Second
	date, err := http.ParseTime(a.Header.Get("Date"))
	if skew := date.Sub(a.Sent); err == nil && skew.Abs() >= muchSkew+a.Took {
		which := map[bool]string{false: "ahead of", true: "behind"}[skew < 0]
		x.add(Noted, "clock", fmt.Sprintf("%s: Date is %s, %s %s the clock of this machine", p.called(),
			date.UTC().Format(time.DateTime), skew.Abs().Round(time.Second), which),
			"set both clocks by NTP: tokens and certificates are valid by the clock")
	}
	if to := x.target.Redact.Text(a.Forwarded); to != "" {
		found := p.called() + ": redirected to " + to + "; requests other than GET are not sent there"
		x.add(Noted, "redirect", found, "set "+key+" to the base URL there")
	}
}
