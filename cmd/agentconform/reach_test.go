package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/replay"
)

// behindFront starts the reference with a fault, and returns a server in front of it that is not started yet. The layer
// wraps the handler of that server.
func behindFront(t *testing.T, host, scheme string, layer func(http.Handler) http.Handler) (*httptest.Server, *config.Config) {
	t.Helper()
	var handler http.Handler
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
	}))
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	_, port, err := net.SplitHostPort(front.Listener.Addr().String())
	require.NoError(t, err)
	o := withFaults(t, "limit-101-is-served")
	o.PublicURL = scheme + "://" + net.JoinHostPort(host, port)
	o.WrapHTTP = append(o.WrapHTTP, func(h http.Handler) http.Handler {
		handler = layer(h)
		return h
	})
	_, cfg := start(t, o)
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	return front, cfg
}

// knowing returns a proxy that resolves agents.invalid to an address, for clients with a password.
func knowing(address string) http.Handler {
	back := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Host = address }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, password, _ := (&http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}).BasicAuth(); name != "somebody" || password != "proxy-secret" {
			w.WriteHeader(http.StatusProxyAuthRequired)
			return
		}
		if host, _, _ := net.SplitHostPort(r.Host); host != "agents.invalid" {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("X-Proxy-Saw", r.Header.Get("Proxy-Authorization"))
		back.ServeHTTP(w, r)
	})
}

// behindEverything returns the configuration for a reference behind all kinds of intermediaries at the same time.
func behindEverything(t *testing.T) *config.Config {
	ca := newAuthority(t)
	front, cfg := behindFront(t, "agents.invalid", "https", demanding("X-Gateway-Key", "gateway-secret"))
	cfg.TLS.CA, cfg.TLS.ServerName = ca.file, "other.invalid"
	front.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.pool,
		Certificates: []tls.Certificate{ca.issue("other.invalid", time.Now().Add(500*time.Hour))}}
	front.StartTLS()
	cfg.TLS.Cert, cfg.TLS.Key = ca.write("client")
	cfg.Resolve = map[string]string{"agents.invalid": "127.0.0.1"}
	headers := map[string]string{"X-Gateway-Key": "gateway-secret"}
	cfg.Headers = config.Headers{ControlPlane: headers, AgentServer: headers}
	return cfg
}

// unverified returns the configuration for a reference with a self-signed certificate.
func unverified(t *testing.T) *config.Config {
	front, cfg := behindFront(t, "127.0.0.1", "https", plainly)
	front.StartTLS()
	cfg.TLS.Insecure = true
	return cfg
}

// TestReachAgain checks that replay and the scripts of findings reach a target behind these intermediaries, and that
// reports do not contain the passwords of intermediaries.
func TestReachAgain(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]*config.Config{
		"everything": behindEverything(t),
		"a proxy":    proxied(t),
		"a socket":   socketed(t),
		"no trust":   unverified(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, cfg.Complete())
			o := options(t, cfg, "CP-LIST-3")
			o.Keep = true
			result := run(t, o)
			require.NotEmpty(t, result.Findings, result.Headline)
			shown := inEveryFormat(t, result)
			for _, password := range []string{"gateway-secret", "proxy-secret", base64.StdEncoding.EncodeToString([]byte("somebody:proxy-secret"))} {
				assert.NotContains(t, shown, password)
			}
			assert.Equal(t, cfg.TLS.Insecure, strings.Contains(shown, "no certificate was verified"))
			answers, _, err := replay.Judge(t.Context(), options(t, cfg), result, result.Findings)
			require.NoError(t, err)
			for _, a := range answers {
				assert.Equal(t, reports.Failed, a.Verdict, a.Reason)
			}
			assert.Empty(t, repeated(t, result, &result.Findings[0], cfg.Environment()))
		})
	}
}

// authority is a private CA. Its certificates are self-signed, and its file contains all of them.
type authority struct {
	t    *testing.T
	pool *x509.CertPool
	file string
}

func newAuthority(t *testing.T) *authority {
	return &authority{t, x509.NewCertPool(), filepath.Join(t.TempDir(), "ca.pem")}
}

func (a *authority) save(path, kind string, der []byte) string {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(a.t, err)
	require.NoError(a.t, pem.Encode(file, &pem.Block{Type: kind, Bytes: der}))
	require.NoError(a.t, file.Close())
	return path
}

// issue returns a certificate for a host name or an IP address.
func (a *authority) issue(host string, until time.Time) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host}, NotBefore: until.Add(-1000 * time.Hour),
		NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(a.t, err)
	made, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	a.pool.AddCert(made)
	a.save(a.file, "CERTIFICATE", der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// write creates a certificate and returns the files of the certificate and of its key.
func (a *authority) write(name string) (certificate, key string) {
	pair := a.issue(name, time.Now().Add(500*time.Hour))
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(a.t, err)
	folder := a.t.TempDir()
	return a.save(filepath.Join(folder, "cert.pem"), "CERTIFICATE", pair.Certificate[0]), a.save(filepath.Join(folder, "key.pem"), "PRIVATE KEY", der)
}

// inEveryFormat returns the text of all reports of a result, and of the console.
func inEveryFormat(t *testing.T, r *reports.Result) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, export.Write(folder, r))
	var all strings.Builder
	require.NoError(t, console.Write(&all, r, console.Options{}))
	for _, text := range written(t, folder) {
		all.Write(text)
	}
	return all.String()
}

// proxied returns the configuration for a reference that only a proxy reaches.
func proxied(t *testing.T) *config.Config {
	f, cfg := behindFront(t, "agents.invalid", "http", plainly)
	f.Start()
	proxy := httptest.NewServer(knowing(f.Listener.Addr().String()))
	t.Cleanup(proxy.Close)
	cfg.Proxy = strings.Replace(proxy.URL, "http://", "http://somebody:proxy-secret@", 1)
	return cfg
}

// socketed returns the configuration for a reference behind a Unix domain socket.
func socketed(t *testing.T) *config.Config {
	f, cfg := behindFront(t, "localhost", "http", plainly)
	require.NoError(t, f.Listener.Close())
	cfg.Socket.ControlPlane = filepath.Join(t.TempDir(), "s")
	var err error
	f.Listener, err = net.Listen("unix", cfg.Socket.ControlPlane)
	require.NoError(t, err)
	f.Start()
	return cfg
}
