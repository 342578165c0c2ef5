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

// wrongSetup is a configuration or a server with one mistake, and the one line in which doctor names it.
type wrongSetup struct {
	name   string
	change func(*testing.T, *config.Config)
	text   func(string) string // changes the file
	args   []string
	alone  bool // it sets a variable of the environment, before those that run at the same time
	code   int
	says   string // matches the line
}

// setups make wrong set-ups of one reference.
type setups struct {
	server *reference.Server
	ca     *authority
}

func (s setups) configuration(t *testing.T) *config.Config {
	cfg := config.Default()
	describe(&cfg, s.server)
	cfg.AgentTarget, cfg.Timeouts.Request = s.server.AgentURL(), 2*time.Second
	cfg.Create.Body = maps.Clone(cfg.Create.Body)
	return &cfg
}

// agentAlone leaves the control plane out of a configuration.
func agentAlone(_ *testing.T, c *config.Config) {
	c.Target, c.Create, c.Credentials = "", config.Create{}, config.Credentials{}
}

// at configures the control plane alone, at the URL.
func at(address string) func(*testing.T, *config.Config) {
	return func(_ *testing.T, c *config.Config) { c.Target, c.AgentTarget = address, "" }
}

// behind has a layer in front of the reference, with TLS if that is not nil, and configures the control plane alone.
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
	return &tls.Config{Certificates: []tls.Certificate{s.ca.issueUntil("server", host, until)}}
}

func (s setups) trusted(c *config.Config) { c.TLS.CA = s.ca.file }

// answering answers all requests alike.
func answering(status int, header, value, body string) func(http.Handler) http.Handler {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set(header, value)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
}

// demanding refuses requests without the header.
func demanding(header string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(header) == "" {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// below serves at a path alone.
func below(prefix string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		all := http.NewServeMux()
		all.Handle(prefix+"/", http.StripPrefix(prefix, next))
		return all
	}
}

func silent(http.Handler) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
}

// through configures a proxy that answers every request with the status, before a host that only it knows.
func through(scheme string, status int) func(*testing.T, *config.Config) {
	return func(t *testing.T, c *config.Config) {
		proxy := httptest.NewServer(answering(status, "Content-Type", "text/plain", "no")(nil))
		t.Cleanup(proxy.Close)
		c.Target, c.AgentTarget, c.Proxy = scheme+"://control.invalid", "", proxy.URL
	}
}

func adding(line string) func(string) string {
	return func(text string) string { return text + line + "\n" }
}

// doctored runs doctor with the configuration and returns its exit code and the lines that it prints.
func doctored(t *testing.T, text string, args ...string) (code int, lines []string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "vendor.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	var out bytes.Buffer
	code = execute(t.Context(), append([]string{"doctor", "--config", file}, args...), streams{out: &out, err: &out})
	return code, strings.Split(strings.TrimSpace(out.String()), "\n")
}

// wrong returns the lines that name something wrong: problems and notes, and mistakes in the configuration. Those of a
// right set-up are not among them.
func wrong(lines, usual []string) []string {
	is := regexp.MustCompile(`^(problem|note|agentconform:) `)
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !is.MatchString(line) || slices.Contains(usual, line) })
}

// TestDoctorNamesEachWrongSetup: each is named in exactly one line, with the key or the place that mends it, and where
// it is known with who can mend it.
func TestDoctorNamesEachWrongSetup(t *testing.T) {
	server, err := reference.Start(t.Context(), reference.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	s := setups{server: server, ca: newAuthority(t)}
	var usual []string
	for _, change := range []func(*testing.T, *config.Config){func(*testing.T, *config.Config) {}, agentAlone, at(server.ControlPlaneURL())} {
		c := s.configuration(t)
		change(t, c)
		text, err := c.YAML()
		require.NoError(t, err)
		code, lines := doctored(t, string(text), "--try")
		require.Zero(t, code, "%s", lines)
		require.False(t, slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "problem") }))
		for _, line := range lines {
			usual = append(usual, compressed(line))
		}
	}
	all := slices.Concat(s.unreached(), s.refused(), s.elsewhere(), s.mistaken(), s.agents())
	assert.GreaterOrEqual(t, len(all), 40)
	for _, w := range all {
		t.Run(w.name, func(t *testing.T) {
			if !w.alone {
				t.Parallel()
			}
			c := s.configuration(t)
			if w.change != nil {
				w.change(t, c)
			}
			yaml, err := c.YAML()
			require.NoError(t, err)
			text := string(yaml)
			if w.text != nil {
				text = w.text(text)
			}
			code, lines := doctored(t, text, w.args...)
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

// compressed is a line of doctor without the alignment of its columns.
func compressed(line string) string { return regexp.MustCompile(` {2,}`).ReplaceAllString(line, " ") }
