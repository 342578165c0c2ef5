package main

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/evidence"
)

// The requirements with which the examples are tested at the reference: some of each half.
var (
	ofControlPlane = []string{"CP-AUTH-1", "CP-CREATE-1", "CP-CREATE-3", "CP-LIST-3"}
	ofAgentServer  = []string{"AS-THREAD-1", "AS-RUN-4", "AS-STATE-1", "AS-ROLLBACK-3"}
	ofUsers        = []string{"AS-AUTH-2", "AS-AUTH-6", "AS-AUTHZ-1"}
)

// TestExamples loads each file of docs/examples with the variables at its top, and tests the bundled reference with it.
// The addresses, and sources that only the reference can build, are replaced.
func TestExamples(t *testing.T) {
	t.Parallel()
	examples := map[string]struct {
		reference reference.Options
		change    func(t *testing.T, c *config.Config, server *reference.Server)
		only      []string
	}{
		"agent-server.yaml": {reference.Options{}, func(_ *testing.T, c *config.Config, server *reference.Server) {
			c.AgentTarget = server.AgentURL()
		}, append(ofAgentServer, ofUsers...)},
		"partial-agent-server.yaml": {reference.Options{}, func(t *testing.T, c *config.Config, server *reference.Server) {
			c.AgentTarget = proxyTo(t, server.AgentURL(), func(r *http.Request) bool {
				r.Header.Set("Authorization", "Bearer "+server.Fixtures().Users[0].Token)
				return true
			})
		}, ofAgentServer},
		"control-plane.yaml": {reference.Options{}, useRepository, append(ofControlPlane, "CP-AUTH-6", "CP-UPDATE-1", "CP-UPDATE-9")},
		"deployed-agents.yaml": {reference.Options{}, useRepository,
			append(append(ofControlPlane, "CP-CREATE-5", "CP-POLL-4", "E2E-1"), ofUsers...)},
		"fixtures.yaml": {reference.Options{}, func(_ *testing.T, c *config.Config, server *reference.Server) {
			c.Target = server.ControlPlaneURL()
			c.Fixtures = config.Fixtures{Serve: "127.0.0.1:0", Graph: config.Starlark}
		}, append(append(ofControlPlane, "E2E-1"), ofUsers...)},
		"self-hosted.yaml": {reference.Options{Edition: config.SelfHosted}, func(_ *testing.T, c *config.Config, server *reference.Server) {
			set := server.Fixtures()
			c.Target = server.ControlPlaneURL()
			c.Create.Body["secrets"] = set.Create["secrets"]
			c.Create.Body["source_revision_config"] = set.Create["source_revision_config"]
			c.Alternatives.ImageURI = set.SecondImageURI
		}, append(append(ofControlPlane, "CP-CREATE-6", "CP-UPDATE-3", "E2E-1"), ofUsers...)},
		"production.yaml": {reference.Options{}, func(t *testing.T, c *config.Config, server *reference.Server) {
			c.Target = server.ControlPlaneURL()
			c.ReadOnly, c.Existing.Deployment, c.Rate = true, keptDeployment(t, server), ""
		}, []string{"CP-AUTH-1", "CP-GET-2", "CP-LIST-3"}},
		"gateway.yaml": {reference.Options{}, func(t *testing.T, c *config.Config, server *reference.Server) {
			useRepository(t, c, server)
			c.Target = proxyTo(t, server.ControlPlaneURL(), func(r *http.Request) bool {
				r.Header["X-Api-Key"] = r.Header["X-Team-Key"]
				return r.Header.Get("X-Gateway-Key") == secretOfGateway
			})
		}, append(append(ofControlPlane, "E2E-1"), ofUsers...)},
		"other-words.yaml": {withFaults(t, "branded-words"), useRepository, append(append(ofControlPlane, "E2E-1"), ofUsers...)},
	}
	files, err := filepath.Glob("../../docs/examples/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, len(examples))
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			example := examples[name]
			require.NotEmpty(t, example.only, "no row tests it")
			server, known := start(t, example.reference)
			c, err := config.Load(config.Sources{File: file, Environ: variablesOf(t, file, known)})
			require.NoError(t, err)
			example.change(t, c, server)
			c.Timeouts, c.Polling, c.Patience = known.Timeouts, known.Polling, known.Patience
			require.NoError(t, c.Complete())
			o := options(t, c, example.only...)
			if c.Fixtures.Serve != "" {
				o.Fixtures = serveFor(t, c)
			}
			r := run(t, o)
			assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
			for _, q := range r.Requirements {
				if q.Skip == nil || q.Skip.Kind != reports.NotSelected {
					assert.Equal(t, reports.Passed, q.Verdict, "%s: %s", q.ID, q.Reason)
				}
			}
		})
	}
}

// secretOfGateway is the value of the header that the gateway requires.
const secretOfGateway = "the-key-of-the-gateway"

// useRepository makes the example deploy from the repository of the reference.
func useRepository(_ *testing.T, c *config.Config, server *reference.Server) {
	set := server.Fixtures()
	c.Target = server.ControlPlaneURL()
	c.Create.Body["source_config"] = set.Create["source_config"]
	c.Create.Body["source_revision_config"] = set.Create["source_revision_config"]
	c.Create.Body["secrets"] = set.Create["secrets"]
}

// keptDeployment returns the ID of a DEPLOYED deployment that a test run has created and not removed.
func keptDeployment(t *testing.T, server *reference.Server) string {
	t.Helper()
	c := config.Default()
	describe(&c, server)
	o := options(t, &c, "CP-POLL-1")
	o.Keep = true
	for _, e := range run(t, o).Ledger {
		if e.Kind == evidence.Deployment {
			return e.ID
		}
	}
	require.Fail(t, "no deployment was created")
	return ""
}

// proxyTo serves a server at another address, below the path of that server, if the request is allowed.
func proxyTo(t *testing.T, address string, letsIn func(*http.Request) bool) string {
	t.Helper()
	to, err := url.Parse(address)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) },
		ErrorLog: log.New(io.Discard, "", 0)} // hides errors about clients that drop a join
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !letsIn(r) {
			http.Error(w, "who are you?", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(served.Close)
	return served.URL
}

// variablesOf returns the environment of an example: the variables in its head, with the credentials of the reference.
func variablesOf(t *testing.T, file string, known *config.Config) (environ []string) {
	t.Helper()
	values := map[string]string{
		"AGENTCONFORM_CREDENTIALS_API_KEY":   known.Credentials.APIKey,
		"AGENTCONFORM_OTHER_TENANT_API_KEY":  known.OtherTenant.APIKey,
		"AGENTCONFORM_USERS_0_TOKEN":         known.Users[0].Token,
		"AGENTCONFORM_USERS_1_TOKEN":         known.Users[1].Token,
		"AGENTCONFORM_HEADERS_CONTROL_PLANE": "{X-Gateway-Key: " + secretOfGateway + "}",
		"AGENTCONFORM_HEADERS_AGENT_SERVER":  "{X-Gateway-Key: " + secretOfGateway + "}",
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	head, _, _ := strings.Cut(string(text), "\n\n")
	assert.Contains(t, head, "agentconform run --config "+filepath.Base(file))
	for _, found := range regexp.MustCompile(`(AGENTCONFORM_\w+)=`).FindAllStringSubmatch(head, -1) {
		require.Contains(t, values, found[1])
		environ = append(environ, found[1]+"="+values[found[1]])
	}
	return environ
}
