package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
)

const withFiles = `target: https://host.example
credentials: {api_key: {file: key}}
other_tenant: {bearer: {file: sub/bearer}}
users:
  - {name: ada, token: {file: ada}}
  - {name: bob, headers: {X-Key: {file: bob}, X-Org: fixed}}
agent: {studio_headers: {X-Studio: {file: studio}}}
`

func writeSecrets(t *testing.T, folder, ending string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "sub"), 0o700))
	for _, name := range []string{"key", "sub/bearer", "ada", "bob", "studio"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(" "+filepath.Base(name)+ending+"\n"), 0o600))
	}
}

func loadWithFiles(t *testing.T, text string, environ ...string) (*config.Config, string, error) {
	t.Helper()
	folder := t.TempDir()
	writeSecrets(t, folder, "-one")
	file := filepath.Join(folder, "target.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	c, err := config.Load(config.Sources{File: file, Environ: environ})
	return c, folder, err
}

func TestCredentialsFromFiles(t *testing.T) {
	c, folder, err := loadWithFiles(t, withFiles)
	require.NoError(t, err)
	values := func(c *config.Config) []string {
		return []string{c.Credentials.APIKey, c.OtherTenant.Bearer, c.Users[0].Token, c.Users[1].Headers["X-Key"], c.Users[1].Headers["X-Org"], c.Agent.StudioHeaders["X-Studio"]}
	}
	first := []string{"key-one", "bearer-one", "ada-one", "bob-one", "fixed", "studio-one"}
	assert.Equal(t, first, values(c))
	assert.Nil(t, c.Reread(), "nothing has changed")
	writeSecrets(t, folder, "-two")
	next := c.Reread()
	require.NotNil(t, next)
	assert.Equal(t, []string{"key-two", "bearer-two", "ada-two", "bob-two", "fixed", "studio-two"}, values(next))
	assert.Equal(t, first, values(c), "requests that are being made may still read these")
	assert.Contains(t, next.Secrets(), "ada-two")
	assert.Nil(t, next.Reread())
	for _, broken := range []string{"", "x", "two\nlines"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, "key"), []byte(broken), 0o600))
		assert.Nil(t, next.Reread(), "a file that holds no credential may just be written")
	}
}

func TestAnEnvironmentVariableReplacesAFile(t *testing.T) {
	c, folder, err := loadWithFiles(t, withFiles, "AGENTCONFORM_CREDENTIALS_API_KEY=from-environment", "AGENTCONFORM_USERS_1_HEADERS_X_KEY=also-from-there")
	require.NoError(t, err)
	assert.Equal(t, "from-environment", c.Credentials.APIKey)
	writeSecrets(t, folder, "-two")
	next := c.Reread()
	require.NotNil(t, next)
	assert.Equal(t, "from-environment", next.Credentials.APIKey)
	assert.Equal(t, "also-from-there", next.Users[1].Headers["X-Key"])
	assert.Equal(t, "ada-two", next.Users[0].Token)
}

func TestMistakesInFilesOfCredentials(t *testing.T) {
	for name, c := range map[string]struct{ from, to, says string }{
		"missing":     {"{file: key}", "{file: none}", "target.yaml:2: credentials.api_key: the file "},
		"a folder":    {"{file: key}", "{file: sub}", "it is no regular file"},
		"another key": {"{file: key}", "{path: key}", "credentials.api_key: is a group of keys; use a string, or {file: path} with a file that holds it"},
		"two keys":    {"{file: key}", "{file: key, mode: x}", "credentials.api_key: is a group of keys"},
		"a list":      {"{file: key}", "[key]", "credentials.api_key: is a list"},
		"no secret":   {"target: https://host.example", "target: {file: key}", "target: is a group of keys"},
		"a name":      {"name: ada", "name: {file: ada}", "users.0.name: is a group of keys"},
	} {
		_, _, err := loadWithFiles(t, strings.Replace(withFiles, c.from, c.to, 1))
		require.ErrorContains(t, err, c.says, name)
		assert.NotContains(t, err.Error(), "-one", name)
	}
}
