package main

import (
	"cmp"
	"crypto/tls"
	"encoding/base64"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps"
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
	wrap := o.WrapHTTP
	o.WrapHTTP = func(h http.Handler) http.Handler {
		if wrap != nil {
			h = wrap(h)
		}
		f.handler = h
		return h
	}
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
	c.Certificates = []tls.Certificate{ca.issue("server", f.host)}
	f.TLS, f.EnableHTTP2 = c, true
	f.StartTLS()
}

// some are requirements of both halves.
var some = []string{"CP-GET-1", "CP-LIST-3", "CP-AUTH-1", "AS-THREAD-1", "AS-AUTH-1", "E2E-1"}

// diagnosis is what doctor says of a subject.
func diagnosis(t *testing.T, cfg *config.Config, subject string) string {
	t.Helper()
	require.NoError(t, cfg.Complete())
	o := options(t, cfg)
	e, err := steps.Examine(t.Context(), cfg, o.Catalogue, o.Oracle, doctor.Options{})
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
		if r.Method != http.MethodConnect {
			w.Header().Set("X-Proxy-Saw", r.Header.Get("Proxy-Authorization"))
			back.ServeHTTP(w, r)
			return
		}
		to, err := net.Dial("tcp", address)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		from, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			_ = to.Close()
			return
		}
		_, _ = io.WriteString(from, "HTTP/1.1 200 Connection established\r\n\r\n")
		go func() {
			_, _ = io.Copy(to, buffered)
			_ = to.Close()
		}()
		_, _ = io.Copy(from, to)
		_ = from.Close()
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
		"everything":          behindEverything(t, withFaults(t, "limit-101-is-served")),
		"a proxy":             proxied(t, "http", withFaults(t, "limit-101-is-served")),
		"TLS through a proxy": proxied(t, "https", withFaults(t, "limit-101-is-served")),
		"a socket":            socketed(t, withFaults(t, "limit-101-is-served")),
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
