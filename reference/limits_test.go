package reference_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reference/agentserver"
	"github.com/agentconform/agentconform/reference/store"
)

// TestWhatOneKeyKeepsIsBounded: beyond the bounds a creation is refused, with a reason, and possible again when there is room.
func TestWhatOneKeyKeepsIsBounded(t *testing.T) {
	c := start(t, reference.Options{
		Limits:    store.Limits{Deployments: 2, Revisions: 3},
		WrapAgent: func(o *agentserver.Options) { o.KeptThreads, o.KeptRuns = 2, 3 },
	})
	set := c.server.Fixtures()
	first := "/v2/deployments/" + c.create().Get("id").String()
	c.create()
	status, refused := c.do("POST", "/v2/deployments", set.Create)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, refused.Get("detail").String(), "There are 2 deployments")
	change := map[string]any{"source_revision_config": map[string]any{"repo_ref": set.SecondRef}}
	for range 2 {
		status, d := c.do("PATCH", first, change)
		require.Equal(t, http.StatusOK, status, d.Raw)
	}
	status, refused = c.do("PATCH", first, change)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, refused.Get("detail").String(), "has 3 revisions")
	status, _ = c.do("DELETE", first, nil)
	require.Equal(t, http.StatusNoContent, status)
	require.Eventually(t, func() bool {
		status, _ := c.do("POST", "/v2/deployments", set.Create)
		return status == http.StatusCreated
	}, limit, tick)

	agent, run := c.server.AgentURL(), map[string]any{"assistant_id": set.AssistantID, "input": map[string]any{"messages": []any{}}}
	var threads []string
	for range 2 {
		status, made := c.at(c.user(0), "POST", agent+"/threads", map[string]any{})
		require.Equal(t, http.StatusOK, status, made.Raw)
		threads = append(threads, agent+"/threads/"+made.Get("thread_id").String())
	}
	status, refused = c.at(c.user(0), "POST", agent+"/threads", map[string]any{})
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, refused.Get("detail").String(), "2 threads")
	for range 3 {
		status, made := c.at(c.user(0), "POST", threads[0]+"/runs", run)
		require.Equal(t, http.StatusOK, status, made.Raw)
		status, _ = c.at(c.user(0), "GET", threads[0]+"/runs/"+made.Get("run_id").String()+"/join", nil)
		require.Equal(t, http.StatusOK, status)
	}
	status, refused = c.at(c.user(0), "POST", threads[1]+"/runs", run)
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, refused.Get("detail").String(), "3 runs")
	status, _ = c.at(c.user(0), "DELETE", threads[0], nil)
	require.Equal(t, http.StatusNoContent, status)
	status, made := c.at(c.user(0), "POST", threads[1]+"/runs", run)
	require.Equal(t, http.StatusOK, status, "the runs of a thread go with it: %s", made.Raw)
}

// TestASlowBodyIsEnded: a client that does not end its body gets an answer, and its connection is closed. One that only waits is not ended.
func TestASlowBodyIsEnded(t *testing.T) {
	c := start(t, reference.Options{BodyTime: 50 * time.Millisecond})
	for path, credential := range map[string]string{"/v2/deployments": "X-Api-Key: " + c.key, "/agents/conformance/threads": "Authorization: " + c.user(0)["Authorization"]} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(limit)))
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\n%s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", path, credential)
		require.NoError(t, err)
		answer, err := io.ReadAll(conn) // until the server closes
		require.NoError(t, err)
		require.Contains(t, string(answer), "HTTP/1.1 408", path)
		require.NoError(t, conn.Close())
	}
	status, thread := c.at(c.user(0), "POST", c.server.AgentURL()+"/threads", map[string]any{})
	require.Equal(t, http.StatusOK, status, thread.Raw)
	_, answer := c.ask(c.server.AgentURL(), thread.Get("thread_id").String(), "wait=300")
	require.Contains(t, answer, "wait=300")
}
