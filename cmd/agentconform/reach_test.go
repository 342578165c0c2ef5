package main

import (
	"cmp"
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
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/console"
	"github.com/agentconform/agentconform/reports/export"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/doctor"
	"github.com/agentconform/agentconform/steps/replay"
)

// front is a server in front of the reference, which alone reaches it.
type front struct {
	*httptest.Server
	handler http.Handler // of the reference
	host    string       // in the address of the target
	requests,
	secondVersion atomic.Int64
}

// behindFront starts the reference behind a server that is not started yet; the layer is around what it serves.
func behindFront(t *testing.T, host, scheme string, o reference.Options, layer func(http.Handler) http.Handler) (*front, *config.Config) {
	t.Helper()
	f := &front{host: host}
	f.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.requests.Add(1)
		if r.ProtoMajor == 2 {
			f.secondVersion.Add(1)
		}
		layer(f.handler).ServeHTTP(w, r)
	}))
	f.Config.ErrorLog = log.New(io.Discard, "", 0)
	_, port, err := net.SplitHostPort(f.Listener.Addr().String())
	require.NoError(t, err)
	o.PublicURL = scheme + "://" + net.JoinHostPort(host, port)
	o.WrapHTTP = append(o.WrapHTTP, func(h http.Handler) http.Handler {
		f.handler = h
		return h
	})
	_, cfg := start(t, o)
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f, cfg
}

func as(h http.Handler) http.Handler { return h }

// secured starts a front with a certificate of the authority, over HTTP/2 too.
func (f *front) secured(ca *authority, c *tls.Config) {
	c.Certificates = []tls.Certificate{ca.issue(f.host, time.Now().Add(500*time.Hour))}
	f.TLS, f.EnableHTTP2 = c, true
	f.StartTLS()
}

// some are requirements of both halves.
var some = []string{"CP-GET-1", "CP-LIST-3", "CP-AUTH-1", "AS-THREAD-1", "AS-AUTH-1", "E2E-1"}

// diagnosis is what doctor says of a subject.
func diagnosis(t *testing.T, cfg *config.Config, subject string) string {
	t.Helper()
	require.NoError(t, cfg.Complete())
	e, err := doctor.Examine(t.Context(), options(t, cfg), false)
	require.NoError(t, err)
	for _, c := range e.Checks {
		if c.Subject == subject {
			return string(c.State) + ": " + c.Found + "; " + c.Remedy
		}
	}
	return ""
}

// without returns a configuration that lacks what the key says.
func without(cfg *config.Config, change func(*config.Config)) *config.Config {
	c := *cfg
	change(&c)
	return &c
}

func TestReachWithAPrivateCA(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	f, cfg := behindFront(t, "127.0.0.1", "https", reference.Options{}, as)
	f.secured(ca, &tls.Config{})
	cfg.TLS.CA = ca.file
	assert.Regexp(t, `^ok: TLS 1.3, certificate for 127.0.0.1, issued by .*, valid until `, diagnosis(t, cfg, "TLS of target"))
	result := judge(t, cfg, some...)
	assert.Equal(t, reports.Conformant, result.Verdict, result.Headline)
	assert.Positive(t, f.secondVersion.Load(), "HTTP/2 is used where the server has it")

	insecure := without(cfg, func(c *config.Config) { c.TLS = config.TLS{Insecure: true} })
	result = judge(t, insecure, "CP-LIST-3")
	assert.Equal(t, reports.Conformant, result.Verdict, result.Headline)
	require.Len(t, result.Notes, 1)
	assert.Equal(t, reports.NoteInsecure, result.Notes[0].Kind)
	for file, text := range filesOf(t, result) {
		words := map[string]string{"result.json": `"kind": "insecure"`}[file]
		if !strings.HasSuffix(file, ".sh") {
			assert.Contains(t, text, cmp.Or(words, "insecure: certificates not verified"), file)
		}
	}
	assert.Regexp(t, `^note: .* not verified: tls.insecure is true; set tls.ca`, diagnosis(t, insecure, "TLS of target"))
}

// wanting refuses requests without the header of a gateway.
func wanting(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Gateway-Key") != "gateway-secret" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		r.Header.Del("X-Gateway-Key")
		h.ServeHTTP(w, r)
	})
}

// knowing is a proxy that knows one address under the name of agents.invalid, for those who give a password.
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

// behindEverything is the reference behind all that can be in the way at once.
func behindEverything(t *testing.T, o reference.Options) *config.Config {
	ca := newAuthority(t)
	f, cfg := behindFront(t, "agents.invalid", "https", o, wanting)
	f.host = "other.invalid"
	f.secured(ca, &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.pool})
	cfg.TLS.CA, cfg.TLS.ServerName = ca.file, f.host
	cfg.TLS.Cert, cfg.TLS.Key = ca.write("client")
	cfg.Resolve = map[string]string{"agents.invalid": "127.0.0.1"}
	headers := map[string]string{"X-Gateway-Key": "gateway-secret"}
	cfg.Headers = config.Headers{ControlPlane: headers, AgentServer: headers}
	return cfg
}

// TestReachAgain: findings of a target behind all of this are judged again by replay, shown by their scripts, and by
// each curl line. Its reports hold no password of what is in between.
func TestReachAgain(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]*config.Config{
		"everything": behindEverything(t, withFaults(t, "limit-101-is-served")),
		"a proxy":    proxied(t, withFaults(t, "limit-101-is-served")),
		"a socket":   socketed(t, withFaults(t, "limit-101-is-served")),
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
			answers, _, err := replay.Judge(t.Context(), options(t, cfg), result, result.Findings)
			require.NoError(t, err)
			for _, a := range answers {
				assert.Equal(t, reports.Failed, a.Verdict, a.Reason)
			}
			secrets := cfg.Secrets()
			for value, name := range secrets {
				if name == reports.ProxyVariable && value != cfg.Proxy {
					delete(secrets, value)
				}
			}
			assert.Empty(t, repeated(t, result, &result.Findings[0], cfg.Environment()))
			x, err := result.Exchange(result.Findings[0].Exchange)
			require.NoError(t, err)
			assert.Equal(t, x.Status, statusOfCurl(t, x.Curl, secrets), x.Curl)
		})
	}
}

// authority is a private CA: each certificate that it makes is signed by itself, and its file holds them all.
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

// issue makes a certificate for a host: a name or an IP address.
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

// write makes a certificate and returns the files of it and of its key.
func (a *authority) write(name string) (certificate, key string) {
	pair := a.issue(name, time.Now().Add(500*time.Hour))
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(a.t, err)
	folder := a.t.TempDir()
	return a.save(filepath.Join(folder, "cert.pem"), "CERTIFICATE", pair.Certificate[0]), a.save(filepath.Join(folder, "key.pem"), "PRIVATE KEY", der)
}

// inEveryFormat is the text of all reports of a result.
func inEveryFormat(t *testing.T, r *reports.Result) string {
	t.Helper()
	var all strings.Builder
	for _, text := range filesOf(t, r) {
		all.WriteString(text)
	}
	return all.String()
}

// filesOf are the texts of the reports of a result by their names, with what the console shows.
func filesOf(t *testing.T, r *reports.Result) map[string]string {
	t.Helper()
	folder, all := t.TempDir(), map[string]string{}
	require.NoError(t, export.Write(folder, r))
	var shown strings.Builder
	require.NoError(t, console.Write(&shown, r, console.Options{}))
	all["console"] = shown.String()
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[filepath.Base(path)] = string(text)
		return err
	}))
	return all
}

// proxied is a reference that only a proxy reaches.
func proxied(t *testing.T, o reference.Options) *config.Config {
	f, cfg := behindFront(t, "agents.invalid", "http", o, as)
	f.Start()
	proxy := httptest.NewServer(knowing(f.Listener.Addr().String()))
	t.Cleanup(proxy.Close)
	cfg.Proxy = strings.Replace(proxy.URL, "http://", "http://somebody:proxy-secret@", 1)
	return cfg
}

// socketed is a reference behind a Unix domain socket.
func socketed(t *testing.T, o reference.Options) *config.Config {
	f, cfg := behindFront(t, "localhost", "http", o, as)
	require.NoError(t, f.Listener.Close())
	cfg.Socket.ControlPlane = filepath.Join(t.TempDir(), "s")
	var err error
	f.Listener, err = net.Listen("unix", cfg.Socket.ControlPlane)
	require.NoError(t, err)
	f.Start()
	return cfg
}

// statusOfCurl runs a curl line of a report, with the secrets in the environment.
func statusOfCurl(t *testing.T, line string, secrets map[string]string) int {
	t.Helper()
	shell := exec.CommandContext(t.Context(), "sh", "-c", line+` -o /dev/null -w '\n%{http_code}'`)
	shell.Env = os.Environ()
	for value, name := range secrets {
		shell.Env = append(shell.Env, strings.TrimPrefix(name, "$")+"="+value)
	}
	out, err := shell.CombinedOutput()
	require.NoError(t, err, "%s: %s", line, out)
	lines := strings.Split(string(out), "\n")
	status, err := strconv.Atoi(lines[len(lines)-1])
	require.NoError(t, err, "%s", out)
	return status
}
