package reference_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
)

func TestErrorsOfStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	invalid := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(invalid, "fixtures.json"), []byte("{"), 0o600))
	inUse := t.TempDir()
	start(t, reference.Options{DataDir: inUse})
	for name, c := range map[string]struct {
		opts reference.Options
		want string
	}{
		"edition":     {reference.Options{Edition: "home"}, `unknown edition "home"; use "cloud" or "self-hosted"`},
		"no folder":   {reference.Options{DataDir: file}, "creating the data folder"},
		"credentials": {reference.Options{DataDir: invalid}, "delete the file"},
		"in use":      {reference.Options{DataDir: inUse}, "another process has it open"},
	} {
		_, err := reference.Start(context.Background(), c.opts)
		require.ErrorContains(t, err, c.want, name)
	}
}

func TestCloseRemovesOnlyTemporaryFolder(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s, err := reference.Start(context.Background(), reference.Options{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "Close may be called twice")
	remaining, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, remaining)

	kept := t.TempDir()
	s, err = reference.Start(context.Background(), reference.Options{DataDir: kept})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.FileExists(t, filepath.Join(kept, "reference.db"))
	info, err := os.Stat(filepath.Join(kept, "fixtures.json"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestUnspecifiedAddressIsReachable(t *testing.T) {
	c := start(t, reference.Options{Listen: "0.0.0.0:0"})
	require.True(t, strings.HasPrefix(c.url, "http://127.0.0.1:"), c.url)
	status, _ := c.do("GET", "/v2/deployments", nil)
	require.Equal(t, http.StatusOK, status)
}

func TestCredentialsDiffer(t *testing.T) {
	a, b := start(t, reference.Options{}), start(t, reference.Options{})
	set := a.server.Fixtures()
	require.NotEqual(t, set.Owner, set.OtherTenant)
	require.NotEqual(t, set.Users[0].Token, set.Users[1].Token)
	b.key = a.key
	status, _ := b.do("GET", "/v2/deployments", nil)
	require.Equal(t, http.StatusUnauthorized, status)
	for key, want := range map[string]int{set.Owner.APIKey: http.StatusOK, set.OtherTenant.APIKey: http.StatusUnauthorized} {
		studio := map[string]string{"X-Auth-Scheme": "studio", "X-Api-Key": key}
		status, _ := a.send(studio, "GET", a.server.AgentURL()+"/threads", nil)
		require.Equal(t, want, status, "only the key of the tenant authenticates the studio")
	}
}
