package reference_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
)

// TestFullStoreRefusesCreations checks that a full store refuses creations with a reason, and accepts them after deletions.
func TestFullStoreRefusesCreations(t *testing.T) {
	c := start(t, reference.Options{MostKept: 4 << 20})
	large := map[string]any{"metadata": map[string]any{"x": strings.Repeat("x", 1<<19)}}
	var threads []string
	create := func() int {
		status, made := c.as("POST", c.server.AgentURL()+"/threads", large)
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
		status, _ := c.as("DELETE", thread, nil)
		require.Equal(t, http.StatusNoContent, status)
	}
	require.Equal(t, http.StatusOK, create())

	full := start(t, reference.Options{MostKept: 1})
	status, refused := full.do("POST", "/v2/deployments", full.server.Fixtures().Create)
	require.Equal(t, http.StatusInsufficientStorage, status, refused.Raw)
}
