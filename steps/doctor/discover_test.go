package doctor

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
)

// unfamiliar is a target that lists its deployments, has the URL of its agent server at an unusual path, lists threads with
// the search endpoint, and refuses invalid tokens with 403 and plain text. It records requests.
type unfamiliar struct {
	mu   sync.Mutex
	sent []string
	url  string
	user bool // a request had the token of a user
}

func (u *unfamiliar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.mu.Lock()
	u.sent = append(u.sent, r.Method+" "+r.URL.Path)
	u.user = u.user || r.Header.Get("Authorization") == "Bearer token-of-ada"
	u.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body)
	json := func(status int, body string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
	path, keyed := r.URL.Path, r.Header.Get("X-Api-Key") == "the-key-of-the-plane"
	switch {
	case strings.HasPrefix(path, "/v2/") && !keyed:
		json(401, `{"detail":"no"}`)
	case path == "/v2/deployments":
		json(200, `{"resources":[{"id":"d-1","source":"their_host"},{"id":"d-2","source":"external_container"}],"offset":0}`)
	case path == "/v2/deployments/d-1" || path == "/v2/deployments/d-2":
		json(200, fmt.Sprintf(`{"id":"d","docs":"%s/docs","links":[{"server.url":"%s/agent"}]}`, u.url, u.url))
	case path == "/agent/threads/search" && r.Header.Get("Authorization") == "Bearer token-of-ada":
		json(200, `[]`)
	case path == "/agent/threads/search" && r.Header.Get("Authorization") == "":
		json(401, `{"detail":"Log in"}`)
	case path == "/agent/threads/search":
		w.WriteHeader(403)
		_, _ = io.WriteString(w, "Go away\n")
	default:
		json(404, `{"detail":"not found"}`)
	}
}

func discovered(t *testing.T, change func(c *config.Config, base string)) (text string, problems []Check, u *unfamiliar) {
	t.Helper()
	u = &unfamiliar{}
	server := httptest.NewServer(u)
	t.Cleanup(server.Close)
	u.url = server.URL
	c := config.Default()
	c.Timeouts.Request = time.Minute
	change(&c, server.URL)
	require.NoError(t, c.Complete())
	draft, problems, err := Discover(t.Context(), &c, func(string) {})
	require.NoError(t, err)
	return string(draft.Text()), problems, u
}

func TestDiscoverAControlPlane(t *testing.T) {
	text, problems, u := discovered(t, func(c *config.Config, base string) {
		c.Target, c.Credentials.APIKey, c.Credentials.TenantID = base, "the-key-of-the-plane", "the-tenant"
		c.Users = []config.User{{Name: "ada", Token: "token-of-ada"}}
	})
	assert.Empty(t, problems)
	for _, want := range []string{
		"\ntarget: " + u.url + "\n", "\nedition: self-hosted\n",
		"GET /v2/deployments: status 200, a list of 2 deployments.",
		`# vocabulary:`, `#   git_host: their_host`,
		"# Learned: the deployment d-2 has the source external_container, which only this edition offers.",
		"# Found: the deployment d-1 has a URL at docs and at links.0.server\\.url, to which nothing was sent.",
		"Given. GET " + u.url + "/v2/deployments/",
	} {
		assert.Contains(t, strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(want), " "))
	}
	for _, secret := range []string{"the-key-of-the-plane", "the-tenant", "token-of-ada"} {
		assert.NotContains(t, text, secret)
	}
	for _, sent := range u.sent {
		assert.True(t, strings.HasPrefix(sent, "GET /v2/"), "%s may create something, or goes to an address that only the control plane names", sent)
	}
}

func TestDiscoverAnAgentServer(t *testing.T) {
	text, _, u := discovered(t, func(c *config.Config, base string) {
		c.AgentTarget, c.Users = base+"/agent", []config.User{{Name: "ada", Token: "token-of-ada"}}
	})
	assert.True(t, u.user)
	for _, want := range []string{"# Learned: POST /threads/search: a list of threads. listing: search ",
		"# Learned: POST /threads/search without credentials: status 401, with an unknown token: status 403. rejected_status: invalid: 403 missing: 401 ",
		"rejected_detail: invalid: Go away missing: Log in "} {
		assert.Contains(t, strings.Join(strings.Fields(text), " "), want)
	}
}

// TestDiscoverAnAgentServerWithoutAList drafts the search endpoint for a server whose GET /threads returns an object.
func TestDiscoverAnAgentServerWithoutAList(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		body := `{"threads":[],"total":0}`
		if r.Method == http.MethodPost {
			body = "[]"
		}
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	text, _, _ := discovered(t, func(c *config.Config, _ string) { c.AgentTarget = server.URL })
	assert.Regexp(t, `# Learned: POST /threads/search: a list of threads.\s+listing: search\s`, text)
}

// TestADraftIsAConfiguration loads a draft, unchanged and with all suggestions accepted.
func TestADraftIsAConfiguration(t *testing.T) {
	for name, change := range map[string]func(c *config.Config, base string){
		"control plane": func(c *config.Config, base string) { c.Target, c.Credentials.APIKey = base, "the-key-of-the-plane" },
		"agent server":  func(c *config.Config, base string) { c.AgentTarget = base + "/agent" },
		"both": func(c *config.Config, base string) {
			c.Target, c.AgentTarget, c.Edition = base, base+"/agent", config.Cloud
			c.Users = []config.User{{Name: "ada", Token: "token-of-ada", Identity: "a"}}
		},
		"neither answers": func(c *config.Config, _ string) { c.Target, c.AgentTarget = "http://127.0.0.1:1", "http://127.0.0.1:2" },
	} {
		t.Run(name, func(t *testing.T) {
			text, problems, u := discovered(t, change)
			assert.Equal(t, name == "both", u.user, "tokens of users go to agent_target")
			assert.Equal(t, name == "neither answers", len(problems) > 0)
			suggestion := regexp.MustCompile(`(?m)^( *)# ( *(?:[a-z_]+:(?: \S+| ".*")?$|- |X-Auth-Scheme: |.*your product$))`)
			all := suggestion.ReplaceAllString(text, "$1$2")
			require.NotEqual(t, text, all)
			dir := t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "secrets"), 0o700))
			for _, file := range []string{"api-key", "tenant-id", "bearer", "other-tenant-api-key", "ada", "bob"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "secrets", file), []byte("secret-"+file), 0o600))
			}
			environ := []string{"AGENTCONFORM_USERS_0_TOKEN=token-of-ada"}
			for i, content := range []string{text, all} {
				file := filepath.Join(dir, fmt.Sprintf("%d.yaml", i))
				require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
				s := config.Sources{File: file}
				if name == "both" || i == 1 {
					s.Environ = environ
				}
				c, err := config.Load(s)
				if !assert.NoError(t, err, "%s", content) {
					continue
				}
				assert.NotEmpty(t, c.Target+c.AgentTarget)
				if i == 1 && name != "agent server" {
					assert.NotEmpty(t, c.Create.Body["source"])
					assert.Equal(t, "secret-api-key", c.Credentials.APIKey)
				}
			}
		})
	}
}

// TestTextOfATargetStaysText has a target whose texts would be keys of the file if they were not escaped.
func TestTextOfATargetStaysText(t *testing.T) {
	const detail = "no\nassistant_id: other\n# \x1b[31m"
	var asked atomic.Int32
	named := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer named.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v2/deployments":
			respond(200, "application/json", `{"resources":[{"id":"d\nassistant_id: other","source":"git_host"},{"id":"e\u0085assistant_id: other","source":"their\nassistant_id: other"}]}`)(w, r)
		case strings.HasPrefix(r.URL.Path, "/v2/deployments/e"):
			respond(200, "application/json", fmt.Sprintf(`{"source_config":{"custom_url":%q,"repo_url":"http://a.example"}}`, named.URL))(w, r)
		case strings.HasPrefix(r.URL.Path, "/v2/"):
			respond(404, "application/json", notFound)(w, r)
		default:
			respond(401, "application/json", fmt.Sprintf(`{"detail":%s}`, strings.ReplaceAll(fmt.Sprintf("%q", detail), `\x1b`, `\u001b`)))(w, r)
		}
	}))
	defer server.Close()
	c := config.Default()
	c.Target, c.AgentTarget = server.URL, server.URL
	require.NoError(t, c.Complete())
	draft, _, err := Discover(t.Context(), &c, func(string) {})
	require.NoError(t, err)
	text := string(draft.Text())
	assert.Contains(t, text, "has the source git_host")
	assert.Contains(t, text, "\nagent_url_from: source_config.custom_url\n")
	assert.Zero(t, asked.Load(), "an address that only the control plane names is not asked")
	assert.NotContains(t, text, "\x1b")
	assert.NotContains(t, text, "\u0085")
	file := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	read, err := config.Load(config.Sources{File: file})
	require.NoError(t, err)
	assert.Equal(t, config.Default().AssistantID, read.AssistantID)
	assert.Empty(t, read.Agent.RejectedDetail, "a detail that is not plain text is only shown in a comment")
}
