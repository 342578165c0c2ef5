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
)

// TestWhatOneKeyKeepsIsBounded: when the store is full a creation is refused, with a reason, and possible again when there is room.
func TestWhatOneKeyKeepsIsBounded(t *testing.T) {
	c := start(t, reference.Options{MostKept: 4 << 20})
	large := map[string]any{"metadata": map[string]any{"x": strings.Repeat("x", 1<<19)}}
	var threads []string
	create := func() int {
		status, made := c.at(c.user(0), "POST", c.server.AgentURL()+"/threads", large)
		if status == http.StatusOK {
			threads = append(threads, c.server.AgentURL()+"/threads/"+made.Get("thread_id").String())
		} else {
			require.Contains(t, made.Get("detail").String(), "full")
		}
		return status
	}
	for create() == http.StatusOK {
		require.Less(t, len(threads), 100)
	}
	require.NotEmpty(t, threads)
	for _, thread := range threads {
		status, _ := c.at(c.user(0), "DELETE", thread, nil)
		require.Equal(t, http.StatusNoContent, status)
	}
	require.Equal(t, http.StatusOK, create())

	full := start(t, reference.Options{MostKept: 1})
	status, refused := full.do("POST", "/v2/deployments", full.server.Fixtures().Create)
	require.Equal(t, http.StatusInsufficientStorage, status, refused.Raw)
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
