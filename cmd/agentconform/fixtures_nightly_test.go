//go:build nightly

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
)

// cloning starts the server that shares no code with the reference as a process that fetches what it builds, and
// configures the same of it.
func cloning(t *testing.T, program, edition string) *config.Config {
	t.Helper()
	file := filepath.Join(t.TempDir(), "agentconform.yaml")
	server := exec.Command(program, "-clone", "-edition", edition, file)
	server.Stderr = os.Stderr
	input, err := server.StdinPipe()
	require.NoError(t, err)
	ready, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		assert.NoError(t, input.Close()) // it ends with its input
		assert.NoError(t, server.Wait())
	})
	line, err := bufio.NewReader(ready).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, line, "ready ")
	written, err := config.Load(config.Sources{File: file})
	require.NoError(t, err)
	return onlyFixtures(t, written.Target, written.Credentials.APIKey)
}

// TestFixturesAreEnoughForAll judges the reference whole.
func TestFixturesAreEnoughForAll(t *testing.T) {
	t.Parallel()
	for edition := range notJudgedWithFixtures {
		t.Run(edition, func(t *testing.T) {
			t.Parallel()
			assertFixturesAreEnough(t, withFixtures(t, edition), edition)
		})
	}
}

// TestFixturesAreEnoughForGit judges a server with a builder of its own in the same way, which fetches from the
// fixtures with the git program and from the registry, with the graph in each language.
func TestFixturesAreEnoughForGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the git program is not installed, with which the server fetches")
	}
	t.Parallel()
	program := filepath.Join(t.TempDir(), "independent")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../interop/independent/serve").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, tc := range []struct {
		edition, graph string
		only           []string
	}{
		{config.Cloud, config.Starlark, nil}, {config.Cloud, config.Python, ofSources}, {config.Cloud, config.JavaScript, ofSources}, {config.SelfHosted, config.Starlark, nil},
	} {
		t.Run(tc.edition+" "+tc.graph, func(t *testing.T) {
			c := cloning(t, program, tc.edition)
			c.Fixtures.Graph = tc.graph
			assertFixturesAreEnough(t, c, tc.edition, tc.only...)
		})
	}
}
