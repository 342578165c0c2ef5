package main

import (
	"bytes"
	"crypto/tls"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/steps/config"
)

// wrongSetup is a configuration or a server with one mistake, and the line in which doctor reports it.
type wrongSetup struct {
	name   string
	change func(*testing.T, *config.Config)
	args   []string
	code   int
	says   string // matches the line
}

// setups creates wrong set-ups of a reference server.
type setups struct {
	server *reference.Server
	ca     *authority
}

func (s setups) configuration(t *testing.T) *config.Config {
	cfg := config.Default()
	describe(&cfg, s.server)
	cfg.AgentTarget, cfg.Timeouts.Request = s.server.AgentURL(), 30*time.Second
	cfg.Create.Body = maps.Clone(cfg.Create.Body)
	return &cfg
}

// agentAlone removes the control plane from a configuration.
func agentAlone(_ *testing.T, c *config.Config) {
	c.Target, c.Create, c.Credentials = "", config.Create{}, config.Credentials{}
}

// at configures only a control plane at the URL.
func at(address string) func(*testing.T, *config.Config) {
	return func(_ *testing.T, c *config.Config) { c.Target, c.AgentTarget = address, "" }
}

// behind puts a layer in front of the reference, with TLS if secured is not nil, and configures only the control plane.
func (s setups) behind(layer func(http.Handler) http.Handler, secured *tls.Config, change func(*config.Config)) func(*testing.T, *config.Config) {
	return func(t *testing.T, c *config.Config) {
		to, err := url.Parse(s.server.ControlPlaneURL())
		require.NoError(t, err)
		server := httptest.NewUnstartedServer(layer(httputil.NewSingleHostReverseProxy(to)))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		if secured != nil {
			server.TLS = secured
			server.StartTLS()
		} else {
			server.Start()
		}
		t.Cleanup(server.Close)
		c.Target, c.AgentTarget = server.URL, ""
		if change != nil {
			change(c)
		}
	}
}

func (s setups) certificate(host string, until time.Time) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{s.ca.issue(host, until)}}
}

func (s setups) trusted(c *config.Config) { c.TLS.CA = s.ca.file }

// answering sends the same response to all requests.
func answering(status int, header, value, body string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
}

// demanding refuses requests without the header, or with another value if one is given.
func demanding(header, value string) func(http.Handler) http.Handler {
	return before(func(w http.ResponseWriter, r *http.Request) bool {
		sent := r.Header.Get(header)
		refused := sent == "" || value != "" && sent != value
		if refused {
			w.WriteHeader(http.StatusForbidden)
		}
		return refused
	})
}

// below serves only below a path.
func below(prefix string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		all := http.NewServeMux()
		all.Handle(prefix+"/", http.StripPrefix(prefix, next))
		return all
	}
}

func silent(http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // before that, the end of the connection is not noticed
		<-r.Context().Done()
	})
}

// through configures a proxy that returns the status for every request. The host name of the target does not exist.
func through(scheme string, status int) func(*testing.T, *config.Config) {
	return func(t *testing.T, c *config.Config) {
		proxy := httptest.NewServer(answering(status, "Content-Type", "text/plain", "no")(nil))
		t.Cleanup(proxy.Close)
		c.Target, c.AgentTarget, c.Proxy = scheme+"://control.invalid", "", proxy.URL
	}
}

// doctored runs doctor with the configuration and returns its exit code and the lines that it prints.
func doctored(t *testing.T, text string, args ...string) (code int, lines []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "vendor.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	code, printed := command(t, append([]string{"doctor", "--config", file}, args...)...)
	return code, strings.Split(strings.TrimSpace(printed), "\n")
}

// wrong returns the lines with problems, notes and mistakes in the configuration, except those of a correct set-up.
func wrong(lines, usual []string) (all []string) {
	pattern := regexp.MustCompile(`^(problem|note|agentconform:) `)
	for _, line := range lines {
		if pattern.MatchString(line) && !slices.Contains(usual, line) {
			all = append(all, line)
		}
	}
	return all
}

// TestDoctorNamesEachWrongSetup checks that doctor reports each wrong set-up in exactly one line, with the key or the
// place to change.
func TestDoctorNamesEachWrongSetup(t *testing.T) {
	t.Parallel()
	server, err := reference.Start(t.Context(), reference.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	s := setups{server: server, ca: newAuthority(t)}
	var usual []string
	for _, change := range []func(*testing.T, *config.Config){func(*testing.T, *config.Config) {}, agentAlone, at(server.ControlPlaneURL())} {
		c := s.configuration(t)
		change(t, c)
		text := c.YAML()
		code, lines := doctored(t, string(text), "--try")
		require.Zero(t, code, "%s", lines)
		require.False(t, slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "problem") }))
		for _, line := range lines {
			usual = append(usual, compressed(line))
		}
	}
	for _, w := range slices.Concat(s.unreached(), s.refused(), s.elsewhere(), s.agents()) {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			c := s.configuration(t)
			w.change(t, c)
			yaml := c.YAML()
			code, lines := doctored(t, string(yaml), w.args...)
			for i := range lines {
				lines[i] = compressed(lines[i])
			}
			assert.Equal(t, w.code, code)
			named := wrong(lines, usual)
			if assert.Len(t, named, 1, "%s", strings.Join(lines, "\n")) {
				assert.Regexp(t, w.says, named[0])
			}
		})
	}
}

// compressed removes the column alignment from a line of doctor.
func compressed(line string) string { return regexp.MustCompile(` {2,}`).ReplaceAllString(line, " ") }

func plainly(h http.Handler) http.Handler { return h }

// unreached returns set-ups in which the request does not reach the target: the address, TLS, proxies.
func (s setups) unreached() []wrongSetup {
	long := time.Now().Add(1000 * time.Hour)
	mutual := s.certificate("127.0.0.1", long)
	mutual.ClientAuth, mutual.ClientCAs = tls.RequireAndVerifyClientCert, s.ca.pool
	plane := s.server.ControlPlaneURL()
	socket := func(_ *testing.T, c *config.Config) {
		c.Target, c.AgentTarget, c.Socket.ControlPlane = "http://localhost", "", "/nonexistent/socket"
	}
	deadProxy := func(_ *testing.T, c *config.Config) {
		c.Target, c.AgentTarget, c.Proxy = "http://control.invalid", "", "http://127.0.0.1:1"
	}
	return []wrongSetup{
		{name: "unknown host", change: at("http://control.invalid"), code: 3, says: `DNS: .*; correct the host name in target; .* set proxy; .* set resolve`},
		{name: "no socket", change: socket, code: 3, says: `TCP: no such file or directory; start the target, or correct socket`},
		{name: "silent server", change: s.behind(silent, nil, func(c *config.Config) { c.Timeouts.Request = time.Second }), code: 3, says: `no response within 1s; check firewalls and proxies, or raise timeouts.request$`},
		{name: "certificates not verified", change: s.behind(plainly, s.certificate("127.0.0.1", long), func(c *config.Config) { c.TLS.Insecure = true }), says: `^note TLS of target .* not verified: tls.insecure is true; set tls.ca`},
		{name: "expired certificate", change: s.behind(plainly, s.certificate("127.0.0.1", time.Now().Add(-time.Hour)), s.trusted), code: 3, says: `TLS: .*expired.*; renew the certificate`},
		{name: "certificate of another name", change: s.behind(plainly, s.certificate("other.example", long), s.trusted), code: 3, says: `TLS: .*; .*set tls.server_name`},
		{name: "no client certificate", change: s.behind(plainly, mutual, s.trusted), code: 3, says: `TLS: .*; set tls.cert and tls.key if the server wants a client certificate`},
		{name: "proxy down", change: deadProxy, code: 3, says: `cannot connect to the proxy: .*; start the proxy, or correct proxy`},
		{name: "proxy wants a password", change: through("http", http.StatusProxyAuthRequired), code: 3, says: `407 .*; write user name and password into the URL of proxy$`},
		{name: "proxy refuses to connect", change: through("https", http.StatusForbidden), code: 3, says: `403.*; .*proxy`},
		{name: "proxy without a way", change: through("http", http.StatusBadGateway), code: 3, says: `status 502; .*if a gateway or a proxy responds, start the server behind it, or correct target$`},
		{name: "CA file missing", change: func(_ *testing.T, c *config.Config) { c.TLS.CA = "/nonexistent/ca.pem" }, code: 2, says: `vendor.yaml:[0-9]+: tls.ca: the file /nonexistent/ca.pem cannot be used: .*; name a readable PEM file$`},
		{name: "port of fixtures taken", change: func(_ *testing.T, c *config.Config) {
			c.Create, c.Fixtures.Serve = config.Create{}, strings.TrimPrefix(plane, "http://")
		}, code: 2, says: `address already in use; choose another address with fixtures.serve$`},
	}
}

// refused returns set-ups in which the control plane refuses requests.
func (s setups) refused() []wrongSetup {
	with := func(change func(*config.Config)) func(*testing.T, *config.Config) {
		return func(_ *testing.T, c *config.Config) { change(c) }
	}
	key := s.server.Fixtures().Owner.APIKey
	return []wrongSetup{
		{name: "key under another scheme", change: with(func(c *config.Config) { c.Credentials = config.Credentials{Bearer: key} }), code: 3, says: `status 401 .*; check credentials.bearer \(\S+vendor.yaml:\d+\), sent as Authorization`},
		{name: "key with a word", change: with(func(c *config.Config) { c.Credentials = config.Credentials{APIKey: "Bearer " + key} }), code: 3, says: `status 401 .*; check credentials.api_key \(\S+vendor.yaml:\d+\), sent as X-Api-Key with the word Bearer; `},
		{name: "key in quotation marks", change: with(func(c *config.Config) { c.Credentials.APIKey = `"` + key + `"` }), code: 2, says: `credentials.api_key: begins and ends with a quotation mark; remove both$`},
		{name: "control plane without credentials", change: s.behind(answering(404, "Content-Type", "application/json", "{}"), nil, nil), says: `^note no credentials .*expected 401 or 403, got 404; CP-AUTH-1 may fail; check target`},
		{name: "one of several credentials wrong", change: with(func(c *config.Config) { c.Credentials.Bearer = "wrong-bearer" }), says: `^note credentials.bearer sent without the other credentials: status 401 with .*; CP-AUTH-4 will fail; check credentials.bearer \(\S+vendor.yaml:\d+\)$`},
		{name: "key of the other tenant wrong", change: with(func(c *config.Config) { c.OtherTenant = config.Credentials{APIKey: "a-key-that-is-wrong"} }), says: `^note other_tenant status 401 with .*; CP-AUTH-6 may fail; check other_tenant.api_key \(`},
		{name: "tenant missing", change: s.behind(demanding("X-Tenant-Id", ""), nil, func(c *config.Config) { c.Credentials = config.Credentials{APIKey: key} }), code: 3, says: `status 403 .*; .*set credentials.tenant_id`},
		{name: "tenant of another", change: with(func(c *config.Config) { c.Credentials.TenantID = "another-tenant" }), code: 3, says: `status 401 .*; .* credentials.tenant_id \(\S+vendor.yaml:\d+\), sent as X-Tenant-Id`},
		{name: "gateway header missing", change: s.behind(demanding("X-Gateway", ""), nil, nil), code: 3, says: `status 403 .*; .*; if a gateway in front of it requires a header with every request, set headers.control_plane$`},
		{name: "rate limited", change: s.behind(answering(429, "Retry-After", "3600", ""), nil, nil), code: 3, says: `; wait, or lift the target's rate limit for the tests$`},
		{name: "template of another type", change: with(func(c *config.Config) {
			c.Create.Body["source_revision_config"] = map[string]any{"repo_ref": 5, "graph_config_path": "agent.json"}
		}), code: 3, says: `create.body /source_revision_config/repo_ref: expected null or string, got 5; correct create.body`},
		{name: "template of an unknown source", change: with(func(c *config.Config) { c.Create.Body["source"] = "github" }), code: 2, says: `create.body.source: "github" is not a source of the interface; .*set vocabulary$`},
	}
}

// elsewhere returns set-ups with another server at the address.
func (s setups) elsewhere() []wrongSetup {
	plane := s.server.ControlPlaneURL()
	return []wrongSetup{
		{name: "path with the version", change: at(plane + "/v2"), code: 3, says: `; set target to ` + plane + `$`},
		{name: "the agent server", change: at(s.server.AgentURL()), code: 3, says: `; set target to ` + plane + `$`},
		{name: "path missing", change: s.behind(below("/platform"), nil, func(c *config.Config) {}), code: 3, says: `control plane .*got status 404 with 404 page not found; check target: is it the base URL, with its path prefix\?$`},
		{name: "a web site", change: s.behind(answering(200, "Content-Type", "text/html", "<html>"), nil, nil), code: 3, says: `HTML page; check target: is it the base URL, with its path prefix\?$`},
		{name: "redirect to another host", change: s.behind(answering(301, "Location", "https://moved.example/", ""), nil, nil), code: 3, says: `redirect to "https://moved.example/"; if that is the target, set target to its base URL; if a gateway requires a header in place of a login, set headers.control_plane$`},
		{name: "gateway without a server", change: s.behind(answering(502, "Content-Type", "text/plain", ""), nil, nil), code: 3, says: `status 502; .*start the server behind it, or correct target$`},
	}
}

// agents returns set-ups with mistakes about the agent server, its users and its graph.
func (s setups) agents() []wrongSetup {
	with := func(change func(*config.Config)) func(*testing.T, *config.Config) {
		return func(t *testing.T, c *config.Config) {
			agentAlone(t, c)
			change(c)
		}
	}
	plane := s.server.ControlPlaneURL()
	try := []string{"--try"}
	return []wrongSetup{
		{name: "agent path too short", change: with(func(c *config.Config) { c.AgentTarget = plane + "/agents" }), code: 3, says: `; check agent_target: is it the base URL, with its path prefix\?$`},
		{name: "path of the threads", change: with(func(c *config.Config) { c.AgentTarget += "/threads" }), code: 3, says: `/threads/threads: status 422 .*; set agent_target to ` + s.server.AgentURL() + `$`},
		{name: "token of the second user", change: with(func(c *config.Config) { c.Users[1].Token = "a-token-that-is-wrong" }), code: 3, says: `users.1 .* status 401 .*; check users.1.token \(\S+vendor.yaml:\d+\)`},
		{name: "token of the third user", change: with(func(c *config.Config) { c.Users[2].Token = "a-token-that-is-wrong" }), code: 3, says: `users.2 .* status 401 .*; check users.2.token \(\S+vendor.yaml:\d+\)`},
		{name: "third user is of the same team", change: with(func(c *config.Config) { c.Users[2].Fields = c.Users[0].Fields }), code: 2, says: `users.2.fields.team: is missing, or the team of users.0; set it`},
		{name: "second user is the first", change: with(func(c *config.Config) { c.Users[1].Token = c.Users[0].Token }), code: 2, says: `users.1.token: is that of users.0; use the token of another user`},
		{name: "identity of the second is that of the first", change: with(func(c *config.Config) { c.Users[1].Identity = c.Users[0].Identity }), code: 2, says: `users.1.identity: is that of users.0`},
		{name: "status of a refusal", change: with(func(c *config.Config) { c.Agent.RejectedStatus = config.Always(403) }), says: `^note refusals .* without credentials: expected 403, got 401: AS-AUTH-1 will fail; with an unknown token: .*AS-AUTH-2 will fail; .*; set agent.rejected_status to {missing: 401, invalid: 401, blocked: 403} `},
		{name: "status of a wrong token", change: with(func(c *config.Config) { c.Agent.RejectedStatus.Invalid = config.OneOrMore[int]{403} }), says: `^note refusals .* without credentials: status 401; with an unknown token: expected 403, got 401: AS-AUTH-2 will fail; with the blocked token: status 403; set agent.rejected_status to {missing: 401, invalid: 401, blocked: 403} `},
		{name: "blocked token is unknown", change: with(func(c *config.Config) { c.Agent.BlockedToken = "a-token-that-is-unknown" }), says: `^note refusals .* with the blocked token: expected 403, got 401: AS-AUTH-2 will fail; `},
		{name: "blocked token is accepted", change: with(func(c *config.Config) { c.Agent.BlockedToken, c.Users = c.Users[1].Token, c.Users[:1] }), says: `^note refusals .* with the blocked token: expected 403, got 200: AS-AUTH-2 will fail; check agent.blocked_token: `},
		{name: "no authentication handler", change: func(t *testing.T, c *config.Config) {
			open := httptest.NewServer(answering(200, "Content-Type", "application/json", "[]")(nil))
			t.Cleanup(open.Close)
			agentAlone(t, c)
			c.AgentTarget = open.URL
		}, says: `^note refusals .* expected 401, got 200: AS-AUTH-1 will fail; .*; name an authentication handler in auth.path of the graph configuration$`},
		{name: "assistant unknown", change: with(func(c *config.Config) { c.AssistantID = "other" }), args: try, code: 3, says: `does not know the assistant "other": set assistant_id to the name of the conformance graph; `},
		{name: "tokens exchanged", change: with(func(c *config.Config) {
			c.Users[0].Token, c.Users[1].Token = c.Users[1].Token, c.Users[0].Token
			c.Users = c.Users[:2]
		}), args: try, says: `^note users.0.identity a run of users.0 does not report "ada@example.org", got .*bob@example.org.*; exchange the tokens of users.0 and users.1 `},
		{name: "identity of the first user", change: with(func(c *config.Config) {
			c.Users[0].Identity, c.Users[2].Identity = "eve@example.org", "eve@example.org"
		}), args: try, says: `^note users.0.identity .*AS-AUTH-6 will fail; correct users.0.identity, users.0.token or the graph$`},
		{name: "graph without a word", change: withGraph("graph-calls-no-tool"), args: try, says: `^note graph: tool .*; correct the graph: requirements that need this word are not judged$`},
		{name: "server that fails with a word", change: func(t *testing.T, c *config.Config) {
			_, with := startAgent(t, reference.Options{WrapHTTP: []func(http.Handler) http.Handler{before(refusesTool)}})
			*c = *with
		}, args: try, code: 3, says: `^problem graph: tool .*500`},
		{name: "graph that always fails", change: withGraph("graph-raises-without-a-word"), args: try, code: 3, says: `^problem graph: echo .* does not answer`},
		{name: "another graph", change: withGraph("graph-greets"), args: try, code: 3, says: `^problem graph: echo .*the graph "conformance" does not repeat its input: .*; deploy the conformance graph under this name, or set assistant_id to its name; `},
	}
}

// refusesTool returns 500 for a run with the word tool.
func refusesTool(w http.ResponseWriter, r *http.Request) bool {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	if err != nil || !bytes.Contains(body, []byte("tool")) {
		return false
	}
	w.WriteHeader(http.StatusInternalServerError)
	return true
}

// withGraph configures only an agent server with a faulty graph.
func withGraph(fault string) func(*testing.T, *config.Config) {
	return func(t *testing.T, c *config.Config) {
		_, with := startAgent(t, withFaults(t, fault))
		*c = *with
	}
}
