package plane

import (
	"fmt"
	"net/http"
	"path"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference/memnet"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/target"
)

// TestAwaitSettledHasDeadline checks that the wait for superseded revisions ends although they may keep any status. After
// the latest revision is DEPLOYED, it lasts at most as long as the deployment took.
func TestAwaitSettledHasDeadline(t *testing.T) {
	const never = time.Hour
	for name, c := range map[string]struct {
		deployed, superseded time.Duration // when the latest is DEPLOYED and the others are SKIPPED
		final                string        // status of the latest
		atLeast, below       time.Duration
		late                 bool
	}{
		"they stay":                      {2 * time.Minute, never, "DEPLOYED", 4 * time.Minute, 5 * time.Minute, false},
		"they settle":                    {2 * time.Minute, 3 * time.Minute, "DEPLOYED", 3 * time.Minute, 4 * time.Minute, false},
		"the latest is DEPLOYED at once": {0, never, "DEPLOYED", 0, time.Second, false},
		"the latest cannot be built":     {2 * time.Minute, never, "BUILD_FAILED", 15 * time.Minute, 20 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				network := memnet.New()
				server := network.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					id, status := path.Base(r.URL.Path), "BUILDING"
					switch {
					case id == "latest" && time.Since(begun) >= c.deployed:
						status = c.final
					case id != "latest" && time.Since(begun) >= c.superseded:
						status = "SKIPPED"
					}
					latest := ""
					if id == "d" {
						latest = "latest"
					}
					_, _ = fmt.Fprintf(w, `{"id":%q,"status":%q,"latest_revision_id":%q}`, id, status, latest)
				}))
				t.Cleanup(server.Close)
				cfg := config.Default()
				cfg.Target = server.URL
				to, err := target.New(target.Options{Config: &cfg, Concurrency: 1, Dial: network.DialContext})
				require.NoError(t, err)
				t.Cleanup(to.Client.Close)
				d := &Deployment{ID: "d", Revisions: []string{"1", "2", "latest"}}
				late, err := New(to, nil, begun).AwaitSettled(t.Context(), d)
				require.NoError(t, err)
				assert.Equal(t, c.late, late != nil && late.isLate(), "%v", late)
				assert.GreaterOrEqual(t, time.Since(begun), c.atLeast)
				assert.Less(t, time.Since(begun), c.below)
			})
		})
	}
}
