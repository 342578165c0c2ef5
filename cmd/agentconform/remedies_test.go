package main

import (
	"crypto/tls"
	"encoding/pem"
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

// advice is the expected advice of doctor and a test run for a wrong set-up, as regular expressions, with the exit code
// of the test run. It also has the change of the configuration that both ask for.
type advice struct {
	doctor, run string
	code        int
	remedy      func(*config.Config)
}

// remedied is a wrong set-up that becomes correct if each piece of advice is followed.
type remedied struct {
	name   string
	change func(*testing.T, *config.Config)
	advice []advice
}

// TestRemediesHelp checks that doctor and a test run name the remedy of each wrong set-up in one line. After the remedy
// is applied, the next test run must pass or name another remedy.
func TestRemediesHelp(t *testing.T) {
	t.Parallel()
	server, err := reference.Start(t.Context(), reference.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	s := setups{server: server, ca: newAuthority(t)}
	for _, r := range slices.Concat(s.wrongAddresses(), s.otherServers(t), s.wrongCredentials(t)) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := s.configuration(t)
			r.change(t, c)
			file, out := filepath.Join(t.TempDir(), "vendor.yaml"), t.TempDir()
			tested := func() (code int, headline string) {
				code, printed := command(t, "run", "--config", file, "--only", "CP-CREATE-1,AS-THREAD-1,E2E-1", "--out", out)
				return code, regexp.MustCompile(`(?m)^. (conformant|non-conformant|incomplete) .*$`).FindString(printed)
			}
			for _, a := range r.advice {
				require.NoError(t, os.WriteFile(file, c.YAML(), 0o600))
				_, printed := command(t, "doctor", "--config", file)
				assert.LessOrEqual(t, strings.Count("\n"+printed, "\nproblem"), 1, printed)
				assert.Regexp(t, "(?m)^(problem|note|missing) .*"+a.doctor, printed)
				code, headline := tested()
				assert.Equal(t, a.code, code)
				assert.Regexp(t, a.run, headline)
				a.remedy(c)
			}
			require.NoError(t, os.WriteFile(file, c.YAML(), 0o600))
			code, headline := tested()
			assert.Zero(t, code, headline)
		})
	}
}

// TestHintOfARefusal checks the hint of a refusal whose status is not the configured one: it asks to correct the key,
// which is set.
func TestHintOfARefusal(t *testing.T) {
	t.Parallel()
	server, err := reference.Start(t.Context(), reference.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	c := setups{server: server}.configuration(t)
	agentAlone(t, c)
	c.Agent.RejectedStatus = config.Always(403)
	file := filepath.Join(t.TempDir(), "vendor.yaml")
	require.NoError(t, os.WriteFile(file, c.YAML(), 0o600))
	code, printed := command(t, "run", "--config", file, "--only", "AS-AUTH-1", "--out", t.TempDir())
	assert.Equal(t, 1, code)
	assert.Regexp(t, `(?m)^     Hint      correct agent.rejected_status if the handler chooses this status$`, printed)
}

// wrongAddresses returns set-ups in which the request does not reach the target, or reaches another server.
func (s setups) wrongAddresses() []remedied {
	long := time.Now().Add(1000 * time.Hour)
	plane, agent := s.server.ControlPlaneURL(), s.server.AgentURL()
	toPlane := func(c *config.Config) { c.Target = plane }
	toAgent := func(c *config.Config) { c.AgentTarget = agent }
	scheme := func(from, to string) func(*config.Config) {
		return func(c *config.Config) { c.Target = strings.Replace(c.Target, from, to, 1) }
	}
	const noTLS = `the server does not speak TLS: set target to http://127.0.0.1:\d+$`
	const expects = `expects https[:;] set target to https://127.0.0.1:\d+$`
	const authority = `unknown authority; set tls.ca to a file with that certificate \(it is self-signed\)$`
	verified := advice{authority, authority, 3, s.trusted}
	other := func(c *config.Config) { c.TLS.CA = filepath.Join(filepath.Dir(s.ca.file), "other.pem") }
	return []remedied{
		{"base path", at(plane + "/api"), []advice{{`set target to ` + plane + `$`, `set target to it$`, 3, toPlane}}},
		{"base path of the agent server", agentAt(agent + "/more"),
			[]advice{{`set agent_target to ` + agent + `$`, `set agent_target to it$`, 3, toAgent}}},
		{"no server", at("http://127.0.0.1:1"), []advice{{`start the target, or correct target$`,
			`connection refused; start the target, or correct target$`, 3, toPlane}}},
		{"no agent server", func(_ *testing.T, c *config.Config) { c.AgentTarget = "http://127.0.0.1:1" },
			[]advice{{`start the target, or correct agent_target$`, `connection refused; start the target, or correct agent_target$`, 3, toAgent}}},
		{"http to https, with a certificate that is not trusted",
			s.behind(plainly, s.certificate("127.0.0.1", long), scheme("https:", "http:")),
			[]advice{{expects, expects, 3, scheme("http:", "https:")}, verified}},
		{"https to http", s.behind(plainly, nil, scheme("http:", "https:")), []advice{{noTLS, noTLS, 3, scheme("https:", "http:")}}},
		{"another authority", func(t *testing.T, c *config.Config) {
			s.behind(plainly, s.certificate("127.0.0.1", long), other)(t, c)
			der := httptest.NewUnstartedServer(nil)
			der.StartTLS()
			t.Cleanup(der.Close)
			require.NoError(t, os.WriteFile(c.TLS.CA, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der.Certificate().Raw}), 0o600))
		}, []advice{{`add that certificate \(it is self-signed\) to the file of tls.ca$`,
			`add that certificate \(it is self-signed\) to the file of tls.ca$`, 3, s.trusted}}},
	}
}

// agentAt configures only an agent server at the URL.
func agentAt(address string) func(*testing.T, *config.Config) {
	return func(t *testing.T, c *config.Config) {
		agentAlone(t, c)
		c.AgentTarget = address
	}
}

// beforeAPI serves a page or a redirect for all paths, except those below a prefix.
func beforeAPI(prefix string, other http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		all := http.NewServeMux()
		all.Handle(prefix+"/", http.StripPrefix(prefix, next))
		all.Handle("/", other)
		return all
	}
}

// otherServers returns set-ups with a different server at an address: the other half of the interface, an HTML page, a
// redirect, or a gateway.
func (s setups) otherServers(t *testing.T) []remedied {
	plane, agent := s.server.ControlPlaneURL(), s.server.AgentURL()
	long := time.Now().Add(1000 * time.Hour)
	page := answering(200, "Content-Type", "text/html", "<html>")(nil).ServeHTTP
	toAgent := func(c *config.Config) { c.AgentTarget = agent }
	below := func(path string) func(*config.Config) { return func(c *config.Config) { c.Target += path } }
	to := func(location string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, location+r.URL.RequestURI(), http.StatusPermanentRedirect)
		}
	}
	login := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Header.Get("X-Gateway") != "":
				next.ServeHTTP(w, r)
			case r.URL.Path == "/login":
				page(w, r)
			default:
				http.Redirect(w, r, "/login", http.StatusFound)
			}
		})
	}
	// gateway puts a layer in front of the agent server.
	gateway := func(layer func(http.Handler) http.Handler) string {
		to, err := url.Parse(plane)
		require.NoError(t, err)
		server := httptest.NewServer(layer(httputil.NewSingleHostReverseProxy(to)))
		t.Cleanup(server.Close)
		return server.URL + strings.TrimPrefix(agent, plane)
	}
	header := map[string]string{"X-Gateway": "the-gateway-key"}
	withHeader := func(c *config.Config) { c.Headers.AgentServer = header }
	secure := httptest.NewUnstartedServer(nil)
	secure.TLS = s.certificate("127.0.0.1", long)
	secure.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, _ := url.Parse(plane)
		httputil.NewSingleHostReverseProxy(to).ServeHTTP(w, r)
	})
	secure.StartTLS()
	t.Cleanup(secure.Close)
	const half = `serves a control plane; set agent_target to the address of a deployed agent server$`
	const isPlane = `is a control plane \(POST /v2/deployments returns 401\), not an agent server: set agent_target to the ` +
		`address of a deployed agent server, or target to it$`
	const isAgent = `is an agent server \(POST /threads returns 401\), not a control plane: set agent_target to it, and target ` +
		`to the control plane if there is one$`
	onlyAgent := func(next http.Handler) http.Handler { // its host has no control plane
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/agents/") {
				next.ServeHTTP(w, r)
				return
			}
			http.NotFound(w, r)
		})
	}
	const header403 = `if a gateway .* requires a header with every request, set headers.agent_server$`
	return []remedied{
		{"the control plane", agentAt(plane), []advice{{half, isPlane, 3, toAgent}}},
		{"the deployments", agentAt(plane + "/v2/deployments"), []advice{{`has the path of a control plane; set agent_target to the ` +
			`address of a deployed agent server$`, isPlane, 3, toAgent}}},
		{"an agent server", at(gateway(onlyAgent)), []advice{{`serves an agent server; set agent_target to it, and target to the ` +
			`control plane if there is one$`, isAgent, 3, func(c *config.Config) { c.AgentTarget, c.Target = c.Target, plane }}}},
		{"a web site with the API below it", s.behind(beforeAPI("/api", page), nil, nil), []advice{{`set target to \S+/api$`,
			`\(POST /v2/deployments returns 200\), but \S+/api does: set target to it$`, 3, below("/api")}}},
		{"a redirect to another path", s.behind(beforeAPI("/app", to("/app")), nil, nil), []advice{{
			`redirected to \S+; requests other than GET are not sent there; if all requests belong there, set target to \S+/app$`,
			`\(POST /v2/deployments returns 308\), but \S+/app does: set target to it$`, 3, below("/app")}}},
		{"a redirect to https", s.behind(beforeAPI("/none", to(secure.URL)), nil, s.trusted), []advice{{
			`if that is the target, set target to ` + secure.URL + `$`,
			`redirects every request to ` + secure.URL + ` \(status 308\): set target to it if that is the target$`, 3,
			func(c *config.Config) { c.Target = secure.URL }}}},
		{"a login page", s.behind(login, nil, nil), []advice{{
			`got a redirect to \S+/login": .*; if a gateway requires a header in place of a login, set headers.control_plane$`,
			`redirects every request to "/login" .*, or headers.control_plane if a gateway requires a header in place of the login$`, 3,
			func(c *config.Config) { c.Headers.ControlPlane = header }}}},
		{"a gateway of the agent server", agentAt(gateway(demanding("X-Gateway", ""))), []advice{{header403,
			`refuses the configured credentials: correct users.0.token \(\S+\), or set headers.agent_server if a gateway `, 3,
			withHeader}}},
		{"a gateway of only one agent server", func(_ *testing.T, c *config.Config) { c.AgentTarget = gateway(demanding("X-Gateway", "")) },
			[]advice{{header403, `refuses users that the agent server of a deployment accepts: correct agent_target, or set ` +
				`headers.agent_server if a gateway requires a header; it returned status 403`, 3, withHeader}}},
		{"an agent server that does not respond", func(_ *testing.T, c *config.Config) {
			c.AgentTarget, c.Timeouts.Request = gateway(silent), time.Second
		}, []advice{{`no response within 1s`, `does not respond: no response within 1s; start the target, or raise timeouts.request`, 3, toAgent}}},
	}
}

// closingTLS returns the address of a server that closes connections of clients without TLS.
func (s setups) closingTLS(t *testing.T) string {
	listener, err := tls.Listen("tcp", "127.0.0.1:0", s.certificate("127.0.0.1", time.Now().Add(time.Hour)))
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.(*tls.Conn).HandshakeContext(t.Context())
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

// wrongCredentials returns set-ups with credentials that are missing or wrong, and with headers that are not sent.
func (s setups) wrongCredentials(t *testing.T) []remedied {
	right := s.configuration(t)
	given := func(c *config.Config) {
		c.Credentials, c.Users, c.Create = right.Credentials, right.Users, right.Create
	}
	set := func(change func(*config.Config)) func(*testing.T, *config.Config) {
		return func(_ *testing.T, c *config.Config) { change(c) }
	}
	alone := func(change func(*config.Config)) func(*testing.T, *config.Config) {
		return func(t *testing.T, c *config.Config) {
			agentAlone(t, c)
			change(c)
		}
	}
	users := func(c *config.Config) { c.Users = right.Users }
	const key = `credentials.*(check|correct) credentials.api_key \(\S+vendor.yaml:\d+\), sent as X-Api-Key`
	const token = `credentials.*(check|correct) users.0.token \(\S+vendor.yaml:\d+\)`
	front := ""
	raw := s.closingTLS(t)
	return []remedied{
		{"http to a server that closes the connection", at("http://" + raw), []advice{{`set target to https://` + raw + `$`,
			`set target to https://` + raw + `$`, 3, func(c *config.Config) { c.Target = s.server.ControlPlaneURL() }}}},
		{"wrong key", set(func(c *config.Config) { c.Credentials = config.Credentials{APIKey: "a-key-that-is-wrong"} }), []advice{{key, key, 3, given}}},
		{"no key", set(func(c *config.Config) { c.AgentTarget, c.Credentials = "", config.Credentials{} }),
			[]advice{{`set credentials.api_key \(AGENTCONFORM_CREDENTIALS_API_KEY\)$`, `set credentials.api_key$`, 3, given}}},
		{"wrong token", alone(func(c *config.Config) { c.Users[0].Token = "a-token-that-is-wrong" }), []advice{{token, token, 3, users}}},
		{"no users", alone(func(c *config.Config) { c.Users = nil }), []advice{{`set users: the first creates the data`, `set users$`, 3, users}}},
		{"nothing to create", func(_ *testing.T, c *config.Config) { c.AgentTarget, c.Create = "", config.Create{} },
			[]advice{{`create\.body `, `set create.body$`, 3, given}}},
		{"a gateway at another port", func(t *testing.T, c *config.Config) {
			var reference http.Handler
			gateway, with := behindFront(t, "127.0.0.1", "http", func(h http.Handler) http.Handler {
				reference = h
				return demanding("X-Gateway", "the-gateway-key")(h)
			})
			gateway.Start()
			plane := httptest.NewServer(reference)
			t.Cleanup(plane.Close)
			front = strings.TrimPrefix(gateway.URL, "http://")
			*c = *with
			c.Target, c.AgentTarget, c.Headers.AgentServer = plane.URL, "", map[string]string{"X-Gateway": "the-gateway-key"}
		}, []advice{{`header_hosts .*; set header_hosts to the host of the agent server if that is another one$`,
			`the agent server refuses the configured credentials: headers.agent_server do not reach it: ` +
				`add "127.0.0.1:\d+" to header_hosts if it is part of the target`, 3,
			func(c *config.Config) { c.HeaderHosts = []string{front} }}}},
	}
}
