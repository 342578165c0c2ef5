package main

import (
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

// TestCredentialsThatExpire judges a target whose API key and token of a user are replaced after each 30 requests: the
// next ones are written to the files before the last ones are refused. None of them is in anything that was written.
func TestCredentialsThatExpire(t *testing.T) {
	t.Parallel()
	const prefix = "Rotating-Credential-"
	folder, out := t.TempDir(), t.TempDir()
	next := func(turn int) {
		for _, name := range []string{"key", "token"} { // a file that is written anew must never be seen half written
			file := filepath.Join(folder, name)
			_ = os.WriteFile(file+".next", fmt.Appendf(nil, "%s%s-%d\n", prefix, name, turn), 0o600)
			_ = os.Rename(file+".next", file)
		}
	}
	next(0)
	var server *reference.Server
	var mu sync.Mutex
	requests := 0
	rotating := before(func(_ http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		requests++
		turn := requests / 30
		if requests%30 == 0 {
			next(turn)
		}
		mu.Unlock()
		set := server.Fixtures()
		if r.Header.Get("X-Api-Key") == fmt.Sprintf("%skey-%d", prefix, turn) {
			r.Header.Set("X-Api-Key", set.Owner.APIKey)
		}
		if r.Header.Get("Authorization") == fmt.Sprintf("Bearer %stoken-%d", prefix, turn) {
			r.Header.Set("Authorization", "Bearer "+set.Users[0].Token)
		}
		return false
	})
	server, cfg := start(t, reference.Options{WrapHTTP: []func(http.Handler) http.Handler{rotating}})
	cfg.Credentials, cfg.TenantIDAlone, cfg.Users[0].Token = config.Credentials{APIKey: "THE-KEY"}, false, "THE-TOKEN"
	text := []byte(strings.NewReplacer("THE-KEY", "{file: key}", "THE-TOKEN", "{file: token}").Replace(string(cfg.YAML())))
	file := filepath.Join(folder, "target.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	// Few scenarios at once: credentials that were read again are used before they expire too.
	code, printed := command(t, "run", "--config", file, "--out", out, "--seed", "5", "--concurrency", "2",
		"--only", "CP-GET-*,CP-LIST-3,CP-LIST-5,CP-LIST-12,CP-LIST-13,CP-LIST-14,AS-THREAD-*,AS-RUN-1")
	assert.Equal(t, exitConformant, code, printed)
	assert.Greater(t, requests, 60, "credentials were replaced")
	assert.NotContains(t, printed, prefix)
	for name, content := range written(t, out) {
		assert.NotContains(t, string(content), prefix, name)
	}
}
