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

// TestSecretsReachNothing_Long judges a target that echoes every credential wherever it can, and looks for them in
// everything that was written and printed.
func TestSecretsReachNothing_Long(t *testing.T) {
	server, err := reference.Start(t.Context(), reference.Options{WrapHTTP: echo})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })

	cfg := config.Default()
	describe(&cfg, server)
	cfg.Users[1].Headers = map[string]string{"Authorization": "Bearer " + cfg.Users[1].Token}
	file, out := filepath.Join(t.TempDir(), "target.yaml"), filepath.Join(t.TempDir(), "out")
	text, err := cfg.YAML()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))

	var printed bytes.Buffer
	formats := []string{"plain", "json"}
	if testing.Short() {
		formats = formats[:1]
	}
	for _, format := range formats {
		code := execute(context.Background(), []string{"run", "--config", file, "--out", out, "--format", format, "--seed", "3",
			"--write-baseline", filepath.Join(out, "baseline.yaml")}, streams{out: &printed, err: &printed})
		assert.Equal(t, exitNonConformant, code, "the echo is a fault too, so that findings are written")
	}
	t.Setenv("GITHUB_STEP_SUMMARY", filepath.Join(out, "step-summary.md"))
	execute(context.Background(), []string{"replay", "CP-GET-1", "--config", file, "--result", filepath.Join(out, "result.json")}, streams{out: &printed, err: &printed})

	written := map[string][]byte{"printed": printed.Bytes()}
	require.NoError(t, filepath.WalkDir(out, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			written[path], err = os.ReadFile(path)
		}
		return err
	}))
	require.Greater(t, len(written), 8)
	require.Contains(t, string(written[filepath.Join(out, "result.json")]), "$AGENTCONFORM_CREDENTIALS_API_KEY", "the echo was recorded")
	for secret, name := range cfg.Secrets() {
		for _, shape := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)), secret[:len(secret)*3/4]} {
			for path, content := range written {
				assert.False(t, bytes.Contains(content, []byte(shape)), "%s holds %s", path, name)
			}
		}
	}
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
