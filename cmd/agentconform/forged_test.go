package main

import (
	"bytes"
	"context"
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

// forgedKey is the secret of the configured target. It may be in headers that go there, and nowhere else.
const forgedKey = "the-secret-api-key-of-the-configured-target"

// scene is what a forged file is given to: a configured target, which records what it is asked, and an address that
// only files name.
type scene struct {
	target, agent, foreign string
	config, folder         string

	oracle *spec.Oracle
	mu     sync.Mutex
	asked  []string // requests to the target, as METHOD PATH
	broken []string // what no request may be
}

// stage starts both listeners. The control plane has one deployment, with its agent server; all else is not found.
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
	text, err := cfg.YAML()
	require.NoError(t, err)
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

// serve answers, and holds each request to the closed table: the operations of the interface, with ids of one segment.
func (s *scene) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20)) // a part tells enough
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

// filled puts the addresses of the scene into a text.
func (s *scene) filled(text string) string {
	return strings.NewReplacer("{target}", s.target, "{agent}", s.agent, "{foreign}", s.foreign).Replace(text)
}

// result is a result file of a run with one finding, changed.
func (s *scene) result(t *testing.T, change func(*reports.Result)) string {
	t.Helper()
	catalogue, _ := catalogueAndOracle(t)
	of := catalogue.Find("CP-LIST-1")
	require.NotNil(t, of)
	var first reports.Scenario
	for _, sc := range catalogue.Scenarios() {
		if sc.Requirement.ID == of.ID {
			first = reports.Scenario{Name: sc.Name, URI: strings.Split(sc.Key(), ":")[0], Line: 1, Verdict: reports.Failed, Exchanges: []int{1}}
			break
		}
	}
	r := &reports.Result{
		Schema: reports.Schema, Suite: reports.Suite{Version: suiteVersion()}, Verdict: reports.NonConformant, Scope: reports.ScopeWhole,
		Target: reports.Target{ControlPlane: s.target}, Run: reports.Run{ID: "0a1b2c3d", Seed: 1, StartedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		Requirements: []reports.Requirement{{ID: of.ID, Level: reports.Must, Profile: of.Profile, Verdict: reports.Failed, Scenarios: []reports.Scenario{first}}},
		Findings:     []reports.Finding{{ID: "0123456789ab", Requirement: of.ID, Scenario: first.Key(), Summary: "forged", Exchange: 1, Count: 1}},
		Exchanges:    reports.Record(nil, reports.Exchange{Scenario: "fixture: the first request", Method: "GET", URL: s.target + "/v2/deployments", Status: 200}),
	}
	if change != nil {
		change(r)
	}
	var b strings.Builder
	require.NoError(t, r.WriteJSON(&b))
	return b.String()
}

// give runs a command with a file.
func (s *scene) give(t *testing.T, command, text string) (code int, printed string) {
	t.Helper()
	arguments := []string{"replay", s.write(t, "result.json", text), "--config", s.config}
	if command == "clean" {
		arguments = []string{"clean", "--ledger", s.write(t, "ledger.jsonl", text), "--config", s.config}
	}
	var b bytes.Buffer
	code = execute(context.Background(), arguments, streams{out: &b, err: &b})
	return code, b.String()
}

// TestForgedFiles gives each command files of somebody else.
func TestForgedFiles(t *testing.T) {
	for _, row := range forgedFiles() {
		row.give(t)
	}
}

// give gives the file to its command.
func (row forgedFile) give(t *testing.T) {
	t.Run(row.command+"/"+row.name, func(t *testing.T) {
		s := stage(t)
		code, printed := s.give(t, row.command, s.filled(row.file(t, s)))
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
