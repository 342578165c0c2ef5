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

// TestCredentialsThatExpire judges a target that replaces its API key and the token of a user after every 30 requests.
// The new values are in the files before the old ones are refused. No report contains any of them.
func TestCredentialsThatExpire(t *testing.T) {
	t.Parallel()
	const prefix = "Rotating-Credential-"
	folder, out := t.TempDir(), t.TempDir()
	next := func(turn int) {
		for _, name := range []string{"key", "token"} { // renames the file, so that a partly written file is never read
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
		turn := requests / 60
		if requests%60 == 0 {
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
	// The test run sends few requests at a time, so that credentials are used before they expire.
	code, printed := command(t, "run", "--config", file, "--out", out, "--seed", "5", "--concurrency", "2",
		"--only", "CP-GET-*,CP-LIST-3,CP-LIST-5,CP-LIST-12,CP-LIST-13,CP-LIST-14,AS-THREAD-*,AS-RUN-1")
	assert.Equal(t, exitConformant, code, printed)
	assert.Greater(t, requests, 120, "credentials were replaced")
	assert.NotContains(t, printed, prefix)
	for name, content := range written(t, out) {
		assert.NotContains(t, string(content), prefix, name)
	}
}
