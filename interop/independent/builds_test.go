package independent

import (
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// repository makes a repository with the git program, and serves it with git's own server. The function runs git there; with
// "write" it writes a file.
func repository(t *testing.T) (string, func(...string) string) {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		t.Skip("the git program is not installed")
	}
	folder := t.TempDir()
	git := func(args ...string) string {
		command := exec.Command(program, args...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s: %s", args, out)
		return strings.TrimSpace(string(out))
	}
	git("init", "--quiet", "--initial-branch", "trunk")
	server := httptest.NewServer(&cgi.Handler{Path: filepath.Join(git("--exec-path"), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1"}})
	t.Cleanup(server.Close)
	return server.URL + "/.git", func(args ...string) string {
		if args[0] == "write" {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, args[1])), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(folder, args[1]), []byte(args[2]), 0o600))
			return git("add", args[1])
		}
		return git(args...)
	}
}

const graphConfig = `{"graphs": {"one": "./g.star:agent"}, "auth": {"path": "./g.star:auth"}}`

// TestCloneBuildsWhatARepositoryHolds: what is asked for and is not there ends in BUILD_FAILED.
func TestCloneBuildsWhatARepositoryHolds(t *testing.T) {
	url, git := repository(t)
	git("write", "g.star", "agent = 1\nauth = 2\n")
	git("write", "graphs.json", graphConfig)
	git("write", "deep/graphs.json", strings.ReplaceAll(graphConfig, "./", "../"))
	git("write", "nothing.json", "{}")
	git("write", "elsewhere.json", strings.Replace(graphConfig, "g.star:agent", "h.star:agent", 1))
	git("write", "unnamed.json", strings.Replace(graphConfig, ":agent", ":other", 1))
	git("write", "open.json", `{"graphs": {"one": "./g.star:agent"}}`)
	git("commit", "--quiet", "--message", "one")
	first := git("rev-parse", "HEAD")
	git("tag", "--annotate", "--message", "v1", "v1")
	git("checkout", "--quiet", "-b", "bad")
	git("write", "g.star", "agent = (\nauth = 2\n")
	git("commit", "--quiet", "--message", "bad")
	bad := git("rev-parse", "HEAD")

	s := start(t, Options{Clone: true})
	c := s.owner(t)
	for _, tc := range []struct{ url, ref, path, status, commit string }{
		{url, "trunk", "graphs.json", deployed, first},
		{url, "trunk", "./deep/graphs.json", deployed, first},
		{url, "refs/tags/v1", "graphs.json", deployed, first},
		{url, "v1", "graphs.json", "BUILD_FAILED", ""},
		{url, "refs/tags/trunk", "graphs.json", "BUILD_FAILED", ""},
		{url, "bad", "graphs.json", "BUILD_FAILED", bad},
		{url, "--upload-pack=x", "graphs.json", "BUILD_FAILED", ""},
		{url, "trunk", "missing.json", "BUILD_FAILED", first},
		{url, "trunk", "g.star", "BUILD_FAILED", first},
		{url, "trunk", "nothing.json", "BUILD_FAILED", first},
		{url, "trunk", "elsewhere.json", "BUILD_FAILED", first},
		{url, "trunk", "unnamed.json", "BUILD_FAILED", first},
		{url, "trunk", "open.json", "BUILD_FAILED", first},
		{url + "x", "trunk", "graphs.json", "BUILD_FAILED", ""},
		{"file:///etc", "trunk", "graphs.json", "BUILD_FAILED", ""},
	} {
		body := s.CreateBody("cloned", tc.ref)
		body["source_config"].(map[string]any)["repo_url"] = tc.url
		body["source_revision_config"].(map[string]any)["graph_config_path"] = tc.path
		body["secrets"] = []any{object{"name": "CONFORMANCE_USERS", "value": `[{"token": "t", "identity": "i", "role": "r"}]`}}
		a := c.do("POST", "/v2/deployments", body)
		require.Equal(t, http.StatusAccepted, a.status, a.text)
		d := "/v2/deployments/" + a.get("id").String()
		rev := c.settled(d)
		assert.Equal(t, tc.status, rev.get("status").String(), "%+v", tc)
		assert.Equal(t, tc.commit, rev.get("source_revision_config.repo_commit_sha").String(), "%+v", tc)
		if tc.status != deployed {
			continue
		}
		agent := newClient(t, c.do("GET", d, nil).get(s.AgentURLField).String(), "Authorization", "Bearer t")
		thread := agent.thread()
		assert.Equal(t, 404, agent.do("POST", thread+"/runs", runBody("hello", "")).status, "the source names its graph")
		order := runBody("hello", "")
		order["assistant_id"] = "one"
		agent.do("GET", thread+"/runs/"+agent.do("POST", thread+"/runs", order).get("run_id").String()+"/join", nil)
		assert.Equal(t, []string{"human: hello", "ai: Version " + first + " says <<hello>>, over & out"}, agent.contents(thread))
		assert.Equal(t, 401, newClient(t, agent.base, "Authorization", "Bearer "+s.Users[0].Token).do("GET", "/threads", nil).status)
	}
}

func TestClonePullsImages(t *testing.T) {
	images := httptest.NewServer(registry.New())
	t.Cleanup(images.Close)
	at := strings.TrimPrefix(images.URL, "http://")
	ref, err := name.ParseReference(at + "/empty:v1")
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	require.NoError(t, remote.Write(ref, empty.Image, remote.WithTransport(transport)))
	s := start(t, Options{Clone: true, Edition: SelfHosted})
	c := s.owner(t)
	for _, uri := range []string{at + "/empty:v1", at + "/empty:v2", at + "/other:v1", "no image"} {
		assert.Equal(t, "DEPLOY_FAILED", c.settled(c.create(s.Facts, uri)).get("status").String(), uri)
	}
}
