package plane

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/memnet"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/exchange"
	"github.com/agentconform/agentconform/steps/target"
)

// TestAwaitLatestPassesOverEarlierRevisions checks that a replica that still names a revision from before an earlier update
// does not make it the latest one.
func TestAwaitLatestPassesOverEarlierRevisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		named := []string{"second", "first", "third"} // by the reads, in order
		reads := 0
		network := memnet.New()
		server := network.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, `{"id":"d","latest_revision_id":%q}`, named[min(reads, len(named)-1)])
			reads++
		}))
		t.Cleanup(server.Close)
		cfg := config.Default()
		cfg.Target = server.URL
		to, err := target.New(target.Options{Config: &cfg, Concurrency: 1, Dial: network.DialContext})
		require.NoError(t, err)
		t.Cleanup(to.Client.Close)
		p := New(to, nil, time.Now())
		update := &exchange.Response{Status: http.StatusOK}
		for i, want := range []string{"second", "third"} {
			got, err := p.AwaitLatest(t.Context(), &Deployment{ID: "d"}, update, "repo_ref", []string{"first", "second"}[i])
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}
	})
}
