package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
)

// FuzzEnvironment: whatever a variable holds, a configuration is complete or each mistake names its key; no mistake shows the value of a
// credential.
func FuzzEnvironment(f *testing.F) {
	for _, v := range []string{
		"TARGET=http://h", "CREDENTIALS_API_KEY=k", "USERS_0_TOKEN=t", "USERS_99_TOKEN=t", `VOCABULARY={"git_host": "theirs"}`, "VOCABULARY=[", "TIMEOUTS_POLL=3m",
		"CREATE_BODY={a: &a [*a]}", "RATE=5/s", "RATE=9223372036854775807/h", "PROXY=http://u:p@h:1", "RESOLVE={a: ::1}", "FIXTURES_LISTEN=:0", "_=x", "ENVIRONMENTS_A_TARGET=x", "MAX_DEPLOYMENTS=!!int x",
	} {
		name, value, _ := strings.Cut(v, "=")
		f.Add(name, value)
	}
	path := filepath.Join(f.TempDir(), "c.yaml")
	require.NoError(f, os.WriteFile(path, []byte(valid), 0o600))
	f.Fuzz(func(t *testing.T, name, value string) {
		if strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return
		}
		c, err := config.Load(config.Sources{File: path, Environ: []string{"AGENTCONFORM_" + name + "=" + value}})
		if err == nil {
			every := c.Every()
			require.True(t, every >= 0 && every <= time.Hour)
			require.NotNil(t, c.Secrets())
			return
		}
		var mistakes *config.Error
		if errors.As(err, &mistakes) {
			require.NotEmpty(t, mistakes.Problem)
			require.NotEmpty(t, mistakes.Remedy)
		}
		if strings.HasPrefix(name, "CREDENTIALS_") && len(value) >= 12 && !strings.Contains(name, value) {
			require.NotContains(t, err.Error(), value)
		}
	})
}
