package doctor

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/reference/memnet"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

var sharedOracle = sync.OnceValues(spec.New)

// respond sends the same response to every request.
func respond(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

const (
	page     = "<!doctype html><title>Welcome</title>"
	notFound = `{"detail":"no such deployment"}`
)

var unauthorized = respond(401, "application/json", `{"detail":"no"}`)

// guarded calls the handler for requests with the key or a user's token. It refuses all other requests.
func guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == "the-key-of-the-plane" || strings.HasPrefix(r.Header.Get("Authorization"), "Bearer token-") {
			next(w, r)
			return
		}
		unauthorized(w, r)
	}
}

// examined examines a server as a control plane or as an agent server, in a bubble.
func examined(t *testing.T, handler http.Handler, change func(c *config.Config, base string)) *Examination {
	t.Helper()
	network := memnet.New()
	server := network.Serve(handler)
	t.Cleanup(server.Close)
	c := config.Default()
	c.Timeouts.Request = 5 * time.Second
	change(&c, server.URL)
	require.NoError(t, c.Complete())
	catalogue, err := features.Load()
	require.NoError(t, err)
	oracle, err := sharedOracle()
	require.NoError(t, err)
	e, err := Examine(t.Context(), suite.Options{Config: &c, Catalogue: catalogue, Oracle: oracle, Dial: network.DialContext}, false)
	require.NoError(t, err)
	return e
}

func thePlane(c *config.Config, base string) {
	c.Target, c.Credentials.APIKey = base, "the-key-of-the-plane"
	c.Create.Body = map[string]any{"source": config.GitHost}
}

func theAgent(c *config.Config, base string) {
	c.AgentTarget = base
	c.Users = []config.User{{Name: "owner", Token: "token-1"}, {Name: "other", Token: "token-2"}}
}

// on returns the first check about a subject as one line.
func (e *Examination) on(subject string) string {
	for _, c := range e.Checks {
		if c.Subject == subject {
			return fmt.Sprintf("%s: %s; %s", c.State, c.Found, c.Remedy)
		}
	}
	return ""
}

// TestExamine checks notes and problems, and that no line shows a secret that the target repeats. The tests of the
// command have further wrong set-ups.
func TestExamine(t *testing.T) {
	closing := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	moved := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/?key="+r.Header.Get("X-Api-Key"), http.StatusMovedPermanently)
	}
	movedHere := func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/new/") {
			http.Redirect(w, r, "/new"+r.URL.Path, http.StatusPermanentRedirect)
			return
		}
		guarded(respond(404, "application/json", notFound))(w, r)
	}
	echo := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `"`+r.Header.Get("X-Api-Key")+`"`)
	}
	busy := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	late := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		respond(404, "application/json", notFound)(w, r)
	}
	search := func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); r.Method == http.MethodPost && r.URL.Path == "/threads/search" && string(body) == `{}` {
			respond(200, "application/json", `[]`)(w, r)
			return
		}
		respond(405, "application/json", `{"detail":"no"}`)(w, r)
	}
	by := func(change func(*config.Config, string), more func(*config.Config)) func(*config.Config, string) {
		return func(c *config.Config, base string) { change(c, base); more(c) }
	}
	_, err := sharedOracle() // bubbles share the oracle
	require.NoError(t, err)
	type says map[string]string // by subject
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		change   func(c *config.Config, base string)
		says     says
		testable bool
	}{
		"no credentials required":     {respond(404, "application/json", notFound), thePlane, says{"control plane": "ok: ", "no credentials": "note: the same request without credentials: expected 401 or 403, got 404; CP-AUTH-1 may fail; check target: is it the base URL"}, true},
		"a page for what is not":      {guarded(respond(404, "text/html", page)), thePlane, says{"control plane": "note: .*HTML page", "no credentials": "ok: "}, true},
		"fails, checks credentials":   {guarded(respond(500, "application/json", `{}`)), thePlane, says{"control plane": `note: .* status 500;`, "no credentials": "ok: "}, true},
		"an unknown id is found":      {guarded(respond(200, "application/json", `{"resources":[],"offset":0}`)), thePlane, says{"control plane": `note: .* expected 404, got status 200 with {"resources":\[\],"offset":0}; `}, true},
		"an echo":                     {echo, thePlane, says{"control plane": `note: .* expected 404, got status 200 with "\$AGENTCONFORM_CREDENTIALS_API_KEY"`}, true},
		"redirected":                  {moved, thePlane, says{"control plane": `problem: .* status 301, redirect to "https://elsewhere.example/\?key=\$AGENTCONFORM_CREDENTIALS_API_KEY"; if that is the target, set target`}, false},
		"redirected on the same host": {movedHere, thePlane, says{"redirect": `note: GET .*: redirected to http://.*/new/v2/.*; requests other than GET are not sent there; if all requests belong there, set target to http://.*/new$`}, true},
		"hangs up":                    {closing, thePlane, says{"control plane": "problem: .*: the connection was closed"}, false},
		"asks to wait":                {busy, by(thePlane, func(c *config.Config) { c.Timeouts.Request = 2 * time.Second }), says{"control plane": "problem: .* asks to wait for more than 2s; wait, or"}, false},
		"a low rate": {guarded(respond(404, "application/json", notFound)), func(c *config.Config, base string) {
			theAgent(c, base)
			thePlane(c, base)
			c.Credentials.TenantID, c.Credentials.Bearer = "the-tenant", "token-of-plane"
			c.Timeouts.Request, c.Rate = time.Second, "4/s" // the last probe is sent after 2 s
		}, says{"control plane": "ok: ", "refusals": "note: .*got 401|ok: .*401"}, true},
		"a late clock": {guarded(late), thePlane, says{"clock": `note: GET .*: Date is .*, (1h0m|59m59s|1h0m1s)[0s]* behind the clock of this machine; synchronize both clocks`}, true},
		"a wrong vocabulary": {respond(200, "application/json", `{"resources":[{"id":"0b5e9a52-1111-4222-8333-123456789abc","source":"git_host"}],"offset":0}`),
			by(thePlane, func(c *config.Config) { c.Vocabulary = map[string]string{"git_host": "kilnhub"} }),
			says{"vocabulary.git_host": `problem: the target uses "git_host" and never "kilnhub"; remove or correct vocabulary.git_host`}, false},

		"no users": {respond(200, "application/json", `[]`), by(theAgent, func(c *config.Config) { c.Users = nil }), says{"agent server": "ok: ", "users": "(note|missing): "}, true},
		"other headers": {unauthorized, by(theAgent, func(c *config.Config) { c.Users[0].Headers = map[string]string{"X-User": "somebody"} }),
			says{"agent server": "problem: .*; check users.0.headers"}, false},
		"no list":       {guarded(respond(404, "application/json", `{"detail":"Not Found"}`)), theAgent, says{"agent server": "note: GET http://.*/threads: expected 200 .* status 404 .*; .*set agent.listing"}, true},
		"not searched":  {guarded(search), by(theAgent, func(c *config.Config) { c.Agent.Listing = "get" }), says{"agent server": "note: GET http://.*/threads: .* status 405.*set agent.listing"}, true},
		"by default":    {guarded(search), theAgent, says{"agent server": `ok: POST http://.*/threads/search: status 200`, "agent.listing": "note: GET http://.*/threads: status 405; threads are listed with POST /threads/search"}, true},
		"fails, by 500": {guarded(respond(500, "text/plain", "oh")), theAgent, says{"agent server": "note: .* status 500; "}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				e := examined(t, c.handler, c.change)
				for subject, says := range c.says {
					assert.Regexp(t, "^"+says, e.on(subject))
				}
				assert.Equal(t, c.testable, e.Testable(), e.Conclusion())
				assert.NotContains(t, fmt.Sprint(e.Checks, e.Conclusion()), "the-key-of-the-plane")
			})
		})
	}
}

func TestExaminePlan(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	c := config.Default()
	thePlane(&c, "http://target.example")
	c.MaxDeployments, c.MaxRevisions = 3, 5
	e := newExaminer(&target.Target{Config: &c}, nil, suite.Options{Config: &c, Catalogue: catalogue})
	e.examineGaps(catalogue.Scenarios())
	e.examinePlan(catalogue.Scenarios())
	assert.Regexp(t, "^note: a test run creates at most [0-9]+ deployments with [0-9]+ revisions; max_deployments is 3, so some requirements are skipped; set max_deployments to ", e.on("plan"))
	assert.Contains(t, e.on("max_revisions"), "missing: would enable CP-LIST-2, ")
	assert.Contains(t, e.on("alternatives.tag_ref"), "CP-UPDATE-8")
	assert.Contains(t, e.on("credentials.bearer"), "CP-AUTH-4 in part")
	assert.Contains(t, e.on("users"), "AS-AUTHZ-*")
	assert.Equal(t, "note: CP-UPDATE-3: deployments are created from git_host, and not from external_container; ", e.on("not applicable"))
}
