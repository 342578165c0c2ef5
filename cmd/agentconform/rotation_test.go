package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/steps/config"
)

// rotation makes credentials expire after some requests: the next ones are written to the files before the last ones
// are refused.
type rotation struct {
	folder     string
	key, token string // that the reference knows
	every      int

	mu       sync.Mutex
	requests int
	turn     int
}

// prefix begins every credential that is sent.
const prefix = "Rotating-Credential-"

func (o *rotation) write() error {
	for _, name := range []string{"key", "token"} {
		// A file that is written anew must never be seen half written.
		next := filepath.Join(o.folder, name+".next")
		if err := os.WriteFile(next, []byte(o.named(name)+"\n"), 0o600); err != nil {
			return err
		}
		if err := os.Rename(next, filepath.Join(o.folder, name)); err != nil {
			return err
		}
	}
	return nil
}

func (o *rotation) named(what string) string { return fmt.Sprintf("%s%s-%d", prefix, what, o.turn) }

func (o *rotation) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		if o.requests++; o.folder != "" && o.requests%o.every == 0 {
			o.turn++
			_ = o.write()
		}
		key, token := o.named("key"), o.named("token")
		o.mu.Unlock()
		if r.Header.Get("X-Api-Key") == key {
			r.Header.Set("X-Api-Key", o.key)
		}
		if r.Header.Get("Authorization") == "Bearer "+token {
			r.Header.Set("Authorization", "Bearer "+o.token)
		}
		next.ServeHTTP(w, r)
	})
}

// TestCredentialsThatExpire judges a target whose API key and token of a user are replaced in mid-run, and finds none
// of them in anything that was written.
func TestCredentialsThatExpire(t *testing.T) {
	t.Parallel()
	o := &rotation{every: 30}
	server, err := reference.Start(t.Context(), reference.Options{WrapHTTP: []func(http.Handler) http.Handler{o.wrap}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	cfg := config.Default()
	describe(&cfg, server)
	o.key, o.token = cfg.Credentials.APIKey, cfg.Users[0].Token
	o.mu.Lock()
	o.folder = t.TempDir()
	require.NoError(t, o.write())
	o.mu.Unlock()
	cfg.Credentials, cfg.TenantIDAlone = config.Credentials{APIKey: "THE-KEY"}, false
	cfg.Users[0].Token = "THE-TOKEN"
	text, err := cfg.YAML()
	require.NoError(t, err)
	text = []byte(strings.NewReplacer("api_key: THE-KEY", "api_key: {file: key}", "token: THE-TOKEN", "token: {file: token}").Replace(string(text)))
	file, out := filepath.Join(o.folder, "target.yaml"), filepath.Join(t.TempDir(), "out")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	var printed bytes.Buffer
	// Few scenarios at once: credentials that were read again are used before they expire too.
	code := execute(context.Background(), []string{"run", "--config", file, "--out", out, "--seed", "5", "--concurrency", "2",
		"--only", "CP-GET-*,CP-LIST-3,CP-LIST-5,CP-LIST-12,CP-LIST-13,CP-LIST-14,AS-THREAD-*,AS-RUN-1"},
		streams{out: &printed, err: &printed})
	assert.Equal(t, exitConformant, code, printed.String())
	o.mu.Lock()
	assert.Positive(t, o.turn, "credentials were replaced")
	o.mu.Unlock()
	assert.NotContains(t, printed.String(), prefix)
	for _, name := range []string{"result.json", "index.html", "result.har", "ledger.jsonl"} {
		content, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		assert.NotContains(t, string(content), prefix, name)
	}
}
