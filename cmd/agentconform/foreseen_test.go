package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agentconform/agentconform/reference"
	"github.com/agentconform/agentconform/reports"
	"github.com/agentconform/agentconform/reports/overview"
	"github.com/agentconform/agentconform/steps/config"
	"github.com/agentconform/agentconform/steps/doctor"
	"github.com/agentconform/agentconform/steps/evidence"
	"github.com/agentconform/agentconform/steps/suite"
)

// vendor is a reference with a deployment, which records requests.
type vendor struct {
	*reference.Server
	config     *config.Config // with all keys
	deployment string

	mu       sync.Mutex
	requests []string // "PATCH /v2/deployments/..."
}

// startVendor starts a reference with a deployment that has the given number of revisions.
func startVendor(t *testing.T, revisions int) *vendor {
	t.Helper()
	v := &vendor{}
	noted := before(func(_ http.ResponseWriter, r *http.Request) bool {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.requests = append(v.requests, r.Method+" "+r.URL.Path)
		return false
	})
	v.Server, v.config = start(t, reference.Options{WrapHTTP: []func(http.Handler) http.Handler{noted}})
	v.deploy(t, revisions)
	v.requests = nil
	return v
}

// ask sends a request with the vendor's API key.
func (v *vendor) ask(t *testing.T, method, path string, body any) map[string]any {
	t.Helper()
	return send(t, method, v.ControlPlaneURL()+path, "X-Api-Key", v.Fixtures().Owner.APIKey, body).(map[string]any)
}

func (v *vendor) deploy(t *testing.T, revisions int) {
	t.Helper()
	set := v.Fixtures()
	v.deployment = fmt.Sprint(v.ask(t, "POST", "/v2/deployments", set.Create)["id"])
	path := "/v2/deployments/" + v.deployment
	for n := 1; n <= revisions; n++ {
		if n > 1 {
			v.ask(t, "PATCH", path, map[string]any{"source_revision_config": map[string]any{"repo_ref": set.SecondRef}})
		}
		require.Eventually(t, func() bool {
			latest := v.ask(t, "GET", path, nil)["latest_revision_id"]
			return v.ask(t, "GET", fmt.Sprintf("%s/revisions/%s", path, latest), nil)["status"] == "DEPLOYED"
		}, 20*time.Second, 5*time.Millisecond)
	}
}

// foreseen returns the number of requirements that doctor announces, and the preview of a test run. The preview sends
// nothing.
func foreseen(t *testing.T, v *vendor, c *config.Config) (promised int, plan *suite.Preview) {
	t.Helper()
	e, err := doctor.Examine(t.Context(), options(t, c), false)
	require.NoError(t, err)
	require.True(t, e.Testable(), e.Conclusion())
	v.requests = nil
	previewed := options(t, c)
	plan, err = previewed.Preview()
	require.NoError(t, err)
	assert.Empty(t, v.requests)
	return e.Judged, plan
}

func deploymentsIn(r *reports.Result) (n int) {
	for _, e := range r.Ledger {
		if e.Kind == evidence.Deployment {
			n++
		}
	}
	return n
}

// TestRunsAreForeseen compares the announcements of doctor and of the preview with what a test run judges and creates.
// With only an API key, and with --read-only, a test run only reads the vendor's deployment.
func TestRunsAreForeseen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		revisions, least int // least is the minimum number of judged requirements
		configure        func(*testing.T, *vendor) *config.Config
	}{
		"everything": {3, 110, func(_ *testing.T, v *vendor) *config.Config { return v.config }},
		"few deployments": {1, 30, func(_ *testing.T, v *vendor) *config.Config {
			v.config.MaxDeployments = 4
			return v.config
		}},
		"read-only, a long history": {23, 30, func(_ *testing.T, v *vendor) *config.Config {
			v.config.Existing.Deployment, v.config.ReadOnly = v.deployment, true
			return v.config
		}},
		"a key and one revision":      {1, 25, keyAlone},
		"a key and several revisions": {8, 30, keyAlone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := startVendor(t, c.revisions)
			cfg := c.configure(t, v)
			promised, plan := foreseen(t, v, cfg)
			r := judge(t, cfg)
			judged := overview.Of(r).Tested
			if cfg.MaxDeployments == 0 { // if set, doctor reports the key separately
				assert.Equal(t, promised, judged, "the number that doctor announces")
			}
			if cfg.Has("create.body") { // without it, the preview does not know what can be read
				assert.InDelta(t, judged, plan.Judged, 2) // if it only reads, the preview assumes revisions with several statuses
			}
			assert.GreaterOrEqual(t, judged, c.least)
			assert.Equal(t, reports.Conformant, r.Verdict, r.Headline)
			assert.GreaterOrEqual(t, plan.Deployments, deploymentsIn(r))
			assert.LessOrEqual(t, plan.Deployments, deploymentsIn(r)+2)
			for _, q := range r.Requirements {
				assert.Contains(t, []reports.Verdict{reports.Passed, reports.Skipped}, q.Verdict, "%s: %s", q.ID, q.Reason)
			}
			if !cfg.ReadOnly && cfg.Has("create.body") {
				assert.True(t, cfg.MaxDeployments == 0 || deploymentsIn(r) <= cfg.MaxDeployments)
				return
			}
			assert.Empty(t, r.Ledger)
			read := 0
			for _, request := range v.requests {
				if method, path, _ := strings.Cut(request, " "); strings.Contains(path, v.deployment) || cfg.ReadOnly {
					assert.True(t, method == "GET" || strings.HasSuffix(path, "/threads/search"), request)
					read++
				}
			}
			assert.Positive(t, read)
		})
	}
}

// TestExplorationIsForeseen compares the announced number of deployments with those of a test run that explores the control
// plane.
func TestExplorationIsForeseen(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{0, 12} {
		_, cfg := start(t, reference.Options{})
		cfg.MaxDeployments = limit
		o := options(t, cfg, "CP-CREATE-1", "CP-GET-1")
		o.Explore = 60
		plan, err := o.Preview()
		require.NoError(t, err)
		r := run(t, o)
		assert.Positive(t, r.Counts.Explored)
		assert.Greater(t, deploymentsIn(r), plan.Deployments)
		assert.LessOrEqual(t, deploymentsIn(r), plan.Deployments+plan.Explored)
		assert.True(t, limit == 0 || plan.Deployments+plan.Explored <= limit)
	}
}

func keyAlone(t *testing.T, v *vendor) *config.Config {
	c := config.Default()
	c.Target, c.Credentials.APIKey = v.ControlPlaneURL(), v.Fixtures().Owner.APIKey
	require.NoError(t, c.Complete())
	return &c
}
