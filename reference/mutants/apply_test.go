package mutants

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
)

// started is a reference with a mutant.
func started(t *testing.T, name string) (server *reference.Server, count *Count) {
	t.Helper()
	all, err := All()
	require.NoError(t, err)
	var options reference.Options
	for _, m := range all {
		if m.Name == name {
			count = m.Apply(&options)
		}
	}
	require.NotNil(t, count, name)
	server, err = reference.Start(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server, count
}

func status(t *testing.T, server *reference.Server, method, path, key, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, server.ControlPlaneURL()+path, strings.NewReader(body))
	require.NoError(t, err)
	if key != "" {
		request.Header.Set("X-Api-Key", key)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

// TestAccess shows that a skipped check serves who may not be served, once somebody else was.
func TestAccess(t *testing.T) {
	t.Parallel()
	server, count := started(t, "create-deployment/access/anonymous")
	set := server.Fixtures()
	body := `{"source":"git_host"}`
	assert.Equal(t, http.StatusUnauthorized, status(t, server, http.MethodPost, "/v2/deployments", "", body))
	assert.Zero(t, count.Exchanges())
	assert.Equal(t, http.StatusOK, status(t, server, http.MethodGet, "/v2/deployments", set.Owner.APIKey, ""))
	assert.NotEqual(t, http.StatusUnauthorized, status(t, server, http.MethodPost, "/v2/deployments", "", body))
	assert.EqualValues(t, 1, count.Exchanges())
}
