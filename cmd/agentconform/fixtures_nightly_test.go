//go:build nightly

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
)

// TestABuilderGetsTheGraphInEachLanguage fetches each ref with the git program and each image from the registry, as builders do: what the
// graph configuration names is there, unless the version is to be broken.
func TestABuilderGetsTheGraphInEachLanguage(t *testing.T) {
	t.Parallel()
	for _, language := range []string{config.Starlark, config.Python, config.JavaScript} {
		t.Run(language, func(t *testing.T) {
			c := config.Default()
			c.Target, c.Fixtures = "http://127.0.0.1:9", config.Fixtures{Serve: "127.0.0.1:0", Graph: language}
			require.NoError(t, c.Complete())
			host := strings.TrimPrefix(serveFor(t, &c).Advertised(), "http://")
			graphs := c.Create.Body["source_revision_config"].(map[string]any)["graph_config_path"].(string)

			repository := c.Create.Body["source_config"].(map[string]any)["repo_url"].(string)
			for ref, commit := range c.Alternatives.Commits {
				at := filepath.Join(t.TempDir(), "clone")
				git(t, "clone", "--quiet", "--depth", "1", "--branch", strings.TrimPrefix(ref, "refs/tags/"), repository, at)
				assert.Equal(t, commit, strings.TrimSpace(string(git(t, "-C", at, "rev-parse", "HEAD^{commit}"))), ref)
				for _, file := range []string{graphs, c.Alternatives.GraphConfigPath} {
					assertNamesWhatIsThere(t, files(t, bytes.NewReader(git(t, "-C", at, "archive", "--format", "tar", "HEAD")), ""), file, ref)
				}
			}
			for _, tag := range []string{"v1", "v2", "broken"} {
				ref, err := name.ParseReference(host + "/conformance:" + tag)
				require.NoError(t, err)
				image, err := remote.Image(ref)
				require.NoError(t, err)
				about, err := image.ConfigFile()
				require.NoError(t, err)
				content := mutate.Extract(image)
				assertNamesWhatIsThere(t, files(t, content, about.Config.WorkingDir), graphs, tag)
				require.NoError(t, content.Close())
			}
		})
	}
}

// git runs the program without anything that the machine configures.
func git(t *testing.T, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-c", "advice.detachedHead=false"}, args...)...)
	command.Env = append(command.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := command.Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("the git program is not installed")
	}
	require.NoError(t, err, "git %v", args)
	return out
}

// files reads the regular files below a folder of an archive.
func files(t *testing.T, archive io.Reader, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		if below, inside := strings.CutPrefix(path.Clean("/"+header.Name), strings.TrimSuffix("/"+strings.Trim(folder, "/"), "/")+"/"); inside {
			all[below] = string(text)
		}
	}
}

// assertNamesWhatIsThere reads the graph configuration (interface, section 5, item 3).
func assertNamesWhatIsThere(t *testing.T, files map[string]string, file, version string) {
	t.Helper()
	var named struct {
		Graphs map[string]string
		Auth   struct{ Path string }
	}
	require.NoError(t, json.Unmarshal([]byte(files[file]), &named), "%s of %s", file, version)
	require.NotEmpty(t, named.Graphs)
	for _, place := range append([]string{named.Auth.Path}, named.Graphs["conformance"]) {
		at, object, _ := strings.Cut(place, ":")
		there := object != "" && strings.Contains(files[path.Join(path.Dir(file), at)], object)
		assert.True(t, there || version == "broken", "%s of %s names %s", file, version, place)
	}
}
