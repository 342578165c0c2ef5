package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/spec"
	"github.com/agentconform/agentconform/steps/config"
)

// forgedKey is the secret of the configured target. Only headers of requests to this target may contain it.
const forgedKey = "the-secret-api-key-of-the-configured-target"

// scene has a configured target that records requests, and an address that only forged files contain.
type scene struct {
	target, agent, foreign string
	config, folder         string

	oracle *spec.Oracle
	mu     sync.Mutex
	asked  []string // requests to the target, as METHOD PATH
	broken []string // descriptions of forbidden requests
}

// stage starts both servers. The control plane has one deployment with its agent server, and returns 404 otherwise.
func stage(t *testing.T) *scene {
	t.Helper()
	_, oracle := catalogueAndOracle(t)
	s := &scene{oracle: oracle, folder: t.TempDir()}
	foreign := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.refuse("a request went to an address that only a file names: " + r.Method + " " + r.URL.String())
	}))
	t.Cleanup(foreign.Close)
	target := httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(target.Close)
	s.target, s.agent, s.foreign = target.URL, target.URL+"/agent", foreign.URL
	cfg := config.Default()
	cfg.Target, cfg.Credentials.APIKey = s.target, forgedKey
	cfg.Users = []config.User{{Name: "one", Token: "token-of-the-first-user", Identity: "one"}}
	cfg.Create.Body = map[string]any{"name": "any", "source": "external_container", "source_config": map[string]any{}, "source_revision_config": map[string]any{"image_uri": "registry.example/a:1"}, "secrets": []any{}}
	text := cfg.YAML()
	s.config = s.write(t, "target.yaml", string(text))
	return s
}

func (s *scene) write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(s.folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (s *scene) refuse(problem string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = append(s.broken, problem)
}

// serve responds to requests. It records requests that are not operations of the interface with ids of one segment.
func (s *scene) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // a part is enough
	path, side := r.URL.EscapedPath(), spec.ControlPlane
	if rest, atAgent := strings.CutPrefix(path, "/agent/"); atAgent {
		path, side = "/"+rest, spec.AgentServer
	}
	s.mu.Lock()
	s.asked = append(s.asked, r.Method+" "+path)
	s.mu.Unlock()
	if _, known := s.oracle.Find(side, r.Method, path); !known {
		s.refuse("outside the closed table: " + r.Method + " " + path)
	}
	if lower := strings.ToLower(path); strings.Contains(lower, "%2f") || strings.Contains(lower, "%2e") || strings.Contains(lower, "%00") || strings.Contains(lower, "%0a") || strings.Contains(lower, "%5c") {
		s.refuse("an id is more than one segment: " + path)
	}
	if strings.TrimSpace(string(body)) == "[]" { // as a server of the interface does
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	if sent := r.URL.String() + string(body); strings.Contains(sent, strings.TrimPrefix(s.foreign, "http://")) || strings.Contains(sent, forgedKey) {
		s.refuse("the target is told what a file made up, or a secret: " + r.Method + " " + path)
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet && path == "/v2/deployments/named":
		_ = json.NewEncoder(w).Encode(map[string]any{"id": "named", "url": s.agent, "source_config": map[string]string{"custom_url": s.agent}})
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"detail":"not found"}`)
	}
}

// filled inserts the addresses of the scene into a text.
func (s *scene) filled(text string) string {
	return strings.NewReplacer("{target}", s.target, "{agent}", s.agent, "{foreign}", s.foreign).Replace(text)
}

// result returns a changed result file with one finding.
func (s *scene) result(t *testing.T, change func(*reports.Result)) string {
	t.Helper()
	catalogue, _ := catalogueAndOracle(t)
	of := catalogue.Find("CP-LIST-1")
	require.NotNil(t, of)
	first := reports.Scenario{Name: of.Scenarios[0].Name, URI: of.Scenarios[0].URI, Line: 1, Verdict: reports.Failed, Exchanges: []int{1}}
	r := &reports.Result{
		Schema: reports.Schema, Suite: reports.Suite{Version: suiteVersion()}, Verdict: reports.NonConformant, Scope: reports.ScopeWhole,
		Target: reports.Target{ControlPlane: s.target}, Run: reports.Run{ID: "0a1b2c3d", Seed: 1, StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		Requirements: []reports.Requirement{{ID: of.ID, Level: reports.Must, Profile: of.Profile, Verdict: reports.Failed, Scenarios: []reports.Scenario{first}}},
		Findings:     []reports.Finding{{ID: "0123456789ab", Requirement: of.ID, Scenario: first.Key(), Summary: "forged", Exchange: 1, Count: 1}},
		Exchanges:    reports.Record(nil, reports.Exchange{Scenario: "fixture: the first request", Method: "GET", URL: s.target + "/v2/deployments", Status: 200}),
	}
	change(r)
	var b strings.Builder
	require.NoError(t, r.WriteJSON(&b))
	return b.String()
}

// give passes a forged file to its command: replay for a result, clean for a ledger.
func (s *scene) give(t *testing.T, row forgedFile) (code int, printed string) {
	t.Helper()
	if row.change != nil {
		return command(t, "replay", s.write(t, "result.json", s.filled(s.result(t, row.change))), "--config", s.config)
	}
	return command(t, "clean", "--ledger", s.write(t, "ledger.jsonl", s.filled(row.text)), "--config", s.config)
}

// TestForgedFiles passes forged files to each command.
func TestForgedFiles(t *testing.T) {
	for _, row := range forgedFiles() {
		t.Run(row.name, func(t *testing.T) {
			s := stage(t)
			code, printed := s.give(t, row)
			assert.Equal(t, row.code, code, printed)
			for _, says := range row.says {
				assert.Contains(t, printed, s.filled(says))
			}
			assert.Less(t, len(printed), 64<<10, "what is printed is bounded")
			assert.NotContains(t, printed, "panic")
			assert.NotContains(t, printed, forgedKey)
			assert.Empty(t, s.broken)
			for _, asked := range row.asks {
				assert.Contains(t, s.asked, asked)
			}
			if row.silent {
				assert.Empty(t, s.asked, "nothing is to be sent")
			}
		})
	}
}

// forgedFile is a forged file with the expected behavior.
type forgedFile struct {
	name   string
	change func(*reports.Result) // of a result
	text   string                // text of a ledger if change is nil; {target}, {agent} and {foreign} stand for addresses
	code   int
	says   []string // parts of the output
	asks   []string // expected requests
	silent bool     // no request is expected
}

// entry returns a line of a ledger with changed members.
func entry(changed ...any) string {
	e := map[string]any{"run": "r", "target": "{target}", "kind": "deployment", "id": "d", "address": "{target}", "created_by": "x"}
	for i := 0; i < len(changed); i += 2 {
		e[changed[i].(string)] = changed[i+1]
	}
	line, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

// thread returns a line of a ledger about a thread.
func thread(changed ...any) string {
	return entry(append([]any{"kind", "thread", "id", "t", "owner", "users.0", "deployment", "named", "address", "{agent}"}, changed...)...)
}

func forgedFiles() []forgedFile {
	nested := strings.Repeat("[", 100_000)
	const slashes = "d/../../v1/secrets"
	damaged := func(name, line string) forgedFile {
		return forgedFile{name: "no id of " + name, text: line + entry(), code: exitIncomplete,
			asks: []string{"DELETE /v2/deployments/d"}, says: []string{"cannot be read"}}
	}
	return []forgedFile{
		damaged("a deployment", entry("id", slashes)), damaged("a thread", thread("id", slashes)),
		damaged("the deployment of a thread", thread("deployment", slashes)),
		// replay: a result only determines which scenarios are run.
		{name: "another target and agent server", code: exitIncomplete, asks: []string{"POST /v2/deployments"}, says: []string{"CP-LIST-1"}, change: func(r *reports.Result) {
			r.Target.ControlPlane, r.Target.AgentServer = "{foreign}", "{foreign}/agent"
		}},
		{name: "requests of somebody else", code: exitIncomplete, change: func(r *reports.Result) {
			r.Exchanges = reports.Record(nil, reports.Exchange{Scenario: "x", Method: "DELETE", URL: "{foreign}/v2/deployments/production", Curl: "curl {foreign}",
				Request: reports.Message{Body: `{"source_config":{"repo_url":"{foreign}"},"secrets":[{"name":"A","value":"$AGENTCONFORM_CREDENTIALS_API_KEY"}]}`}})
			r.Findings[0].Curl = "curl -X DELETE {foreign}"
		}},
		{name: "a connection of somebody else", code: exitIncomplete, change: func(r *reports.Result) {
			r.Target.Connection = &reports.Connection{Proxy: "{foreign}"}
		}},
		{name: "things to remove", code: exitIncomplete, change: func(r *reports.Result) {
			r.Ledger = []reports.LedgerEntry{{Kind: "deployment", ID: "production", Address: "{foreign}"}, {Kind: "thread", ID: "t", Address: "{foreign}"}}
		}},
		{name: "a scenario that is not there", code: exitIncomplete, says: []string{"this version has no scenario"}, change: func(r *reports.Result) {
			r.Requirements[0].Scenarios[0].Name = "removes everything"
		}},
		{name: "a run that wrote nothing", code: exitIncomplete, change: func(r *reports.Result) { r.Run.ReadOnly = true }},
		{name: "a finding without an id", code: exitUsage, silent: true, says: []string{"invalid id"}, change: func(r *reports.Result) { r.Findings[0].ID = slashes }},
		{name: "a requirement without an id", code: exitUsage, silent: true, says: []string{"invalid id"}, change: func(r *reports.Result) { r.Requirements[0].ID = slashes }},
		{name: "no findings", code: exitUsage, silent: true, says: []string{"nothing to replay"}, change: func(r *reports.Result) { r.Findings = nil }},
		{name: "an exchange that is not there", code: exitUsage, silent: true, change: func(r *reports.Result) { r.Findings[0].Exchange = 7 }},

		// clean removes objects of a ledger only at the configured addresses and at addresses that the control plane returns
		// now.
		{name: "our own deployment and thread", text: entry() + thread(), asks: []string{"DELETE /v2/deployments/d", "GET /v2/deployments/named", "DELETE /threads/t"}, says: []string{"2 of 2 removed"}},
		{name: "another control plane", text: entry("target", "{foreign}", "address", "{foreign}"), code: exitUsage, silent: true, says: []string{"but the target is {target}"}},
		{name: "an address beside the target", text: entry("address", "{foreign}"), asks: []string{"DELETE /v2/deployments/d"}},
		{name: "a thread at a foreign address", text: thread("address", "{foreign}"), code: exitIncomplete, says: []string{"is not what {target} names", "0 of 1 removed"}},
		{name: "a thread at a longer address", text: thread("address", "{agent}.elsewhere"), code: exitIncomplete, says: []string{"is not what {target} names"}},
		{name: "a thread at an address with a user", text: thread("address", "http://x@{foreign}"), code: exitIncomplete, says: []string{"is not what {target} names"}},
		{name: "a thread at a path of the target", text: thread("address", "{target}"), code: exitIncomplete, says: []string{"is not what {target} names"}},
		{name: "a thread of a deployment that is gone", text: thread("deployment", "gone"), code: exitIncomplete, says: []string{"is not what {target} names"}},
		{name: "a thread of no deployment", text: thread("deployment", ""), code: exitUsage, silent: true, says: []string{"but the target is"}},
		{name: "an owner that is nobody", text: thread("owner", "users.99999999999999999999"), asks: []string{"DELETE /threads/t"}},
		{name: "a kind that is no kind", text: entry("kind", "organization"), silent: true, says: []string{"nothing to remove"}},
		{name: "a run of a thread", text: entry("kind", "run", "thread", "t", "address", "{foreign}"), silent: true, says: []string{"nothing to remove"}},
		{name: "a deployment as the id of a thread", text: thread("id", "x%2f..%2fy?z#a"), asks: []string{"DELETE /threads/x%252f..%252fy%3Fz%23a"}},
		{name: "no ledger", text: "hello\nworld\n", code: exitUsage, silent: true, says: []string{"is not a ledger entry"}},
		{name: "deep nesting", text: nested + "\n" + entry(), code: exitIncomplete, asks: []string{"DELETE /v2/deployments/d"}, says: []string{"cannot be read"}},
		{name: "thousands of lines that cannot be read", text: entry() + strings.Repeat("x\n", 5000), code: exitUsage, silent: true, says: []string{"more than 1000 lines"}},
		{name: "a line that goes on", text: entry("id", strings.Repeat("x", 2<<20)) + entry(), code: exitIncomplete, asks: []string{"DELETE /v2/deployments/d"}},
	}
}
