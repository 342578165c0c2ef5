package client_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/client"
	"github.com/agentconform/agentconform/steps/exchange"
)

// tlsServer serves HTTP/2 and asks for a client certificate.
func tlsServer(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS, server.EnableHTTP2 = &tls.Config{ClientAuth: tls.RequestClientCert}, true
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// TestTheCertificateIsForConfiguredHosts checks that other hosts get no client certificate and that their names are
// verified.
func TestTheCertificateIsForConfiguredHosts(t *testing.T) {
	shown := func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, 2, r.ProtoMajor)
		if len(r.TLS.PeerCertificates) > 0 {
			w.WriteHeader(http.StatusAccepted)
		}
	}
	named, other := tlsServer(t, shown), tlsServer(t, shown)
	trusting := x509.NewCertPool()
	trusting.AddCert(named.Certificate())
	c := client.New(1, client.Route{Hosts: []string{reports.HostPort(named.URL)},
		TLS: &tls.Config{RootCAs: trusting, ServerName: "example.com", Certificates: named.TLS.Certificates, MinVersion: tls.VersionTLS12}})
	t.Cleanup(c.Close)
	for server, want := range map[*httptest.Server]int{named: http.StatusAccepted, other: http.StatusOK} {
		a, err := c.Do(t.Context(), exchange.Request{Base: server.URL, Method: http.MethodGet, Path: "/x", Timeout: 5 * time.Second})
		require.NoError(t, err)
		assert.Equal(t, want, a.Status)
		assert.Equal(t, map[bool]string{true: "example.com", false: ""}[server == named], a.TLS.ServerName)
	}
}

// TestAProxyOverTLSSeesNoCertificate checks that the client certificate and the server name are used for the target only.
func TestAProxyOverTLSSeesNoCertificate(t *testing.T) {
	var certificates atomic.Int32
	var connects, names sync.Map
	proxy := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		certificates.Add(int32(len(r.TLS.PeerCertificates)))
		names.Store(r.TLS.ServerName, true)
		if r.Method != http.MethodConnect { // of an http target
			w.WriteHeader(http.StatusTeapot)
			return
		}
		connects.Store(r.Host, true)
		there, err := net.Dial("tcp", r.Host)
		if !assert.NoError(t, err) {
			return
		}
		w.WriteHeader(http.StatusOK)
		here, read, err := http.NewResponseController(w).Hijack()
		if !assert.NoError(t, err) {
			return
		}
		go func() { _, _ = io.Copy(there, read); _ = there.Close() }()
		go func() { _, _ = io.Copy(here, there); _ = here.Close() }()
	}))
	proxy.Config.ErrorLog = log.New(io.Discard, "", 0)
	proxy.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, NextProtos: []string{"h2", "http/1.1"}}
	proxy.StartTLS()
	t.Cleanup(proxy.Close)
	target := tlsServer(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, 2, r.ProtoMajor)
		w.WriteHeader(http.StatusOK + len(r.TLS.PeerCertificates))
	})
	trusting := x509.NewCertPool()
	trusting.AddCert(target.Certificate())
	at, err := url.Parse(strings.Replace(proxy.URL, "127.0.0.1", "proxy.example.com", 1)) // in the certificate of the tests: *.example.com
	require.NoError(t, err)
	c := client.New(1, client.Route{Proxy: at, Hosts: []string{reports.HostPort(target.URL)}, Resolve: map[string]string{"proxy.example.com": "127.0.0.1"},
		TLS: &tls.Config{RootCAs: trusting, ServerName: "example.com", Certificates: target.TLS.Certificates, MinVersion: tls.VersionTLS12}})
	t.Cleanup(c.Close)
	for base, want := range map[string]int{target.URL: http.StatusCreated, "http://plain.invalid": http.StatusTeapot} {
		a, err := c.Do(t.Context(), exchange.Request{Base: base, Method: http.MethodGet, Path: "/x", Timeout: 5 * time.Second})
		require.NoError(t, err, base)
		assert.Equal(t, want, a.Status, base)
		if base == target.URL {
			assert.Equal(t, "example.com", a.TLS.ServerName)
		}
	}
	_, connected := connects.Load(strings.TrimPrefix(target.URL, "https://"))
	assert.True(t, connected)
	assert.Zero(t, certificates.Load())
	names.Range(func(name, _ any) bool { return assert.Equal(t, "proxy.example.com", name) })
}

// TestAStreamThatIsReset checks that a reset stream of HTTP/2 counts like a closed connection of HTTP/1.1.
func TestAStreamThatIsReset(t *testing.T) {
	server := tlsServer(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	trusting := x509.NewCertPool()
	trusting.AddCert(server.Certificate())
	c := client.New(1, client.Route{TLS: &tls.Config{RootCAs: trusting, MinVersion: tls.VersionTLS12}, Hosts: []string{reports.HostPort(server.URL)}})
	t.Cleanup(c.Close)
	_, err := c.Do(t.Context(), exchange.Request{Base: server.URL, Method: http.MethodGet, Path: "/x", Timeout: 5 * time.Second})
	var none *exchange.NoResponse
	require.ErrorAs(t, err, &none)
	assert.True(t, none.Closed, err)
	assert.Equal(t, exchange.StageHTTP, none.Stage)
}

// TestAServerThatLetsNobodyIn closes each connection after it has requested a client certificate. The error suggests
// configuring one, until the server has responded to a request.
func TestAServerThatLetsNobodyIn(t *testing.T) {
	var letIn atomic.Bool
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if !letIn.Load() {
			panic(http.ErrAbortHandler)
		}
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.StartTLS()
	t.Cleanup(server.Close)
	trusting := x509.NewCertPool()
	trusting.AddCert(server.Certificate())
	c := client.New(1, client.Route{TLS: &tls.Config{RootCAs: trusting, MinVersion: tls.VersionTLS12},
		Hosts: []string{reports.HostPort(server.URL)}})
	t.Cleanup(c.Close)
	for _, closed := range []bool{false, true} {
		_, err := c.Do(t.Context(), exchange.Request{Base: server.URL, Method: http.MethodGet, Path: "/x", Timeout: 5 * time.Second})
		var none *exchange.NoResponse
		require.ErrorAs(t, err, &none)
		assert.Equal(t, closed, none.Closed, err)
		assert.Equal(t, !closed, strings.Contains(none.Remedy, "tls.cert"))
		assert.Equal(t, !closed, none.Cause == "the server requested a client certificate and closed the connection", none.Cause)
		letIn.Store(true)
		_, err = c.Do(t.Context(), exchange.Request{Base: server.URL, Method: http.MethodGet, Path: "/x", Timeout: 5 * time.Second})
		require.NoError(t, err)
		letIn.Store(false)
	}
}
