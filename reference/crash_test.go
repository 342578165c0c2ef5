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

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/agentconform/agentconform/reference"
)

// victimFolder is the environment variable that makes this test binary run a reference, which the test kills.
const victimFolder = "AGENTCONFORM_TEST_VICTIM"

// runAsVictim serves a reference until the process is killed, if victimFolder is set. It reports whether it is set.
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
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // returns at the end of the test if the process was not killed
	return true
}

// victim starts a reference in another process. It returns its address and a function that kills it.
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
		_ = cmd.Process.Kill() // SIGKILL: the process cannot clean up
		_ = stdin.Close()
		_ = cmd.Wait()
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return gjson.Get(line, "url").String(), kill
}

// TestKillLosesNothingAcknowledged kills a reference during builds and a run, and checks the data of the next one.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	folder := t.TempDir()
	first := start(t, reference.Options{DataDir: folder}) // creates the credentials, which are stored in the folder
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
	require.Equal(t, set.Owner, after.server.Fixtures().Owner, "credentials are stored in the folder")
	_, state := after.as("GET", strings.Replace(thread, url, after.url, 1)+"/state", nil)
	require.Equal(t, "You said: remember me", state.Get("values.messages.1.content").String(), "the agent server is in service at once")
	_, run := after.as("GET", strings.Replace(running, url, after.url, 1), nil)
	require.Equal(t, "interrupted", run.Get("status").String(), run.Raw)
	for _, id := range slices.Sorted(maps.Keys(deployments)) {
		status, d := after.do("GET", "/v2/deployments/"+id, nil)
		require.Equal(t, http.StatusOK, status, d.Raw)
		require.Equal(t, deployments[id], d.Get("latest_revision_id").String())
		after.await(id, deployments[id]) // the new process continues
	}
	_, list := after.do("GET", "/v2/deployments/"+up+"/revisions", nil)
	require.Len(t, list.Get("resources").Array(), 2)
}
