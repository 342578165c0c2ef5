package target

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/config"
)

// RouteOf is how the configuration says that the target is reached, with the rules for addresses that its control plane
// names. The error names the key of a file that cannot be used.
func RouteOf(c *config.Config) (client.Route, error) {
	secure, wrong := c.TLS.Client()
	if wrong != nil {
		return client.Route{}, wrong
	}
	route := client.Route{TLS: secure}
	if via := c.Connection(); via != nil {
		route.Hosts, route.Resolve, route.Sockets = via.Hosts, via.Resolve, via.Sockets
	}
	if c.Proxy != "" {
		proxy, err := url.Parse(c.Proxy)
		if err != nil {
			return client.Route{}, errors.New("proxy is not a URL") // whose text may hold a password
		}
		route.Proxy = proxy
	}
	known := route
	route.Names = &client.Naming{Plane: c.Target, Agent: c.AgentTarget, AllowPrivate: c.AllowPrivate, Route: &known}
	return route, nil
}

func clientOf(o Options) (*client.Client, error) {
	route, err := RouteOf(o.Config)
	if err != nil {
		return nil, err
	}
	return client.NewVia(max(o.Concurrency, 1), route), nil
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

// gateway are the headers that a gateway in front of the target wants. They are sent only to addresses that the configuration
// names.
func (t *Target) gateway(r client.Request) http.Header {
	if !t.Config.Names(r.Base) {
		return nil
	}
	return t.present().Headers.Gateway(r.Side == spec.AgentServer)
}

// renewsGateway lets any request be sent once more where it was refused and the file of a gateway's header has another value by
// now: else a gateway that refuses would be taken for a target that refuses missing credentials.
func (t *Target) renewsGateway(r *client.Request) {
	if slices.ContainsFunc(slices.Collect(maps.Keys(t.Config.SecretFiles)), func(key string) bool { return strings.HasPrefix(key, "headers.") }) {
		t.renews(r, func() http.Header { return nil })
	}
}

func gatewayNames(c *config.Config) (names []string) {
	for _, group := range []map[string]string{c.Headers.ControlPlane, c.Headers.AgentServer} {
		for name := range group {
			names = append(names, http.CanonicalHeaderKey(name))
		}
	}
	return names
}

// noteConfiguration notes what of the connection and of the secrets a reader of the result has to know.
func (t *Target) noteConfiguration() {
	if told := ShortSecrets(t.Config); told != "" {
		t.Note(reports.Note{Kind: reports.NoteSecret, Text: told})
	}
	if t.Config.TLS.Insecure {
		t.Note(reports.Note{Kind: reports.NoteInsecure,
			Text: "tls.insecure is true: no certificate was verified, so the answers may not be those of the target, and the credentials may have been read; set tls.ca instead"})
	}
}

// ShortSecrets says which secrets of a configuration are replaced only where the suite sends them; "" if none is.
func ShortSecrets(c *config.Config) string {
	short := c.ShortSecrets()
	if len(short) == 0 {
		return ""
	}
	return fmt.Sprintf("%s: fewer than %d characters, or a common word: replaced only where the suite sends it, not where the target repeats it; use a longer secret",
		strings.Join(short, ", "), config.SafeSecret)
}

// The intervals between attempts to reach a target that is being started.
const (
	firstInterval = 50 * time.Millisecond
	longestPause  = 2 * time.Second
)

// Await waits until each configured address answers anything over HTTP, at most for the limit. The requests carry no credentials.
// The error says which does not, or is the cause of the context.
func Await(ctx context.Context, c *config.Config, limit time.Duration) error {
	t, err := New(Options{Config: c, Concurrency: 1})
	if err != nil {
		return err
	}
	defer t.Close()
	end := time.Now().Add(limit)
	for _, address := range []string{c.Target, c.AgentTarget} {
		if address == "" {
			continue
		}
		if err := t.await(ctx, address, limit, end); err != nil {
			return err
		}
	}
	return nil
}

func (t *Target) await(ctx context.Context, address string, limit time.Duration, end time.Time) error {
	r := client.Request{Side: spec.ControlPlane, Base: address, Method: http.MethodGet, Path: "/", Header: http.Header{}, Early: true}
	if address == t.Config.AgentTarget {
		r.Side = spec.AgentServer
	}
	maps.Copy(r.Header, t.gateway(r))
	for pause, attempts := firstInterval, 1; ; pause, attempts = min(2*pause, longestPause), attempts+1 {
		r.Timeout = max(min(t.Config.Timeouts.Request, time.Until(end)), firstInterval)
		err := t.Client.Try(ctx, r)
		var none *client.NoAnswer
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &none):
			return err
		case time.Until(end) <= 0:
			return fmt.Errorf("%s does not answer within %s (--wait), %s, the last one: %s", address, limit,
				reports.Count(attempts, "attempt"), t.Redact.Excerpt(none.Message()))
		}
		if err := client.Sleep(ctx, min(pause, max(time.Until(end), 0))); err != nil {
			return err
		}
	}
}
