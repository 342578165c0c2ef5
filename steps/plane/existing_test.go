package plane

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/target"
)

// TestPagePastTheEndMayBeRefused lists the deployments of servers that have one deployment and refuse the second page.
func TestPagePastTheEndMayBeRefused(t *testing.T) {
	for status, isSupported := range map[int]bool{400: true, 404: true, 422: true, 429: false, 500: false} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("offset") != "0" {
				w.Header().Set("Retry-After", "1000000") // the client does not wait that long
				w.WriteHeader(status)
				return
			}
			_, _ = io.WriteString(w, `{"resources":[{"id":"one"}],"offset":1}`)
		}))
		t.Cleanup(server.Close)
		c := config.Default()
		c.Target = server.URL
		at, err := target.New(target.Options{Config: &c, Concurrency: 1})
		require.NoError(t, err)
		all, supported, err := New(at, nil, time.Time{}).list(t.Context(), "")
		assert.Len(t, all, 1)
		assert.Equal(t, isSupported, supported && err == nil, "status %d", status)
	}
}

// TestExistingDeploymentsAreNotChanged checks that deployments from before the test run are not written to, not entered
// in the ledger and not removed.
func TestExistingDeploymentsAreNotChanged(t *testing.T) {
	const id = "cafcf774-6b38-49e6-a5ba-8b66183d94ad"
	p := New(&target.Target{Config: &config.Config{}}, nil, time.Time{})
	p.Existing.ids[id] = true
	for path, isAllowed := range map[string]bool{
		DeploymentPath(id):                  false,
		DeploymentPath(strings.ToUpper(id)): false,
		RevisionPath(id, "x") + "/redeploy": false,
		DeploymentPath(target.UnknownID()):  true,
		DeploymentsPath:                     true,
		"/threads/" + id:                    true,
	} {
		err := p.Existing.mayWrite(exchange.Request{Method: http.MethodPatch, Path: path})
		assert.Equal(t, isAllowed, err == nil, path)
	}
	assert.Equal(t, "it existed before the test run", p.Remove(t.Context(), strings.ToUpper(id)))
	d := &Deployment{}
	body := `{"id":"` + id + `","latest_revision_id":"` + id + `"}`
	// There is no ledger here: entering the deployment would panic.
	assert.NoError(t, p.RecordCreated(t.Context(), d, &exchange.Response{Status: http.StatusCreated, Body: []byte(body)}))
	assert.Equal(t, id, d.ID)
}
