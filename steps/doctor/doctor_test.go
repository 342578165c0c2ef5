package doctor

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/features"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/suite"
	"github.com/agentconform/agentconform/steps/target"
)

var sharedOracle = sync.OnceValues(spec.New)

// respond answers every request alike.
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

// guarded answers those who show the key or a user's token, and refuses all others.
func guarded(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") == "the-key-of-the-plane" || strings.HasPrefix(r.Header.Get("Authorization"), "Bearer token-") {
			next(w, r)
			return
		}
		unauthorized(w, r)
	}
}

func ofPlane(base string) *config.Config {
	c := config.Default()
	c.Target, c.Credentials.APIKey = base, "the-key-of-the-plane"
	c.Create.Body = map[string]any{"source": config.GitHost}
	c.Timeouts.Request = 5 * time.Second
	return &c
}

func ofAgent(base string) *config.Config {
	c := config.Default()
	c.AgentTarget = base
	c.Users = []config.User{{Name: "owner", Token: "token-1"}, {Name: "other", Token: "token-2"}}
	c.Timeouts.Request = 5 * time.Second
	return &c
}

func examined(t *testing.T, c *config.Config) *Examination {
	t.Helper()
	require.NoError(t, c.Complete())
	catalogue, err := features.Load()
	require.NoError(t, err)
	oracle, err := sharedOracle()
	require.NoError(t, err)
	e, err := Examine(t.Context(), suite.Options{Config: c, Catalogue: catalogue, Oracle: oracle}, false)
	require.NoError(t, err)
	return e
}

// on returns what was found of the subject, in one line.
func (e *Examination) on(subject string) string {
	for _, c := range e.Checks {
		if c.Subject == subject {
			return fmt.Sprintf("%s: %s; %s", c.State, c.Found, c.Remedy)
		}
	}
	return ""
}

func TestExamineControlPlane(t *testing.T) {
	closing := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	moved := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/?key="+r.Header.Get("X-Api-Key"), http.StatusMovedPermanently)
	}
	echo := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `"`+r.Header.Get("X-Api-Key")+`"`)
	}
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		says     string // of the control plane
		alone    string // of the request without credentials
		testable bool
	}{
		"good":                        {guarded(respond(404, "application/json", notFound)), `ok: GET http://.*/v2/deployments/.*/revisions: status 404, credentials accepted`, `ok: the same request without credentials: status 401`, true},
		"no credentials required":     {respond(404, "application/json", notFound), "ok: ", "note: the same request without credentials: expected 401 or 403, got 404; CP-AUTH-1 may fail; check target: is it the base URL", true},
		"a page for what is not":      {guarded(respond(404, "text/html", page)), "note: .*HTML page", "ok: ", true},
		"no JSON, checks credentials": {guarded(respond(404, "text/plain", "nothing here")), "note: .* got status 404 with nothing here", "ok: ", true},
		"redirected":                  {moved, `problem: .* status 301, redirect to "https://elsewhere.example/\?key=\$AGENTCONFORM_CREDENTIALS_API_KEY"; if that is the target, set target`, "", false},
		"fails, checks credentials":   {guarded(respond(500, "application/json", `{}`)), `note: .* status 500;`, "ok: ", true},
		"an unknown id is found":      {guarded(respond(200, "application/json", `{"resources":[],"offset":0}`)), `note: .* expected 404, got status 200 with {"resources":\[\],"offset":0}; `, "ok: ", true},
		"an echo":                     {echo, `note: .* expected 404, got status 200 with "\$AGENTCONFORM_CREDENTIALS_API_KEY"`, "note: ", true},
		"hangs up":                    {closing, "problem: .*: the connection was closed", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.handler)
			t.Cleanup(server.Close)
			cfg := ofPlane(server.URL)
			e := examined(t, cfg)
			assert.Regexp(t, "^"+c.says, e.on("control plane"))
			assert.Regexp(t, "^"+c.alone, e.on("no credentials"))
			assert.Equal(t, c.alone == "", e.on("no credentials") == "")
			assert.Equal(t, c.testable, e.Testable())
			assert.NotContains(t, fmt.Sprint(e.Checks, e.Conclusion()), "the-key-of-the-plane")
		})
	}
}

func TestExamineIsOverInTheTimeOfARequest(t *testing.T) {
	t.Parallel()
	again := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(again.Close)
	c := ofPlane(again.URL)
	c.Timeouts.Request = 2 * time.Second
	e := examined(t, c)
	assert.Regexp(t, "^problem: .* asks to wait for more than 2s; wait, or", e.on("control plane"))
	assert.Contains(t, e.Conclusion(), "The target cannot be tested yet: control plane: ")
}

func TestExamineAgentServer(t *testing.T) {
	threads := respond(200, "application/json", `[{"thread_id":"a"}]`)
	search := func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); r.Method == http.MethodPost && r.URL.Path == "/threads/search" && string(body) == `{"limit":1,"offset":0}` {
			threads(w, r)
			return
		}
		respond(405, "application/json", `{"detail":"no"}`)(w, r)
	}
	two := func(*config.Config) {}
	nobody := func(c *config.Config) { c.Users = nil }
	for name, c := range map[string]struct {
		handler  http.HandlerFunc
		change   func(*config.Config)
		says     map[string]string
		testable bool
	}{
		"good":                    {guarded(threads), two, map[string]string{"agent server": `ok: GET http://.*/threads: status 200, a list of threads`, "users.1": "ok: ", "no user": `ok: GET .* without credentials: status 401`}, true},
		"no credentials required": {threads, two, map[string]string{"agent server": "ok: ", "no user": "note: .* expected 401, got 200: AS-AUTH-1 will fail; name an authentication handler in auth.path of the graph configuration"}, true},
		"no users":                {threads, nobody, map[string]string{"agent server": "ok: ", "users": "(note|missing): "}, true},
		"other headers": {unauthorized, func(c *config.Config) { c.Users[0].Headers = map[string]string{"X-User": "somebody"} },
			map[string]string{"agent server": "problem: .*; check users.0.headers"}, false},
		"no list":       {guarded(respond(404, "application/json", `{"detail":"Not Found"}`)), two, map[string]string{"agent server": "note: GET http://.*/threads: expected 200 .* status 404 .*; .*set agent.listing to get or search"}, true},
		"a page":        {guarded(respond(200, "application/json", `{"items":[]}`)), two, map[string]string{"agent server": "note: .*agent.listing"}, true},
		"searched":      {guarded(search), func(c *config.Config) { c.Agent.Listing = "search" }, map[string]string{"agent server": `ok: POST http://.*/threads/search: status 200`}, true},
		"not searched":  {guarded(search), func(c *config.Config) { c.Agent.Listing = "get" }, map[string]string{"agent server": "note: GET http://.*/threads: .* status 405.*set agent.listing to get or search"}, true},
		"by default":    {guarded(search), two, map[string]string{"agent server": `ok: POST http://.*/threads/search: status 200`, "agent.listing": "note: GET http://.*/threads: status 405; threads are listed with POST /threads/search"}, true},
		"fails, by 500": {guarded(respond(500, "text/plain", "oh")), two, map[string]string{"agent server": "note: .* status 500; "}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.handler)
			t.Cleanup(server.Close)
			cfg := ofAgent(server.URL)
			c.change(cfg)
			e := examined(t, cfg)
			for subject, says := range c.says {
				assert.Regexp(t, "^"+says, e.on(subject))
			}
			assert.Equal(t, c.testable, e.Testable(), e.Conclusion())
			assert.Regexp(t, `^missing: would enable CP-\*, E2E-1(, AS-AUTH-1 in part)?; $`, e.on("target"))
			assert.Equal(t, "ok: a run creates threads and runs, and no deployment; ", e.on("plan"))
		})
	}
}

// TestExamineVocabulary: the target uses git_host, and the vocabulary says otherwise.
func TestExamineVocabulary(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"resources":[{"id":"0b5e9a52-1111-4222-8333-123456789abc","source":"git_host"}],"offset":0}`)
	}))
	t.Cleanup(server.Close)
	c := ofPlane(server.URL)
	c.Vocabulary = map[string]string{"git_host": "kilnhub"}
	const want = `problem: the target uses "git_host" and never "kilnhub"; remove or correct vocabulary.git_host`
	assert.Equal(t, want, examined(t, c).on("vocabulary.git_host"))
}

func TestExaminePlan(t *testing.T) {
	catalogue, err := features.Load()
	require.NoError(t, err)
	c := ofPlane("http://target.example")
	c.MaxDeployments, c.MaxRevisions = 3, 5
	e := newExaminer(&target.Target{Config: c}, nil, suite.Options{Catalogue: catalogue})
	e.examineGaps()
	e.examinePlan()
	assert.Regexp(t, "^note: a run creates at most [0-9]+ deployments with [0-9]+ revisions; max_deployments is 3, so some requirements are skipped; set max_deployments to ", e.on("plan"))
	assert.Contains(t, e.on("max_revisions"), "missing: would enable CP-LIST-2, ")
	assert.Contains(t, e.on("alternatives.tag_ref"), "CP-CREATE-5, CP-UPDATE-8")
	assert.Contains(t, e.on("other_tenant.api_key"), "CP-AUTH-6")
	assert.Contains(t, e.on("credentials.bearer"), "CP-AUTH-4 in part")
	assert.Contains(t, e.on("users"), "AS-AUTHZ-*")
	assert.Equal(t, "note: CP-UPDATE-3: not applicable: deployments are created from git_host, and not from external_container; ", e.on("not applicable"))
}

func TestExamineARedirect(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/new/") {
			http.Redirect(w, r, "/new"+r.URL.Path, http.StatusPermanentRedirect)
			return
		}
		guarded(respond(404, "application/json", notFound))(w, r)
	}))
	t.Cleanup(server.Close)
	e := examined(t, ofPlane(server.URL))
	assert.Regexp(t, `^note: GET .*: redirected to http://.*/new/v2/.*; requests other than GET are not sent there; set target to the base URL there$`, e.on("redirect"))
}

func TestExamineTheClock(t *testing.T) {
	t.Parallel()
	for by, says := range map[time.Duration]string{
		-time.Hour:       `^note: GET .*: Date is .*, (1h0m|59m59s|1h0m1s)[0s]* behind the clock of this machine; set both clocks by NTP`,
		2 * time.Hour:    `^note: GET .*: Date is .*, (2h0m|1h59m59s)[0s]* ahead of the clock of this machine`,
		10 * time.Second: `^$`,
	} {
		server := httptest.NewServer(guarded(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", time.Now().Add(by).UTC().Format(http.TimeFormat))
			respond(404, "application/json", notFound)(w, r)
		}))
		t.Cleanup(server.Close)
		assert.Regexp(t, says, examined(t, ofPlane(server.URL)).on("clock"))
	}
}

// TestAddressesThatAreRefusedAreTold: before a run, with the key that allows them.
func TestAddressesThatAreRefusedAreTold(t *testing.T) {
	const id, revision = "6f9619ff-8b86-4011-b42d-00c04fc964ff", "6f9619ff-8b86-4011-b42d-00c04fc964fe"
	server := httptest.NewServer(guarded(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, id):
			_, _ = io.WriteString(w, `{"id":"`+id+`","latest_revision_id":"`+revision+`","source_config":{"custom_url":"http://169.254.169.254/a"}}`)
		case strings.HasSuffix(r.URL.Path, revision):
			_, _ = io.WriteString(w, `{"id":"`+revision+`","status":"DEPLOYED"}`)
		case strings.Contains(r.URL.Path, id):
			_, _ = io.WriteString(w, `{"resources":[{"id":"`+revision+`","status":"DEPLOYED"}],"offset":0}`)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, notFound)
		}
	}))
	t.Cleanup(server.Close)
	c := ofPlane(server.URL)
	c.Create.Body, c.Existing.Deployment, c.AllowPrivate = nil, id, true
	var told []string
	for _, check := range examined(t, c).Checks {
		told = append(told, fmt.Sprintf("%s: %s; %s", check.State, check.Found, check.Remedy))
	}
	all := strings.Join(told, "\n")
	assert.Contains(t, all, `note: no user's token is sent to the agent server address that the deployment has at source_config.custom_url, "http://169.254.169.254/a": it is a multicast`)
	assert.Contains(t, all, "set agent_target if it is right")
}
