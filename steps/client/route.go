package client

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/agentconform/agentconform/reports"
)

// Route describes how to connect to servers, in addition to their addresses. The zero value uses the authorities and the
// DNS of the system, and the proxies of HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
type Route struct {
	TLS     *tls.Config       // for Hosts; its certificates and its server name are not used for other hosts
	Hosts   []string          // hosts of the configuration, as "host:port" in lower case
	Proxy   *url.URL          // for all requests; nil means the proxies of the environment
	Resolve map[string]string // IP address by host name in lower case
	Sockets map[string]string // path of a Unix domain socket by "host:port" in lower case
	Dial    Dial              // replaces the system's dialer for direct connections, not for those of Resolve, Sockets and proxies
	Names   *Naming           // rules for the addresses that the control plane returns; nil allows all
}

// Dial connects to an address, like the method DialContext of [net.Dialer].
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// ProxyOf returns the proxy for requests to a base address, without user name and password, or nil.
func (r *Route) ProxyOf(base string) *url.URL {
	request, err := http.NewRequest(http.MethodGet, base, nil)
	if err != nil {
		return nil
	}
	proxy, err := r.proxy(request)
	if err != nil || proxy == nil {
		return nil
	}
	bare := *proxy
	bare.User = nil
	return &bare
}

func (r *Route) proxy(request *http.Request) (*url.URL, error) {
	at := reports.HostPort(request.URL.String())
	host, _, _ := net.SplitHostPort(at)
	switch {
	case r.Sockets[at] != "" || r.Resolve[host] != "": // the configuration bypasses the proxy
		return nil, nil //nolint:nilnil // http.Transport expects it
	case r.Proxy != nil:
		return r.Proxy, nil
	}
	return http.ProxyFromEnvironment(request)
}

// transports holds one transport for the hosts of the configuration and one for all others. A single one is not enough:
// behind a proxy, http.Transport makes each TLS connection with its only TLS configuration.
type transports struct {
	route         *Route
	named, others *http.Transport
	pools         sync.Map    // *http.Transport by poolKey
	requested     atomic.Bool // a server has requested a client certificate
	responded     atomic.Bool // a server has responded to a request
}

// poolKey identifies a transport that has its own connections.
type poolKey struct {
	of   *http.Transport // the transport that it is a copy of
	name string
}

// clientRefused is the error of a request without a response on a connection whose server had requested a client
// certificate. The server may have refused the certificate. It then closes the connection, and only one of the requests
// on it gets that error.
type clientRefused struct{ error }

func (e *clientRefused) Unwrap() error { return e.error }

func (r *Route) transports(concurrency int) *transports {
	own, proxies := r.TLS, &sync.Map{}
	if own == nil {
		own = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	other := own.Clone()
	other.Certificates, other.ServerName = nil, ""
	t := &transports{route: r}
	t.named = r.transport(concurrency, proxies, own, other)
	t.others = r.transport(concurrency, proxies, other, other)
	t.named.TLSClientConfig.GetClientCertificate = t.choose(own.Certificates)
	t.others.TLSClientConfig.GetClientCertificate = t.choose(nil)
	return t
}

// choose returns a function that records the request for a client certificate and returns the first certificate that the
// server supports, as crypto/tls does.
func (t *transports) choose(all []tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(request *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		t.requested.Store(true)
		for i := range all {
			if request.SupportsCertificate(&all[i]) == nil {
				return &all[i], nil
			}
		}
		return new(tls.Certificate), nil
	}
}

type newConnectionKey struct{}

// onNewConnection returns a context for requests on a new connection. Closing the idle connections first is not enough,
// because another request may end in between and leave an idle one.
func onNewConnection(ctx context.Context) context.Context {
	return context.WithValue(ctx, newConnectionKey{}, true)
}

func needsNewConnection(ctx context.Context) bool { return ctx.Value(newConnectionKey{}) != nil }

type poolKeyOfContext struct{}

// pool identifies connections that no other requests use.
type pool struct {
	name  string
	first atomic.Pointer[string] // the name of the first caller
}

// inPool returns a context whose requests use the connections of the pool only.
func inPool(ctx context.Context, p *pool) context.Context {
	return context.WithValue(ctx, poolKeyOfContext{}, p)
}

// poolOf returns the pool of a context, or nil.
func poolOf(ctx context.Context) *pool {
	p, _ := ctx.Value(poolKeyOfContext{}).(*pool)
	return p
}

// isAfterOther reports whether the first caller of the pool was a different one. If the pool is new, it records the
// caller.
func (p *pool) isAfterOther(caller string) bool {
	return p != nil && !p.first.CompareAndSwap(nil, &caller) && *p.first.Load() != caller
}

// transportFor returns the transport with the connections of a context. of is the transport of the host.
func (t *transports) transportFor(ctx context.Context, of *http.Transport) *http.Transport {
	p := poolOf(ctx)
	if p == nil {
		return of
	}
	key := poolKey{of, p.name}
	known, is := t.pools.Load(key)
	if !is {
		known, _ = t.pools.LoadOrStore(key, of.Clone())
	}
	return known.(*http.Transport)
}

// RoundTrip sends a request.
func (t *transports) RoundTrip(request *http.Request) (*http.Response, error) {
	transport := t.others
	if slices.Contains(t.route.Hosts, reports.HostPort(request.URL.String())) {
		transport = t.named
	}
	transport = t.transportFor(request.Context(), transport)
	if needsNewConnection(request.Context()) {
		transport = transport.Clone()
		transport.DisableKeepAlives = true
	}
	response, err := transport.RoundTrip(request)
	if err == nil {
		t.responded.Store(true)
		return response, nil
	}
	if t.requested.Load() && !t.responded.Load() && !isReset(err) {
		return nil, &clientRefused{err}
	}
	return nil, err
}

// CloseIdleConnections closes the idle connections.
func (t *transports) CloseIdleConnections() {
	t.named.CloseIdleConnections()
	t.others.CloseIdleConnections()
	t.pools.Range(func(_, pool any) bool {
		pool.(*http.Transport).CloseIdleConnections()
		return true
	})
}

// maxHeader limits the headers of a response, in bytes. Servers send a few thousand. In memory, a header may take a
// hundred times its size.
const maxHeader = 128 << 10

// transport returns a transport with one TLS configuration for hosts and another for a proxy that is reached over TLS,
// because the configuration of the hosts does not apply to the proxy.
func (r *Route) transport(concurrency int, proxies *sync.Map, ofHosts, ofProxy *tls.Config) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 4 * concurrency
	transport.MaxIdleConns = 0
	transport.MaxResponseHeaderBytes = maxHeader
	transport.IdleConnTimeout = 2 * time.Second // shorter than that of servers
	transport.Proxy = func(request *http.Request) (*url.URL, error) {
		proxy, err := r.proxy(request)
		if proxy != nil {
			proxies.Store(reports.HostPort(proxy.String()), true)
		}
		return proxy, err
	}
	transport.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, response *http.Response) error {
		if response.StatusCode != http.StatusOK {
			return &proxyRefused{Status: response.StatusCode}
		}
		return nil
	}
	transport.TLSClientConfig = ofHosts.Clone()
	transport.DialContext = r.dialing(proxies)
	transport.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := transport.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		secure := transport.TLSClientConfig.Clone()
		protocols := []string{"h2", "http/1.1"}
		if _, is := proxies.Load(strings.ToLower(address)); is {
			secure, protocols = ofProxy.Clone(), protocols[1:]
		}
		secure.NextProtos = protocols
		if secure.ServerName == "" {
			secure.ServerName, _, _ = net.SplitHostPort(address)
		}
		return tls.Client(conn, secure), nil // the transport performs the handshake
	}
	return transport
}

// proxyRefused is the error of a proxy that does not connect to the target.
type proxyRefused struct{ Status int }

func (e *proxyRefused) Error() string { return fmt.Sprintf("the proxy returns status %d", e.Status) }

// dialing returns a dialer that checks the IP address of each new connection. A proxy is not checked, because the user
// chose it.
func (r *Route) dialing(proxies *sync.Map) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		address = strings.ToLower(address)
		host, port, _ := net.SplitHostPort(address)
		if path := r.Sockets[address]; path != "" {
			return dialer().DialContext(ctx, "unix", path)
		}
		if ip := r.Resolve[host]; ip != "" {
			return dialer().DialContext(ctx, network, net.JoinHostPort(ip, port))
		}
		if _, is := proxies.Load(address); is {
			return dialer().DialContext(ctx, network, address)
		}
		conn, err := r.connect(ctx, network, address, func(reached string) error {
			at, err := netip.ParseAddrPort(reached)
			if err != nil {
				return err
			}
			return r.Names.connects(host, at.Addr())
		})
		if err == nil {
			r.Names.connected(address, conn.RemoteAddr())
		}
		return conn, err
	}
}

func dialer() *net.Dialer { return &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second} }

// connect connects to an address, unless allow refuses the IP address and port to which it resolves.
func (r *Route) connect(ctx context.Context, network, address string, allow func(reached string) error) (net.Conn, error) {
	if r.Dial != nil { // names are not resolved
		if err := allow(address); err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Err: err}
		}
		return r.Dial(ctx, network, address)
	}
	system := dialer()
	system.Control = func(_, reached string, _ syscall.RawConn) error { return allow(reached) }
	return system.DialContext(ctx, network, address)
}

// maxRedirects is the maximum number of redirects that a request follows.
const maxRedirects = 5

// follow sends a request and follows redirects of GET requests within the same host. It returns any other redirect as the
// response. http.Client is not suitable: it fails if a Location is not a URL, which hides the response, and adds a
// Referer.
func follow(transport http.RoundTripper, request *http.Request) (*http.Response, error) {
	for redirects := 0; ; redirects++ {
		response, err := transport.RoundTrip(request)
		if err != nil || request.Method != http.MethodGet || redirects == maxRedirects || !isRedirect(response.StatusCode) {
			return response, err
		}
		to, err := response.Location()
		if err != nil || to.Host != request.URL.Host || to.Scheme != request.URL.Scheme {
			return response, nil //nolint:nilerr // an invalid Location is not followed
		}
		_ = response.Body.Close()
		request = request.Clone(request.Context())
		request.URL = to
	}
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
		return true
	}
	return false
}
