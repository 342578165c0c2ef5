package main

import (
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/steps/config"
)

// advice is what doctor and a test run say about a wrong set-up, as regular expressions, with the exit code of the test
// run, and the change of the configuration that both ask for.
type advice struct {
	doctor, run string
	code        int
	remedy      func(*config.Config)
}

// remedied is a wrong set-up that becomes right if each advice is followed.
type remedied struct {
	name   string
	change func(*testing.T, *config.Config)
	advice []advice
}

// TestRemediesHelp checks that doctor and a test run name the remedy of each wrong set-up in one line, and that the next
// test run passes, or names another remedy, if it is applied.
func TestRemediesHelp(t *testing.T) {
	t.Parallel()
	server, err := reference.Start(t.Context(), reference.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	s := setups{server: server, ca: newAuthority(t)}
	for _, r := range append(s.wrongAddresses(), s.wrongCredentials(t)...) {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			c := s.configuration(t)
			r.change(t, c)
			file, out := filepath.Join(t.TempDir(), "vendor.yaml"), t.TempDir()
			tested := func() (code int, headline string) {
				code, printed := command(t, "run", "--config", file, "--only", "CP-CREATE-1,AS-THREAD-1", "--out", out)
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

// wrongAddresses returns set-ups in which the target is not reached, or something else is.
func (s setups) wrongAddresses() []remedied {
	long := time.Now().Add(1000 * time.Hour)
	plane, agent := s.server.ControlPlaneURL(), s.server.AgentURL()
	toPlane := func(c *config.Config) { c.Target = plane }
	toAgent := func(c *config.Config) { c.AgentTarget = agent }
	agentAt := func(address string) func(*testing.T, *config.Config) {
		return func(t *testing.T, c *config.Config) {
			agentAlone(t, c)
			c.AgentTarget = address
		}
	}
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
		{"another server", agentAt(plane), []advice{{`check agent_target: is it the base URL, with its path prefix\?$`,
			`every response had status 404: check that \S+ \(agent_target\) is the base URL`, 1, toAgent}}},
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

// closingTLS returns the address of a server that closes connections on which a client does not speak TLS.
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
