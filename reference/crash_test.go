package reference_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentconform/agentconform/reference"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// victimFolder names the environment variable that makes this test binary a reference to be killed.
const victimFolder = "AGENTCONFORM_TEST_VICTIM"

// runAsVictim serves a reference until the process is killed, if it was started for that.
func runAsVictim() bool {
	folder := os.Getenv(victimFolder)
	if folder == "" {
		return false
	}
	s, err := reference.Start(context.Background(), reference.Options{DataDir: folder, Pace: 30 * time.Millisecond})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	line, err := json.Marshal(map[string]string{"url": s.ControlPlaneURL()})
	if err != nil {
		os.Exit(1)
	}
	fmt.Printf("%s\n", line)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // the end of the test, should nobody kill us before
	return true
}

// victim starts a reference in a process of its own and returns its address and how to kill it.
func victim(t *testing.T, folder string) (url string, kill func()) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), victimFolder+"="+folder)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	kill = func() {
		_ = cmd.Process.Kill() // SIGKILL: nothing gets a chance to be tidied
		_ = stdin.Close()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return gjson.Get(line, "url").String(), kill
}

// TestNothingAcknowledgedIsLostByAKill kills a reference in the middle of its pipelines and of a run, and looks at what
// the next one knows.
func TestNothingAcknowledgedIsLostByAKill(t *testing.T) {
	folder := t.TempDir()
	first := start(t, reference.Options{DataDir: folder}) // only to learn credentials, which stay with the folder
	set := first.server.Fixtures()
	require.NoError(t, first.server.Close())

	url, kill := victim(t, folder)
	c := newClient(t, url, set.Owner.APIKey)
	c.server = first.server            // for its fixtures
	deployments := map[string]string{} // id -> latest revision, as acknowledged
	create := func() (id string) {
		status, d := c.do("POST", "/v2/deployments", set.Create)
		require.Equal(t, http.StatusCreated, status, d.Raw)
		id = d.Get("id").String()
		deployments[id] = d.Get("latest_revision_id").String()
		return id
	}
	up := create()
	c.await(up, deployments[up])
	threads := url + "/agents/" + up + "/threads"
	_, made := c.as("POST", threads, map[string]any{})
	thread := threads + "/" + made.Get("thread_id").String()
	say := func(text string) (run string) {
		status, made := c.as("POST", thread+"/runs", map[string]any{
			"assistant_id": set.AssistantID,
			"input":        map[string]any{"messages": []any{map[string]any{"role": "user", "content": text}}},
		})
		require.Equal(t, http.StatusOK, status, made.Raw)
		return thread + "/runs/" + made.Get("run_id").String()
	}
	c.as("GET", say("remember me")+"/join", nil)
	running := say("wait=600000")
	for range 3 {
		create()
	}
	status, d := c.do("PATCH", "/v2/deployments/"+up, map[string]any{
		"source_revision_config": map[string]any{"repo_ref": set.SecondRef},
	})
	require.Equal(t, http.StatusOK, status, d.Raw)
	deployments[up] = d.Get("latest_revision_id").String()
	kill()

	after := start(t, reference.Options{DataDir: folder})
	require.Equal(t, set.Owner, after.server.Fixtures().Owner, "credentials stay with the folder")
	_, state := after.as("GET", strings.Replace(thread, url, after.url, 1)+"/state", nil)
	require.Equal(t, "You said: remember me", state.Get("values.messages.1.content").String(), "it is in service at once")
	_, run := after.as("GET", strings.Replace(running, url, after.url, 1), nil)
	require.Equal(t, "interrupted", run.Get("status").String(), run.Raw)
	for _, id := range slices.Sorted(maps.Keys(deployments)) {
		status, d := after.do("GET", "/v2/deployments/"+id, nil)
		require.Equal(t, http.StatusOK, status, d.Raw)
		require.Equal(t, deployments[id], d.Get("latest_revision_id").String())
		after.await(id, deployments[id]) // taken up again
	}
	_, list := after.do("GET", "/v2/deployments/"+up+"/revisions", nil)
	require.Len(t, list.Get("resources").Array(), 2)
}
