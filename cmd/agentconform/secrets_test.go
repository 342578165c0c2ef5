package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/steps/config"
)

// echoing is a configuration of a target that echoes every credential, and its file.
func echoing(t *testing.T) (cfg *config.Config, file string) {
	t.Helper()
	server, err := reference.Start(t.Context(), reference.Options{WrapHTTP: echo})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	c := config.Default()
	describe(&c, server)
	c.AgentTarget = server.AgentURL()
	file = filepath.Join(t.TempDir(), "target.yaml")
	text, err := c.YAML()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return &c, file
}

// assertNoSecret looks for the secrets of a configuration in a text, in which their names stand in place of them.
func assertNoSecret(t *testing.T, cfg *config.Config, text, where string) {
	t.Helper()
	for secret, name := range cfg.Secrets() {
		for _, shape := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret))} {
			assert.False(t, strings.Contains(text, shape), "%s holds %s", where, name)
		}
	}
}

// TestDoctorShowsNoSecret examines a target that echoes every credential.
func TestDoctorShowsNoSecret(t *testing.T) {
	t.Parallel()
	cfg, file := echoing(t)
	var printed bytes.Buffer
	execute(t.Context(), []string{"doctor", "--config", file}, streams{out: &printed, err: &printed})
	require.Contains(t, printed.String(), "$AGENTCONFORM_", "the echo was shown")
	assertNoSecret(t, cfg, printed.String(), "what is printed")
}

// TestARunShowsNoSecret judges a target that echoes every credential: the echo is a fault too, so that findings are
// written.
func TestARunShowsNoSecret(t *testing.T) {
	t.Parallel()
	cfg, file := echoing(t)
	out := filepath.Join(t.TempDir(), "out")
	var printed bytes.Buffer
	code := execute(context.Background(), []string{"run", "--config", file, "--out", out,
		"--only", "CP-GET-*,CP-AUTH-1,CP-CONTRACT-*,AS-THREAD-1,AS-AUTH-1"}, streams{out: &printed, err: &printed})
	assert.Equal(t, exitNonConformant, code, printed.String())
	assertNoSecret(t, cfg, printed.String(), "what is printed")
	for path, content := range written(t, out) {
		assertNoSecret(t, cfg, string(content), path)
		if filepath.Base(path) == "result.json" {
			assert.Contains(t, string(content), "$AGENTCONFORM_CREDENTIALS_API_KEY", "the echo was recorded")
		}
	}
}

// written are the files below folders.
func written(t *testing.T, folders ...string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, folder := range folders {
		require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				all[path], err = os.ReadFile(path)
			}
			return err
		}))
	}
	return all
}

// echo puts what the client sent into the headers, the bodies, the redirects and the errors of its answers.
func echo(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var heard []string
		for _, name := range []string{"X-Api-Key", "X-Tenant-Id", "Authorization"} {
			if v := r.Header.Get(name); v != "" {
				heard = append(heard, v, base64.StdEncoding.EncodeToString([]byte(strings.TrimPrefix(v, "Bearer "))))
				w.Header().Set("X-Echo-"+name, v)
				http.SetCookie(w, &http.Cookie{Name: "session", Value: url.QueryEscape(v)})
			}
		}
		said := strings.Join(heard, " ")
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		var object map[string]any
		switch {
		case answer.Code == http.StatusNotFound:
			w.Header().Set("Location", "/elsewhere?key="+url.QueryEscape(said))
			http.Error(w, strings.Repeat("x", 70)+said+" is not known here", http.StatusTemporaryRedirect)
			return
		case json.Unmarshal(answer.Body.Bytes(), &object) == nil && object != nil:
			object["echo"] = said
			if _, ok := object["created_at"]; ok {
				object["created_at"] = said // breaks the contract, so that an excerpt of it is reported
			}
			answer.Body.Reset()
			_ = json.NewEncoder(answer.Body).Encode(object)
		}
		for name, values := range answer.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}
