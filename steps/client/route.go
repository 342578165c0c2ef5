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

// Route is how servers are reached, where their addresses alone do not say it. The zero value is the way of the system:
// its authorities, its DNS, and the proxies of HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
type Route struct {
	TLS     *tls.Config       // for Hosts; any other host is not shown the certificates of it, and has its own name
	Hosts   []string          // "host:port" in lower case: those that the configuration names
	Proxy   *url.URL          // for all requests; nil: by the environment
	Resolve map[string]string // IP address by host name in lower case
	Sockets map[string]string // path of a Unix domain socket by "host:port" in lower case
	Dial    Dial              // replaces the system's dialer for direct connections, not for those of Resolve, Sockets and proxies
	Names   *Naming           // of the addresses that the control plane names; nil: any may be named
}

// Dial connects to an address, like the method DialContext of [net.Dialer].
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// ProxyOf returns the proxy through which requests to a base address go, without user name and password; nil where
// there is none.
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
	case r.Sockets[at] != "" || r.Resolve[host] != "": // the configuration says where it is
		return nil, nil //nolint:nilnil // as http.Transport wants it
	case r.Proxy != nil:
		return r.Proxy, nil
	}
	return http.ProxyFromEnvironment(request)
}

// transports are one for the hosts that the configuration names and one for all others.
type transports struct {
	route           *Route
	named, others   *http.Transport
	asked, answered atomic.Bool // a server has asked for a client certificate; one has answered
}

// notLetIn is the end of a connection to a server that asked for a client certificate, while nothing was ever answered:
// a server that refuses a client ends the connection, and not each of the requests on it gets the reason.
type notLetIn struct{ error }

func (e *notLetIn) Unwrap() error { return e.error }

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
	t.named.TLSClientConfig.GetClientCertificate = t.show(own.Certificates)
	t.others.TLSClientConfig.GetClientCertificate = t.show(nil)
	return t
}

// show returns the first certificate that a server takes, as crypto/tls does, and notes that one was asked for.
func (t *transports) show(all []tls.Certificate) func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	return func(wanted *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		t.asked.Store(true)
		for i := range all {
			if wanted.SupportsCertificate(&all[i]) == nil {
				return &all[i], nil
			}
		}
		return new(tls.Certificate), nil
	}
}

// RoundTrip sends a request.
func (t *transports) RoundTrip(request *http.Request) (*http.Response, error) {
	way := t.others
	if slices.Contains(t.route.Hosts, reports.HostPort(request.URL.String())) {
		way = t.named
	}
	response, err := way.RoundTrip(request)
	switch {
	case err == nil:
		t.answered.Store(true)
	case t.asked.Load() && !t.answered.Load() && !isReset(err):
		err = &notLetIn{err}
	}
	return response, err
}

// CloseIdleConnections closes the connections that are kept.
func (t *transports) CloseIdleConnections() {
	t.named.CloseIdleConnections()
	t.others.CloseIdleConnections()
}

// maxHeader bounds the headers of an answer, in bytes. Servers send a few thousand, and each may cost a hundred times
// its size.
const maxHeader = 128 << 10

// transport has the TLS of its hosts, and that of a proxy which is reached over TLS: what the configuration says of its
// hosts is not meant for the proxy.
func (r *Route) transport(concurrency int, proxies *sync.Map, ofHosts, ofProxy *tls.Config) *http.Transport {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 4 * concurrency
	transport.MaxIdleConns = 0
	transport.MaxResponseHeaderBytes = maxHeader
	transport.IdleConnTimeout = 2 * time.Second // servers close theirs after a few
	transport.Proxy = func(request *http.Request) (*url.URL, error) {
		proxy, err := r.proxy(request)
		if proxy != nil {
			proxies.Store(reports.HostPort(proxy.String()), true)
		}
		return proxy, err
	}
	transport.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
		if answer.StatusCode != http.StatusOK {
			return &proxyRefused{Status: answer.StatusCode}
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
		return tls.Client(conn, secure), nil // the transport makes the handshake
	}
	return transport
}

// proxyRefused says that a proxy does not connect the suite with the target.
type proxyRefused struct{ Status int }

func (e *proxyRefused) Error() string { return fmt.Sprintf("the proxy answers status %d", e.Status) }

// dialing checks to which address a name leads, each time that a connection is made. The way to a proxy is the user's
// own.
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

// connect connects to an address, unless allow refuses the IP address and port to which it leads.
func (r *Route) connect(ctx context.Context, network, address string, allow func(reached string) error) (net.Conn, error) {
	if r.Dial != nil { // no name is looked up
		if err := allow(address); err != nil {
			return nil, &net.OpError{Op: "dial", Net: network, Err: err}
		}
		return r.Dial(ctx, network, address)
	}
	system := dialer()
	system.Control = func(_, reached string, _ syscall.RawConn) error { return allow(reached) }
	return system.DialContext(ctx, network, address)
}

// follow sends a request, and follows redirects of reading requests within the host that was asked, a few times. Any
// other redirect is returned as the answer.
func follow(way http.RoundTripper, request *http.Request) (*http.Response, error) {
	const most = 5
	kinds := []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect}
	for redirects := 0; ; redirects++ {
		response, err := way.RoundTrip(request)
		if err != nil || request.Method != http.MethodGet || redirects == most ||
			!slices.Contains(kinds, response.StatusCode) {
			return response, err
		}
		to, err := response.Location()
		if err != nil || to.Host != request.URL.Host || to.Scheme != request.URL.Scheme {
			return response, nil //nolint:nilerr // it leads nowhere
		}
		_ = response.Body.Close()
		request = request.Clone(request.Context())
		request.URL = to
	}
}
