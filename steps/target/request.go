package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
)

// routeOf is how the configuration says that the target is reached, with the rules for addresses that its control plane
// names. The error names the key of a file that cannot be used.
func routeOf(c *config.Config) (client.Route, error) {
	secure, wrong := c.TLS.Client()
	if wrong != nil {
		return client.Route{}, wrong
	}
	route := client.Route{TLS: secure}
	if via := c.Connection(); via != nil {
		route.Hosts = via.Hosts
		route.Resolve = via.Resolve
		route.Sockets = via.Sockets
	}
	if c.Proxy != "" {
		proxy, err := url.Parse(c.Proxy)
		if err != nil {
			return client.Route{}, errors.New("proxy is not a URL") // whose text may hold a password
		}
		route.Proxy = proxy
	}
	route.Names = &client.Naming{Plane: c.Target, Agent: c.AgentTarget, AllowPrivate: c.AllowPrivate, Route: route}
	return route, nil
}

// environmentProxies are the secrets in the proxies of the environment, with the names of their variables.
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

// gateway are the headers that a gateway in front of the target wants. They are sent only to addresses that the
// configuration names.
func (t *Target) gateway(r exchange.Request) http.Header {
	if !t.Config.Names(r.Base) {
		return nil
	}
	groups := t.present().Headers
	if r.Side == spec.AgentServer {
		return config.HeaderOf(groups.AgentServer)
	}
	return config.HeaderOf(groups.ControlPlane)
}

func gatewayNames(c *config.Config) (names []string) {
	for _, group := range []map[string]string{c.Headers.ControlPlane, c.Headers.AgentServer} {
		for name := range group {
			names = append(names, http.CanonicalHeaderKey(name))
		}
	}
	return names
}

// present is the configuration with the credentials as they are now: files of credentials may have been read again.
func (t *Target) present() *config.Config {
	if c := t.latest.Load(); c != nil {
		return c
	}
	return t.Config
}

// reread reads the files of credentials again. What is new is known to the redactor before it is sent.
func (t *Target) reread() {
	t.reading.Lock()
	defer t.reading.Unlock()
	if changed := t.present().Reread(); changed != nil {
		t.Redact.Add(changed.Secrets())
		t.latest.Store(changed)
	}
}

// renewal lets a request be sent with the credentials and headers of a gateway that were read last, and once more where
// it was refused and a file has others by now, read again at once or for another request. That is for all requests: a
// gateway that refuses an old value must not be taken for a target that refuses missing credentials.
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

// Await waits until each configured address answers anything over HTTP, at most for the limit. The requests carry no
// credentials. The error says which does not, or is the cause of the context.
func Await(ctx context.Context, c *config.Config, limit time.Duration) error {
	const first, longest = 50 * time.Millisecond, 2 * time.Second // between two attempts
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
		r := exchange.Request{Side: side, Base: address, Method: http.MethodGet, Path: "/", Header: http.Header{}, Early: true}
		maps.Copy(r.Header, t.gateway(r))
		for pause := first; address != ""; pause = min(2*pause, longest) {
			r.Timeout = max(min(c.Timeouts.Request, time.Until(end)), first)
			none, isNone := errors.AsType[*exchange.NoResponse](t.Client.Try(ctx, r))
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case !isNone:
				address = ""
			case time.Until(end) <= 0:
				return fmt.Errorf("%s does not answer within %s (--wait): %s", address, limit, t.Redact.Excerpt(none.Message()))
			default:
				_ = client.Sleep(ctx, min(pause, time.Until(end)))
			}
		}
	}
	return nil
}

// ToAgent makes a request to an agent server. The body is sent as JSON; a []byte is sent as it is.
func (t *Target) ToAgent(base string, who Caller, method, path string, body any) exchange.Request {
	credentials := func() http.Header {
		if planesSchemes[who.name] != "" && !t.takesPlanesCredentials(base) {
			return http.Header{} // whatever was judged before: they are not sent
		}
		return t.currentHeader(who)
	}
	r := exchange.Request{Side: spec.AgentServer, Base: base, Method: method, Path: path, Header: credentials(),
		Trusted: who.User != nil || who.name == TheUser}
	r.Caller = sender(r.Header, who.Key, who.name == anUnknownToken)
	return t.request(r, body, credentials)
}

// ToControlPlane makes a request to the control plane by the asker. The body is sent as JSON; a []byte is sent as
// it is.
func (t *Target) ToControlPlane(who Asker, method, path string, body any) exchange.Request {
	credentials := func() http.Header { return t.Credentials(who) }
	r := exchange.Request{Side: spec.ControlPlane, Base: t.Config.Target, Method: method, Path: path, Header: credentials()}
	r.Trusted = len(r.Header) > 0 && (who == TheClient || IsScheme(who))
	r.Caller = sender(r.Header, string(who), who == UnknownKey)
	return t.request(r, body, credentials)
}

// sender is who sends a header with credentials, for the record.
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

// Encode writes a value of maps, lists and scalars as JSON.
func Encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encoding a request body: %v", err)) // only values that were read from YAML or written here
	}
	return text
}

// Rejects tells whether a side refuses credentials with the status. Only an authentication handler may choose another
// one than 401 and 403.
func (t *Target) Rejects(side spec.Side, status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden ||
		side == spec.AgentServer && (slices.Contains(t.Config.Agent.RejectedStatus.Missing, status) ||
			slices.Contains(t.Config.Agent.RejectedStatus.Invalid, status))
}

// UnknownID is the id of nothing.
func UnknownID() string { return uuid.NewString() }
