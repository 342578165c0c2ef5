package doctor

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
)

// trouble describes an answer that no server of the interface gives, or that none came, with a remedy; nothing is
// found where nothing is wrong. The key names the address in the configuration.
func (x *examiner) trouble(ctx context.Context, p, nobody *probe, key string) Check {
	a, base := p.answer, p.request.Base
	is := func(state State, remedy, format string, args ...any) Check {
		return Check{State: state, Found: called(p) + ": " + fmt.Sprintf(format, args...), Remedy: remedy}
	}
	var busy *client.Busy
	switch proxy := x.route.ProxyOf(base); {
	case errors.As(p.err, &busy):
		return is(Problem, rateLimit, "status %d, asks to wait", busy.Status)
	case a == nil:
		return is(Problem, x.remedy(p, key), "%s", x.failure(p))
	case a.Status == http.StatusProxyAuthRequired && proxy != nil:
		const remedy = "write user name and password into the URL of proxy"
		return is(Problem, remedy, "status %d by the proxy %s", a.Status, proxy)
	case a.Status >= http.StatusBadGateway && a.Status <= http.StatusGatewayTimeout:
		remedy := "start the server behind it, or correct " + key
		if proxy != nil {
			remedy = "let the proxy " + proxy.String() + " connect to the host, " + remedy
		}
		return is(Problem, remedy, "status %d: a gateway without a server behind it", a.Status)
	case a.Status >= 500:
		return is(lessIf(refusesCaller(nobody)), "check the target's log", "status %d", a.Status)
	case a.Status >= 300 && a.Status < 400:
		location := x.target.Redact.Text(a.Header.Get("Location"))
		remedy := "if that is the target, set " + key + " to " + baseOf(p, location)
		return is(Problem, remedy, "status %d, redirect to %.200q", a.Status, location)
	case a.Status == http.StatusBadRequest && strings.HasPrefix(base, "http:") && x.speaksTLS(ctx, base):
		return is(Problem, "set "+key+" to an https:// URL", "status %d: the server expects https", a.Status)
	case !refusesCaller(p) && isPage(a):
		const found = "expected JSON, got status %d with an HTML page"
		return is(lessIf(refusesCaller(nobody)), baseAddress(key), found, a.Status)
	}
	return Check{State: Fine}
}

const rateLimit = "wait, or lift the target's rate limit for the tests"

func isPage(a *client.Answer) bool {
	kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/html") || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}

// baseOf is the base address that a redirect of a probe leads to.
func baseOf(p *probe, location string) string {
	const unknown = "its base URL"
	asked, err := url.Parse(p.request.Base + p.request.Path)
	if err != nil {
		return unknown
	}
	to, err := asked.Parse(location)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return unknown
	}
	base, ends := strings.CutSuffix(strings.TrimSuffix(to.Path, "/"), p.request.Path)
	if !ends || to.RawQuery != "" {
		return unknown
	}
	return to.Scheme + "://" + to.Host + base
}

// speaksTLS tries https at the host of an http address, without credentials.
func (x *examiner) speaksTLS(ctx context.Context, base string) bool {
	r := client.Request{Base: "https" + strings.TrimPrefix(base, "http"), Method: http.MethodGet, Path: "/"}
	r.Timeout = x.target.Config.Timeouts.Request
	err := x.target.Client.Try(ctx, r)
	return err == nil || errors.As(err, new(*tls.CertificateVerificationError))
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
		return "asks to wait for more than " + brief(x.target.Config.Timeouts.Request)
	case is && none.Stage != client.StageHTTP:
		return string(none.Stage) + ": " + x.target.Redact.Excerpt(none.Cause)
	case is:
		return x.target.Redact.Excerpt(none.Cause)
	}
	return p.err.Error()
}
