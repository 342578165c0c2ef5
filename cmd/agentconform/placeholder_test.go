package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/steps/config"
)

// placeholders is a target that sends what looks like the name of a secret in every place, and takes it back as if it
// were a part of its ids. It notes where credentials arrive.
type placeholders struct {
	suffix, key string
	id          *regexp.Regexp

	mu    sync.Mutex
	leaks []string
	sent  int // placeholders
}

func newPlaceholders(name, key string) *placeholders {
	return &placeholders{suffix: "-" + name, key: key,
		id: regexp.MustCompile(`"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"`)}
}

func (p *placeholders) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		p.look(r, string(body))
		r.URL.Path, r.URL.RawPath = strings.ReplaceAll(r.URL.Path, p.suffix, ""), ""
		r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, p.suffix, "")
		body = bytes.ReplaceAll(body, []byte(p.suffix), nil)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		text := answer.Body.String()
		if strings.HasPrefix(r.URL.Path, "/agents/") { // threads and runs may have any id; texts hold it in either half
			text = p.id.ReplaceAllStringFunc(text, func(id string) string { return id[:len(id)-1] + p.suffix + `"` })
		}
		text = strings.ReplaceAll(text, `"detail":"`, `"detail":"`+p.suffix+` `)
		text = strings.ReplaceAll(text, `"source":"git_host"`, `"source":"`+p.suffix+`"`)
		text = strings.ReplaceAll(text, `"repo_ref":"main"`, `"repo_ref":"`+p.suffix+`"`)
		p.mu.Lock()
		p.sent += strings.Count(text, p.suffix)
		p.mu.Unlock()
		for name, values := range answer.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.Header().Set("X-Id", p.suffix)
		w.WriteHeader(answer.Code)
		_, _ = io.WriteString(w, text)
	})
}

// look notes a key that stands anywhere but in the header of the control plane that is meant for it.
func (p *placeholders) look(r *http.Request, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.Contains(r.URL.String(), p.key) || strings.Contains(body, p.key) {
		p.leaks = append(p.leaks, r.Method+" "+r.URL.Path)
	}
	for name, values := range r.Header {
		if strings.Contains(strings.Join(values, ""), p.key) && (name != "X-Api-Key" || !strings.HasPrefix(r.URL.Path, "/v2/")) {
			p.leaks = append(p.leaks, name+" of "+r.Method+" "+r.URL.Path)
		}
	}
}

const keyVariable = "AGENTCONFORM_CREDENTIALS_API_KEY"

// TestNamesOfSecretsThatTheTargetSendsAreText judges such a target, replays its findings, and executes the printed
// lines: the key goes to no other place.
func TestNamesOfSecretsThatTheTargetSendsAreText(t *testing.T) {
	t.Parallel()
	assertTheNameIsText(t, "$"+keyVariable, "CP-GET-*,CP-UPDATE-1,CP-POLL-1,AS-THREAD-*,AS-CONTRACT-*")
}

// assertTheNameIsText takes a spelling of the name, and the requirements that are judged.
func assertTheNameIsText(t *testing.T, name, only string) {
	t.Helper()
	var target *placeholders
	server, err := reference.Start(t.Context(), reference.Options{Pace: 50 * time.Millisecond, WrapHTTP: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { target.wrap(next).ServeHTTP(w, r) })
	}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	cfg := config.Default()
	describe(&cfg, server)
	cfg.Polling = config.Polling{Interval: 5 * time.Millisecond, MaxInterval: 10 * time.Millisecond} // within the pace: BUILDING is seen
	target = newPlaceholders(name, cfg.Credentials.APIKey)
	file, out := filepath.Join(t.TempDir(), "target.yaml"), filepath.Join(t.TempDir(), "out")
	text, err := cfg.YAML()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))

	var printed bytes.Buffer
	quiet := streams{out: &printed, err: &printed}
	code := execute(context.Background(), []string{"run", "--config", file, "--out", out, "--format", "plain", "--seed", "5",
		"--only", only}, quiet)
	require.Equal(t, exitNonConformant, code, printed.String())
	require.Positive(t, target.sent)
	execute(context.Background(), []string{"replay", filepath.Join(out, "result.json"), "--config", file}, quiet)

	result, err := reports.ReadFile(filepath.Join(out, "result.json"))
	require.NoError(t, err)
	var script strings.Builder
	script.WriteString("curl() { printf '%s\\n' \"$@\"; }\n")
	for x := range result.Exchanges.All() {
		script.WriteString(x.Curl + "\n")
	}
	shell := exec.CommandContext(t.Context(), "sh")
	shell.Stdin, shell.Env = strings.NewReader(script.String()), append(os.Environ(), keyVariable+"="+cfg.Credentials.APIKey)
	words, err := shell.Output()
	require.NoError(t, err)
	require.Contains(t, string(words), "X-Api-Key: "+cfg.Credentials.APIKey, "the shell expands the name where the suite put the key")
	for _, word := range strings.Split(string(words), "\n") {
		if strings.Contains(word, cfg.Credentials.APIKey) {
			assert.True(t, strings.HasPrefix(word, "X-Api-Key: "), word)
		}
	}
	assert.Empty(t, target.leaks)
}
