package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
)

// trouble describes an answer that no server of the interface gives, or that none came, with a remedy; nothing is found
// where nothing is wrong. The key names the address in the configuration.
func (x *examiner) trouble(ctx context.Context, p, nobody *probe, key string) Check {
	a := p.answer
	base, call := p.request.Base, called(p)+": "
	is := func(state State, party client.Party, remedy, format string, args ...any) Check {
		return Check{State: state, Found: call + fmt.Sprintf(format, args...), Remedy: remedy, Party: party}
	}
	var busy *client.Busy
	switch proxy := x.route.ProxyOf(base); {
	case errors.As(p.err, &busy):
		return is(Problem, client.Server, rateLimit, "status %d, asks to wait", busy.Status)
	case a == nil:
		return x.silence(p, key)
	case a.Status == http.StatusProxyAuthRequired && proxy != nil:
		return is(Problem, client.Configuration, "write user name and password into the URL of proxy", "status %d by the proxy %s", a.Status, proxy)
	case slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, a.Status) && proxy != nil && proxy.Scheme == "http":
		return is(Problem, client.Either, "let the proxy connect to the host, start the server behind it, or correct "+key, "status %d by the proxy %s, or by a gateway without a server behind it", a.Status, proxy)
	case slices.Contains([]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, a.Status):
		return is(Problem, client.Either, "start the server behind it, or correct "+key, "status %d: a gateway without a server behind it", a.Status)
	case a.Status >= 500:
		return is(lessIf(refusesCaller(nobody)), client.Server, "check the target's log", "status %d", a.Status)
	case a.Status >= 300 && a.Status < 400:
		location := a.Header.Get("Location")
		return is(Problem, client.Configuration, "if that is the target, set "+key+" to "+x.target.Redact.Text(baseOf(p, location)), "status %d, redirect to %.200q", a.Status, x.target.Redact.Text(location))
	case a.Status == http.StatusBadRequest && strings.HasPrefix(base, "http:") && x.speaksTLS(ctx, base):
		return is(Problem, client.Configuration, "set "+key+" to an https:// URL", "status %d: the server expects https", a.Status)
	case !refusesCaller(p) && isPage(a):
		return is(lessIf(refusesCaller(nobody)), client.Configuration, baseAddress(key), "expected JSON, got status %d with an HTML page", a.Status)
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
	asked, err := url.Parse(p.request.Base + p.request.Path)
	if err != nil {
		return "its base URL"
	}
	to, err := asked.Parse(location)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return "its base URL"
	}
	base, ends := strings.CutSuffix(strings.TrimSuffix(to.Path, "/"), p.request.Path)
	if !ends || to.RawQuery != "" {
		return "its base URL"
	}
	return to.Scheme + "://" + to.Host + base
}

// speaksTLS tries https at the host of an http address, without credentials.
func (x *examiner) speaksTLS(ctx context.Context, base string) bool {
	err := x.target.Client.Try(ctx, client.Request{Base: "https" + strings.TrimPrefix(base, "http"), Method: http.MethodGet, Path: "/", Timeout: x.target.Config.Timeouts.Request})
	var none *client.NoAnswer
	return err == nil || errors.As(err, &none) && none.Verifies
}

// silence says why no answer came, with a remedy.
func (x *examiner) silence(p *probe, key string) Check {
	c := Check{State: Problem, Found: called(p) + ": " + x.failure(p), Party: client.Either, Remedy: "start the target, or correct " + key}
	var dns *net.DNSError
	var none *client.NoAnswer
	at := reports.HostPort(p.request.Base)
	host, _, _ := net.SplitHostPort(at)
	socket := x.target.Config.Connection().SocketOf(at)
	switch err := p.err; {
	case errors.Is(err, errBusy):
		c.Party, c.Remedy = client.Server, rateLimit
	case errors.As(err, &none) && none.Party != "":
		c.Party, c.Remedy = none.Party, none.Remedy
	case errors.As(err, &dns) && dns.IsNotFound:
		c.Party, c.Remedy = client.Configuration, fmt.Sprintf("correct the host name in %s; if only a proxy knows it, set proxy; if no DNS server does, set resolve with the IP address of %s", key, host)
	case errors.As(err, &dns):
		c.Party, c.Remedy = client.Network, "check the DNS settings of this machine, or set resolve with the IP address of "+host
	case socket != "" && errors.Is(err, syscall.ENOENT), socket != "" && errors.Is(err, syscall.ECONNREFUSED):
		c.Remedy = "start the target, or correct socket (it is " + socket + ")"
	case socket != "" && (errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM)):
		c.Party, c.Remedy = client.Configuration, "let this user read and write the socket "+socket+", or correct socket"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		c.Party, c.Remedy = client.Network, "check the routes of this machine, set proxy, or correct "+key
	case errors.As(err, &none) && none.Timeout && none.Stage != client.StageHTTP:
		c.Party, c.Remedy = client.Network, "check firewalls, set proxy, or correct "+key
	case errors.As(err, &none) && none.Timeout:
		c.Party, c.Remedy = client.Server, "check firewalls and proxies, or raise timeouts.request"
	}
	return c
}

// failure says why no answer came, and at which stage.
func (x *examiner) failure(p *probe) string {
	var none *client.NoAnswer
	switch {
	case errors.Is(p.err, errBusy):
		return "asks to wait for more than " + brief(x.target.Config.Timeouts.Request)
	case errors.As(p.err, &none) && none.Stage != client.StageHTTP:
		return string(none.Stage) + ": " + x.target.Redact.Excerpt(none.Cause)
	case errors.As(p.err, &none):
		return x.target.Redact.Excerpt(none.Cause)
	}
	return p.err.Error()
}
