package target

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
)

// routeOf returns the route to the target of a configuration, with the rules for addresses that its control plane
// returns. If a file cannot be used, the error names its key.
func routeOf(c *config.Config) (client.Route, error) {
	secure, mistake := c.TLS.Client()
	if mistake != nil {
		return client.Route{}, mistake
	}
	route := client.Route{TLS: secure}
	via := c.Connection()
	if via != nil {
		route.Hosts = via.Hosts
		route.Resolve = via.Resolve
		route.Sockets = via.Sockets
	}
	if c.Proxy != "" {
		proxy, err := url.Parse(c.Proxy)
		if err != nil {
			return client.Route{}, errors.New("proxy is not a URL") // without its text, which may contain a password
		}
		route.Proxy = proxy
	}
	route.Names = &client.Naming{Plane: c.Target, Agent: c.AgentTarget, AllowPrivate: c.AllowPrivate, Route: route}
	return route, nil
}

// environmentProxies returns the secrets in the proxies of the environment, with the names of their variables.
func environmentProxies() map[string]string {
	secrets := map[string]string{}
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		for _, secret := range config.ProxySecrets(os.Getenv(name)) {
			if len(secret) >= config.ShortestSecret {
				secrets[secret] = "$" + strings.ToUpper(name)
			}
		}
	}
	return secrets
}

// gateway returns the headers for a gateway in front of the target. They are sent only to addresses that the
// configuration names, and those of the agent server also to the hosts of header_hosts.
func (t *Target) gateway(r exchange.Request) http.Header {
	groups := t.present().Headers
	switch {
	case r.Side == spec.AgentServer && t.Config.TakesHeaders(r.Base):
		return config.HeaderOf(groups.AgentServer)
	case r.Side == spec.ControlPlane && t.Config.Names(r.Base):
		return config.HeaderOf(groups.ControlPlane)
	}
	return nil
}

// HeadersRemedy returns the remedy if headers.agent_server are configured but not sent to the agent server, because the
// configuration does not contain its address. Otherwise it returns "".
func (t *Target) HeadersRemedy() string {
	base := t.AgentAddress()
	if base == "" || len(t.Config.Headers.AgentServer) == 0 || t.Config.TakesHeaders(base) {
		return ""
	}
	return fmt.Sprintf("headers.agent_server do not reach it: add %q to header_hosts if it is part of the target",
		t.Redact.Text(reports.HostPort(base)))
}

func gatewayNames(c *config.Config) (names []string) {
	for _, group := range []map[string]string{c.Headers.ControlPlane, c.Headers.AgentServer} {
		for name := range group {
			names = append(names, http.CanonicalHeaderKey(name))
		}
	}
	return names
}

// present returns the configuration with the current credentials, which may have been read again from their files.
func (t *Target) present() *config.Config {
	latest := t.latest.Load()
	if latest == nil {
		return t.Config
	}
	return latest
}

// reread reads the files of credentials again. It adds new values to the redactor before they are sent.
func (t *Target) reread() {
	t.reading.Lock()
	defer t.reading.Unlock()
	changed := t.present().Reread()
	if changed == nil {
		return
	}
	t.Redact.Add(changed.Secrets())
	t.latest.Store(changed)
}

// renewal returns a function that updates the credentials and gateway headers of a request if the files have new values.
// It is called before the request is sent and after it was refused. Its second result is true if the header has changed.
// It applies to all requests, because a gateway that refuses an old value must not be mistaken for a target that refuses
// missing credentials.
func (t *Target) renewal(r exchange.Request, credentials func() http.Header) func(*exchange.Response) (http.Header, bool) {
	sent := r.Header
	return func(a *exchange.Response) (http.Header, bool) {
		if a != nil {
			if !t.Rejects(r.Side, a.Status) {
				return nil, false
			}
			t.reread()
		}
		before := sent
		sent = before.Clone()
		maps.Copy(sent, credentials())
		maps.Copy(sent, t.gateway(r))
		return sent, !reflect.DeepEqual(before, sent)
	}
}

// Await waits until each configured address sends any HTTP response, at most for the limit. The requests have no
// credentials. The error names the address that does not respond, or is the cause of the context.
func Await(ctx context.Context, c *config.Config, limit time.Duration) error {
	t, err := New(Options{Config: c, Concurrency: 1})
	if err != nil {
		return err
	}
	defer t.Close()
	end := time.Now().Add(limit)
	for _, side := range []spec.Side{spec.ControlPlane, spec.AgentServer} {
		address := c.Target
		if side == spec.AgentServer {
			address = c.AgentTarget
		}
		if address == "" {
			continue
		}
		r := exchange.Request{Side: side, Base: address, Method: http.MethodGet, Path: "/", Header: http.Header{}, Early: true}
		maps.Copy(r.Header, t.gateway(r))
		err := t.await(ctx, r, end)
		none, isNone := errors.AsType[*exchange.NoResponse](err)
		if isNone {
			return fmt.Errorf("%s does not respond within %s (--wait): %s", address, limit, t.Redact.Excerpt(none.Message()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// await repeats a request until there is a response or the time has passed.
func (t *Target) await(ctx context.Context, r exchange.Request, end time.Time) error {
	const first, longest = 50 * time.Millisecond, 2 * time.Second // the pauses between two attempts
	pause := first
	for {
		r.Timeout = max(min(t.Config.Timeouts.Request, time.Until(end)), first)
		err := t.Client.Try(ctx, r)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		_, isNone := errors.AsType[*exchange.NoResponse](err)
		if !isNone {
			return nil
		}
		if time.Until(end) <= 0 {
			return err
		}
		_ = client.Sleep(ctx, min(pause, time.Until(end)))
		pause = min(2*pause, longest)
	}
}

// ExpectsTLS reports whether the server at an http:// address expects https: its response, or its error, is typical of
// such a server, and it speaks TLS. The request that tests this has no credentials.
func (t *Target) ExpectsTLS(ctx context.Context, base string, a *exchange.Response, err error) bool {
	isTypical := exchange.IsClosed(err) || err == nil && a.Status == http.StatusBadRequest
	rest, isPlain := strings.CutPrefix(base, "http://")
	if !isTypical || !isPlain || t.Config.Connection() != nil && len(t.Config.Connection().Sockets) > 0 {
		return false
	}
	err = t.Client.Try(ctx, exchange.Request{Base: "https://" + rest, Method: http.MethodGet, Path: "/",
		Header: http.Header{}, Timeout: t.Config.Timeouts.Request})
	none, isNone := errors.AsType[*exchange.NoResponse](err)
	switch {
	case err == nil:
		return true
	case !isNone:
		return false
	}
	_, isUnverified := errors.AsType[*tls.CertificateVerificationError](err)
	alert, isOp := errors.AsType[*net.OpError](err)
	return isUnverified || isOp && alert.Op == "remote error" || none.Stage == exchange.StageHTTP
}

// ToAgent returns a request to an agent server. The body is encoded as JSON, except a []byte, which is sent unchanged.
func (t *Target) ToAgent(base string, who Caller, method, path string, body any) exchange.Request {
	credentials := func() http.Header {
		if planeSchemes[who.name] != "" && !t.takesPlaneCredentials(base) { // such credentials are never sent, regardless of earlier checks
			return http.Header{}
		}
		return t.currentHeader(who)
	}
	r := exchange.Request{Side: spec.AgentServer, Base: base, Method: method, Path: path, Header: credentials(),
		Trusted: who.User != nil || who.name == TheUser}
	r.Caller = sender(r.Header, who.Key, who.name == UnknownToken)
	if who.name == BlockedToken {
		r.Caller = exchange.Caller{Name: BlockedToken, Invalid: true}
	}
	return t.request(r, body, credentials)
}

// ToControlPlane returns a request to the control plane. The body is encoded as JSON, except a []byte, which is sent
// unchanged.
func (t *Target) ToControlPlane(who Sender, method, path string, body any) exchange.Request {
	credentials := func() http.Header { return t.Credentials(who) }
	r := exchange.Request{Side: spec.ControlPlane, Base: t.Config.Target, Method: method, Path: path, Header: credentials()}
	r.Trusted = len(r.Header) > 0 && (who == TheClient || IsScheme(who))
	r.Caller = sender(r.Header, string(who), who == UnknownKey)
	return t.request(r, body, credentials)
}

// sender returns the sender of a header with credentials, for the record.
func sender(header http.Header, name string, isUnknown bool) exchange.Caller {
	switch {
	case len(header) == 0:
		return exchange.Caller{Name: NoCredentials, Invalid: true}
	case isUnknown:
		return exchange.Caller{Name: "a caller with unknown credentials", Invalid: true}
	}
	return exchange.Caller{Name: name}
}

func (t *Target) request(r exchange.Request, body any, credentials func() http.Header) exchange.Request {
	r.Timeout = t.Config.Timeouts.Request
	maps.Copy(r.Header, t.gateway(r))
	switch body := body.(type) {
	case nil:
	case []byte:
		r.Body = body
	default:
		r.Body = Encode(body)
	}
	if r.Body != nil {
		r.Header["Content-Type"] = []string{"application/json"}
	}
	if len(t.Config.SecretFiles) > 0 {
		r.Renew = t.renewal(r, credentials)
	}
	return r
}

// Encode encodes a value of maps, lists and scalars as JSON.
func Encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encoding a request body: %v", err)) // impossible: values come from YAML or from this code
	}
	return text
}

// SurrogateHere is the text that [WithSurrogate] replaces.
const SurrogateHere = "agentconform-surrogate"

// WithSurrogate encodes a value as JSON with a lone surrogate in place of [SurrogateHere]. A Go string cannot contain
// one, and such JSON is not interoperable (RFC 8259, section 8.2). It is sent only in requests that must be refused for
// another reason: a server that stores the text may fail in each later response that contains it, such as a list.
func WithSurrogate(value any) []byte {
	return bytes.ReplaceAll(Encode(value), []byte(SurrogateHere), []byte(`\ud800`))
}

// Rejects reports whether a side refuses credentials with the status. Only an authentication handler may use a status
// other than 401 and 403.
func (t *Target) Rejects(side spec.Side, status int) bool {
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return true
	}
	chosen := t.Config.Agent.RejectedStatus
	all := slices.Concat(chosen.Missing, chosen.Invalid, chosen.Blocked)
	return side == spec.AgentServer && slices.Contains(all, status)
}

// UnknownID returns an id that does not exist.
func UnknownID() string { return uuid.NewString() }
